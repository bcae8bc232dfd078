"""``fit``: train a model with a loss, after arguments that do not fit were refused."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import Loss
from regretless.number_checks import check_number, check_numbers
from regretless.ranks import ranks_of, unwrapped
from regretless.training.callbacks import (
    Callback,
    Converged,
    EarlyStopping,
    Schedule,
    TimeLimit,
    Watch,
    check_scheduler,
)
from regretless.training.checkpoint import Parts, identity
from regretless.training.model_check import check_model, trained_parameters
from regretless.training.random_draws import seeded_draws
from regretless.training.running_fit import Fitted, RunningFit
from regretless.training.step import own_optimizer
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
    optimizer = optimizer or own_optimizer(model, lr)
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


def check_data(train: Any, checkpoint: Any) -> None:
    """Refuse data that are neither a data set nor batches, and a checkpoint that is no path."""
    if not isinstance(train, Dataset | Iterable):
        raise InputError(f"train must be a Dataset or a DataLoader, got {type(train).__name__}")
    collates = getattr(train, "collate_fn", None) is torch.utils.data.default_collate
    if collates and isinstance(getattr(train, "dataset", None), Dataset):
        raise InputError(
            "a DataLoader cannot collate a Dataset of regretless: give fit the Dataset itself, or a loader of its "
            "parts, DataLoader(TensorDataset(data.features, data.costs, data.solutions), ...)"
        )
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise InputError(f"checkpoint must be the path of a file, got {type(checkpoint).__name__}")


def check_loss(loss: Loss) -> None:
    """Refuse what is no loss of the library, and one that cannot be trained with."""
    hint = "build one over the problem, such as SPOPlus(problem), or derive your own from AutogradLoss"
    check_type("loss", loss, Loss, hint=hint)
    if loss.reduction == "none":
        raise InputError("training needs a scalar: build the loss with reduction='mean' or 'sum', not 'none'")


def check_validation(model: nn.Module, loss: Loss, validation: Dataset | None) -> None:
    """Refuse validation data that the model or the problem cannot be evaluated on."""
    if validation is None:
        return
    check_type("validation", validation, Dataset)
    if loss.problem is None:
        raise InputError("validation needs a problem to evaluate at: build the loss with it, TwoStage(problem)")
    if not len(validation):
        raise InputError("validation needs data, got 0 instances")
    try:
        check_model(model, validation.features, loss.problem.dimension)
        loss.problem.check_instance(validation.instance, len(validation))
    except InputError as error:
        raise InputError(f"validation data do not fit: {error}") from error
    have, need = (
        (validation.costs.shape[1], validation.solutions.shape[1]),
        (loss.problem.dimension, loss.problem.width),
    )
    if have != need:
        raise InputError(f"validation data must have {need[0]} costs and solutions of width {need[1]}, got {have}")


def check_optimizer(
    model: nn.Module,
    optimizer: torch.optim.Optimizer | None,
    scheduler: torch.optim.lr_scheduler.LRScheduler | None,
    clip: float | None,
) -> None:
    """Refuse an optimizer that would not train the model, and what does not belong to it."""
    if clip is not None:
        check_number("clip", clip)
    if scheduler is not None:
        check_scheduler(scheduler)
        if optimizer is None or scheduler.optimizer is not optimizer:
            raise InputError("scheduler belongs to an optimizer: pass that optimizer, too")
    if optimizer is None:
        return
    check_type("optimizer", optimizer, torch.optim.Optimizer)
    if isinstance(optimizer, torch.optim.LBFGS):
        raise InputError(
            "LBFGS computes the loss several times per step, and fit computes it once: use another optimizer of torch, "
            "or a loop of your own"
        )
    own = {id(parameter) for parameter in model.parameters()}
    if not any(id(parameter) in own for group in optimizer.param_groups for parameter in group["params"]):
        raise InputError(
            f"optimizer has no parameter of the model {type(model).__name__}: build it from model.parameters()"
        )


def listed_callbacks(callbacks: Iterable[Callback]) -> Sequence[Callback]:
    """The callbacks as a list; anything else is refused."""
    given: Any = callbacks
    if not isinstance(given, Iterable):
        raise InputError(f"callbacks must be a list of callbacks, got {type(given).__name__}: put it in a list")
    found = list(given)
    for one in found:
        check_type("each of callbacks", one, Callback, hint="derive it from regretless.training.Callback")
    return found


# Callbacks that write no column.
_SILENT = (Converged, EarlyStopping, Schedule, TimeLimit)


def check_columns(callbacks: Sequence[Callback], loss: Loss, validation: Dataset | None) -> None:
    """Refuse early stopping by a regret or an error that nothing evaluates.

    Other columns are not known before the first epoch: losses, caches and callbacks of the user's own write any.
    """
    if not type(loss).diagnostics.__module__.startswith("regretless."):
        return
    written = set() if validation is None else {"regret"}
    for one in callbacks:
        if isinstance(one, EarlyStopping) and one.column.endswith(("regret", "mse")) and one.column not in written:
            raise one.missing_column()
        if type(one) is Watch and one.every == 1:
            written |= {f"{one.name}_regret", f"{one.name}_mse"}
        elif type(one) is not Watch and type(one) not in _SILENT:
            return
