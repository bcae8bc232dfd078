"""What a training loop of one's own takes from ``fit``: its batches and its steps, which are faster than torch's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import torch
from torch import nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.instance_weights import relative_weights
from regretless.number_checks import check_numbers
from regretless.ranks import ranks_of
from regretless.training.batches import Batch, DataInMemory, RankBatches
from regretless.training.fit_loop import check_optimizer
from regretless.training.model_check import check_model, fewest_instances, trained_parameters
from regretless.training.step import Step, own_optimizer, step_of
from regretless.type_checks import check_type


@final
class Batches:
    """Shuffled batches of training data for a loop of one's own: those of ``fit`` with the same seed.

    With these batches and the steps of ``make_step`` a loop ends with the weights of ``fit``, with three exceptions:
    ``fit`` also seeds what the model draws itself, as for dropout, it clears the state of the optimizer when the phase
    of ``WarmUp`` changes, and for a loss with ``reduction="sum"`` it takes weights of instances as they are.

    Every pass over them has a new order. The data are moved once to the device and precision of the model and put in
    order once per pass, so that a step only slices them. Without its features, a batch is what a loss takes behind the
    prediction: ``loss(predicted, *batch[1:])``.

    Args:
        train: training data. Weights are in units of their mean.
        model: what is trained.
        batch_size: instances per step. The last batch of a pass may be smaller; where the model has batch
            normalization, a single instance joins the batch before it.
        seed: of the shuffling.

    Raises:
        InputError: data or a model of another kind, no data, data that the model does not fit, or a model that several
            ranks train.

    >>> import regretless as rl
    >>> train = rl.Dataset([[1.0], [2.0], [3.0]], [[1.0], [2.0], [3.0]], [[1.0], [1.0], [1.0]])
    >>> [len(batch.costs) for batch in rl.Batches(train, torch.nn.Linear(1, 1), batch_size=2)]
    [2, 1]
    """

    def __init__(self, train: Dataset, model: nn.Module, *, batch_size: int = 24, seed: int = 0) -> None:
        check_type("train", train, Dataset)
        check_type("model", model, nn.Module)
        check_numbers(batch_size=batch_size, seed=seed)
        if not len(train):
            raise InputError("training needs data, got 0 instances")
        if ranks_of(model) is not None:
            raise InputError("several ranks train this model: fit deals out the batches of ranks")
        check_model(model, train.features, train.costs.shape[1])
        self._cuts = RankBatches(len(train), int(batch_size), None, least=fewest_instances(model))
        self._data = DataInMemory(train, relative_weights(train.weight), next(model.parameters()), self._cuts)
        self._instances, self._shuffle = len(train), torch.Generator().manual_seed(int(seed))

    def __len__(self) -> int:
        return len(self._cuts)

    def __iter__(self) -> Iterator[Batch]:
        return self._data.batches(torch.randperm(self._instances, generator=self._shuffle))


def make_step(
    model: nn.Module, *, lr: float = 0.1, optimizer: torch.optim.Optimizer | None = None, clip: float | None = None
) -> Step:
    """The forward pass, backward pass and update of ``fit``, for a training loop of one's own.

    A step predicts, a loss gives its gradient at the prediction, and the step updates the weights:

    .. code-block:: python

        step = rl.make_step(model, lr=0.01)
        for batch in rl.Batches(train, model):
            predicted = step.predict(batch.features)
            value, gradient = loss.loss_and_gradient(predicted, *batch[1:])
            step.update(predicted, gradient)

    One linear layer with the Adam of this function needs no graph, and its prediction has none; ``make bench-peers``
    measures what this saves. Everything else goes through autograd and the optimizer. Make a new step after weights
    were frozen or released, and inside of ``torch.autocast`` where it is used there.

    Args:
        model: maps features ``(batch, ...)`` to costs ``(batch, d)``.
        lr: learning rate of Adam, where no optimizer is given.
        optimizer: any optimizer of torch over the model's parameters, except LBFGS. The one in use is the attribute
            ``optimizer`` of the step, for example for a scheduler.
        clip: largest norm of the gradient over all weights; a longer one is scaled down.

    Raises:
        InputError: no model, nothing to train, or an optimizer of other parameters.

    >>> step = make_step(torch.nn.Linear(2, 3), lr=0.01)
    >>> step.predict(torch.ones(4, 2)).shape
    torch.Size([4, 3])
    """
    check_type("model", model, nn.Module)
    check_numbers(lr=lr)
    trained_parameters(model)
    check_optimizer(model, optimizer, None, clip)
    return step_of(model, optimizer or own_optimizer(model, lr), clip)
