"""Arguments of ``fit`` that cannot work together or do not fit, refused before anything is trained."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import Loss
from regretless.number_checks import check_number
from regretless.training.callbacks import (
    Callback,
    Converged,
    EarlyStopping,
    Schedule,
    TimeLimit,
    Watch,
    check_scheduler,
)
from regretless.training.model_check import check_model
from regretless.type_checks import check_type


def check_data(train: Any, checkpoint: Any) -> None:
    """Refuse data that are neither a data set nor batches, and a checkpoint that is no path.

    Raises:
        InputError: names what came.
    """
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
    """Refuse what is no loss of the library, and one that cannot be trained with.

    Raises:
        InputError: says how to build the loss.
    """
    hint = "build one over the problem, such as SPOPlus(problem), or derive your own from AutogradLoss"
    check_type("loss", loss, Loss, hint=hint)
    if loss.reduction == "none":
        raise InputError("training needs a scalar: build the loss with reduction='mean' or 'sum', not 'none'")


def check_validation(model: nn.Module, loss: Loss, validation: Dataset | None) -> None:
    """Refuse validation data that the model or the problem cannot be evaluated on.

    Raises:
        InputError: says what does not fit.
    """
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
    """Refuse an optimizer that would not train the model, and what does not belong to it.

    Raises:
        InputError: says what to pass.
    """
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
    """The callbacks as a list; anything else is refused.

    Raises:
        InputError: names what came.
    """
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

    Raises:
        InputError: names the column.
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
