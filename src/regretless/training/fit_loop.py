"""``fit``: train a model with a loss."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import Loss
from regretless.number_checks import check_numbers
from regretless.ranks import ranks_of, unwrapped
from regretless.training.callbacks import Callback, Schedule
from regretless.training.checkpoint import Parts
from regretless.training.fast_linear import LeanAdam
from regretless.training.fit_arguments import (
    check_columns,
    check_data,
    check_loss,
    check_optimizer,
    check_validation,
    listed_callbacks,
)
from regretless.training.identity import identity
from regretless.training.model_check import check_model, trained_parameters
from regretless.training.random_draws import seeded_draws
from regretless.training.running_fit import Fitted, RunningFit
from regretless.type_checks import check_type


def fit(
    model: nn.Module,
    loss: Loss,
    train: Dataset | Iterable[Any],
    *,
    epochs: int = 20,
    lr: float = 0.1,
    optimizer: torch.optim.Optimizer | None = None,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None = None,
    clip: float | None = None,
    batch_size: int = 24,
    seed: int = 0,
    validation: Dataset | None = None,
    callbacks: Iterable[Callback] = (),
    checkpoint: Path | str | None = None,
    progress: bool | None = None,
) -> Fitted:
    """Train ``model`` with ``loss``.

    Args:
        model: maps features ``(batch, ...)`` to costs ``(batch, d)``; trained in place. Wrapped in torch's
            ``DistributedDataParallel``, it is trained by all ranks together: see ``training.rank_batches``.
        loss: any loss of the library.
        train: training data; or, where it does not fit in memory, a ``DataLoader`` (or anything that can be iterated
            once per epoch) of batches ``(features, costs, solutions)``, with ids of instances for families. It
            shuffles and cuts batches itself, and an interrupted run continues from its last epoch, with the state of
            the loader's ``generator`` where it has one.
        epochs: passes over the data.
        lr: learning rate of Adam, where no optimizer is given.
        optimizer: any optimizer of torch over the model's parameters, except LBFGS.
        scheduler: of the learning rate of ``optimizer``; it steps after every epoch. ``ReduceLROnPlateau`` follows the
            regret on ``validation``, or the loss where there is none.
        clip: largest norm of the gradient over all weights of the optimizer; a longer one is scaled down.
        batch_size: instances per step, of each rank. The last batch of an epoch may be smaller; where the model has
            batch normalization, a single instance joins the batch before it.
        seed: of the shuffling, and of what the model draws from torch's global generators, such as for dropout;
            afterwards these are as they were. The cache has its own.
        validation: its exact regret is the history's column ``regret``.
        callbacks: stop rules, watches, schedules.
        checkpoint: file that stores the run after every epoch; where it exists already, the run continues from it.
        progress: show a bar; by default on a terminal.

    Returns:
        The model (not wrapped), the history, and the reason for the end.

    Raises:
        InputError: a setting is out of range, the model has nothing to train or does not fit the data, or a label is
            infeasible for the model of the problem.
        TrainingError: a prediction, the loss or a weight is no longer finite; the message names step, learning rate and
            instance.
        SolveError: a solve failed and the problem has ``on_failure="raise"``; the message names step and instance.
        FileError: the checkpoint is damaged, of another run, or of a longer one; it is not changed.
        Interrupted: SIGINT, SIGTERM or SIGHUP was received; the checkpoint, where there is one, is of the last step,
            and with a ``DataLoader`` of the last epoch.
    """
    check_numbers(seed=seed, epochs=epochs, batch_size=batch_size, lr=lr)
    seed, batch_size = int(seed), int(batch_size)  # torch takes no integers of NumPy
    if isinstance(train, Dataset) and not len(train):
        raise InputError("training needs data, got 0 instances")
    check_type("model", model, nn.Module)
    check_data(train, checkpoint)
    check_loss(loss)
    check_optimizer(model, optimizer, scheduler, clip)
    own_callbacks = listed_callbacks(callbacks)
    if isinstance(train, Dataset):
        check_model(unwrapped(model), train.features, train.costs.shape[1])
        loss.check_labels(train.solutions, train.instance, train.costs, train.status)
    else:
        trained_parameters(model)
    check_validation(unwrapped(model), loss, validation)
    check_columns(own_callbacks, loss, validation)
    ranks = ranks_of(model)
    if ranks is not None and isinstance(loss.oracle, SolutionCache) and loss.oracle.ranks is None:
        loss.oracle.share(ranks)
    if ranks is not None and not isinstance(train, Dataset):
        raise InputError("a DataLoader trains on one rank: give fit a Dataset, whose batches it deals out")
    optimizer = optimizer or LeanAdam(list(model.parameters()), lr)
    called = [*own_callbacks] if scheduler is None else [*own_callbacks, Schedule(scheduler)]
    drawn = getattr(train, "generator", None)
    loader = drawn if isinstance(drawn, torch.Generator) else None
    parts = Parts(unwrapped(model), loss, optimizer, called, torch.Generator().manual_seed(seed), loader)
    run = RunningFit(parts, train, batch_size, validation, checkpoint, model, ranks, clip)
    size = 1 if ranks is None else ranks.size
    settings = (
        {} if checkpoint is None else identity(parts, train, seed=seed, batch_size=batch_size, ranks=size, clip=clip)
    )
    rank = 0 if ranks is None else ranks.rank
    with torch.enable_grad(), seeded_draws(seed, next(model.parameters()).device, rank=rank):
        return run.to_the_end(epochs, False if rank else progress, settings)
