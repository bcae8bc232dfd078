"""Callbacks: small objects that are called after each epoch and may end training."""

from __future__ import annotations

import copy
import inspect
import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.number_checks import check_integer, check_number
from regretless.problem import Problem
from regretless.ranks import Ranks
from regretless.training.evaluation import evaluate
from regretless.training.history import History, Row
from regretless.type_checks import check_type


@dataclass
class TrainingState:
    """What a callback sees and may change: ``row`` goes to the history, the reason in ``stop`` ends training.

    In data-parallel training every rank calls its own callbacks, and the ``stop`` of rank 0 counts.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    epoch: int
    row: Row
    history: History
    stop: str = ""
    ranks: Ranks | None = None


class Callback:
    """The base of all callbacks; every method does nothing."""

    def __repr__(self) -> str:
        """The name, and the settings that are numbers or text."""
        given = {name: getattr(self, name, None) for name in inspect.signature(type(self)).parameters}
        plain = [f"{name}={value!r}" for name, value in given.items() if isinstance(value, str | int | float)]
        return f"{type(self).__name__}({', '.join(plain)})"

    def on_start(self, state: TrainingState) -> None:
        """Called before training, to clear the state of earlier runs; a resumed run loads its state after this."""

    def on_resume(self, state: TrainingState) -> None:
        """Called after a saved state was loaded; may clear ``stop``, the reason for which the run had ended."""

    def on_epoch(self, state: TrainingState) -> None:
        """Called after every epoch."""

    def on_end(self, state: TrainingState) -> None:
        """Called when training is over."""

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run needs to continue identically."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""


class Watch(Callback):
    """Write the exact regret on a data set into the history; it has no influence on training.

    Args:
        problem: solves at the predictions.
        data: data to evaluate on.
        name: prefix of the columns, as in ``test_regret``.
        every: number of epochs between two evaluations.
    """

    def __init__(self, problem: Problem, data: Dataset, *, name: str = "test", every: int = 1) -> None:
        check_type("problem", problem, Problem)
        check_type("data", data, Dataset)
        if not len(data):
            raise InputError("a watch needs data, got 0 instances")
        check_integer("every", every, least=1)
        self.problem, self.data, self.name, self.every = problem, data, name, every

    def on_epoch(self, state: TrainingState) -> None:
        """Evaluate."""
        if state.epoch % self.every == 0:
            result = evaluate(state.model, self.data, self.problem, ranks=state.ranks)
            state.row |= {f"{self.name}_regret": result.regret, f"{self.name}_mse": result.mse}


class EarlyStopping(Callback):
    """End training when the validation regret no longer improves, and restore the best weights.

    Args:
        patience: epochs without an improvement before training ends.
        column: column of the history to minimize; ``"regret"`` is that on the validation data given to ``fit``.
        restore: whether to restore the best weights at the end.
    """

    def __init__(self, *, patience: int = 5, column: str = "regret", restore: bool = True) -> None:
        check_integer("patience", patience, least=1)
        self.patience, self.column, self.restore = patience, column, restore
        self.best, self.since = math.inf, 0
        self.weights: dict[str, Any] | None = None

    def on_start(self, state: TrainingState) -> None:
        """Clear the best value of an earlier run."""
        self.best, self.since, self.weights = math.inf, 0, None

    def on_epoch(self, state: TrainingState) -> None:
        """Compare with the best value so far."""
        value = state.row.get(self.column)
        if value is None:
            raise self.missing_column()
        if value < self.best:
            self.best, self.since = value, 0
            self.weights = copy.deepcopy(state.model.state_dict()) if self.restore else None
            return
        self.since += 1
        if self.since >= self.patience:
            state.stop = f"no better {self.column} than {self.best:.6g} for {self.patience} epochs"

    def missing_column(self) -> InputError:
        """The error where nothing writes the column."""
        return InputError(
            f"early stopping needs the column {self.column!r} in every epoch: give fit() validation data, "
            "or a Watch before it that writes the column"
        )

    def on_end(self, state: TrainingState) -> None:
        """Restore the best weights."""
        if self.weights is not None:
            state.model.load_state_dict(self.weights)

    def state_dict(self) -> dict[str, Any]:
        """Best value, its weights, and the number of epochs since then."""
        return {"best": self.best, "since": self.since, "weights": None if self.weights is None else dict(self.weights)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.best, self.since, self.weights = state["best"], state["since"], state["weights"]


class Converged(Callback):
    """End training when the loss changes by at most a relative tolerance over a few epochs."""

    def __init__(self, *, tolerance: float = 1e-4, patience: int = 3) -> None:
        check_number("tolerance", tolerance, least=0)
        check_integer("patience", patience, least=1)
        self.tolerance, self.patience = tolerance, patience

    def on_epoch(self, state: TrainingState) -> None:
        """Compare the losses of the last epochs."""
        losses = [*state.history.column("loss"), state.row["loss"]][-self.patience - 1 :]
        scale = max(abs(loss) for loss in losses)
        if len(losses) > self.patience and max(losses) - min(losses) <= self.tolerance * scale:
            state.stop = f"the loss changed by less than {self.tolerance:g} for {self.patience} epochs"


class TimeLimit(Callback):
    """End training after the epoch in which the time limit is reached.

    Args:
        seconds: of training, in all processes of a run that was interrupted; with more, a run that ended continues.
    """

    def __init__(self, seconds: float) -> None:
        check_number("seconds", seconds)
        self.seconds, self.used, self._since = seconds, 0.0, time.monotonic()
        self._reason = ""

    def on_start(self, state: TrainingState) -> None:
        """Start the clock: time before training does not count."""
        self.used, self._since, self._reason = 0.0, time.monotonic(), ""

    def on_resume(self, state: TrainingState) -> None:
        """Continue a run that an earlier, shorter limit ended."""
        if state.stop == self._reason and self.used < self.seconds:
            state.stop = ""

    def on_epoch(self, state: TrainingState) -> None:
        """Compare the time used with the limit."""
        now = time.monotonic()
        self.used, self._since = self.used + now - self._since, now
        if self.used >= self.seconds and not state.stop:  # a run that ended by itself stays ended
            self._reason = state.stop = f"the time limit of {self.seconds:g} s is reached"

    def state_dict(self) -> dict[str, Any]:
        """Seconds used so far, with those of an epoch that is left in the middle, and why this limit ended the run."""
        return {"used": self.used + time.monotonic() - self._since, "reason": self._reason}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from the seconds used before."""
        self.used, self._since, self._reason = state["used"], time.monotonic(), state.get("reason", "")


def check_scheduler(scheduler: Any) -> None:
    """Refuse a name, a class or anything else that is no scheduler."""
    if isinstance(scheduler, type) or not all(hasattr(scheduler, name) for name in ("optimizer", "step")):
        got = f"the class {scheduler.__name__}" if isinstance(scheduler, type) else repr(scheduler)
        raise InputError(
            f"scheduler must be a learning-rate scheduler of torch, such as StepLR(optimizer, 5), got {got}"
        )


class Schedule(Callback):
    """Step a learning-rate scheduler of torch after each epoch.

    Args:
        scheduler: any of torch. ``ReduceLROnPlateau`` follows the history's column ``regret``, which ``fit`` writes
            where it has validation data, or else ``loss``.
    """

    def __init__(self, scheduler: torch.optim.lr_scheduler.LRScheduler) -> None:
        check_scheduler(scheduler)
        self.scheduler = scheduler

    def on_epoch(self, state: TrainingState) -> None:
        """Step."""
        if isinstance(self.scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
            self.scheduler.step(state.row["regret" if "regret" in state.row else "loss"])
            return
        with warnings.catch_warnings():
            # A run that was left after the last step of its first epoch resumes here: its steps were another process's.
            warnings.filterwarnings("ignore", r"Detected call of `lr_scheduler\.step\(\)` before", UserWarning)
            self.scheduler.step()

    def state_dict(self) -> dict[str, Any]:
        """State of the scheduler."""
        return dict(self.scheduler.state_dict())

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.scheduler.load_state_dict(state)
