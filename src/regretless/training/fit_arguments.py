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
from regretless.training.callbacks import Callback
from regretless.type_checks import check_type


def check_data(train: Any, checkpoint: Any) -> None:
    """Refuse data that are neither a data set nor batches, and a checkpoint that is no path.

    Raises:
        InputError: names what came.
    """
    if not isinstance(train, Dataset | Iterable):
        raise InputError(f"train must be a Dataset or a DataLoader, got {type(train).__name__}")
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise InputError(f"checkpoint must be the path of a file, got {type(checkpoint).__name__}")


def check_loss(loss: Loss, validation: Dataset | None) -> None:
    """Refuse what is no loss of the library, and one that cannot be trained or evaluated with.

    Raises:
        InputError: says how to build the loss.
    """
    check_type("loss", loss, Loss, hint="build one over the problem, such as SPOPlus(problem)")
    if loss.reduction == "none":
        raise InputError("training needs a scalar: build the loss with reduction='mean' or 'sum', not 'none'")
    if validation is not None:
        check_type("validation", validation, Dataset)
        if loss.problem is None:
            raise InputError("validation needs a problem to evaluate at: build the loss with it, TwoStage(problem)")


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
    if scheduler is not None and (optimizer is None or scheduler.optimizer is not optimizer):
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
    if isinstance(given, Callback) or not isinstance(given, Iterable):
        raise InputError(f"callbacks must be a list of callbacks, got {type(given).__name__}: put it in a list")
    found = list(given)
    for one in found:
        check_type("each of callbacks", one, Callback, hint="derive it from regretless.training.Callback")
    return found
