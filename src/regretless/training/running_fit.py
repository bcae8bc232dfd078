"""The training loop: epochs of steps, with a checkpoint after each, that end early or continue at any step."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, SolveError, TrainingError
from regretless.instance_weights import relative_weights
from regretless.progress import track
from regretless.ranks import Ranks
from regretless.solvers.checked_solve import all_finite
from regretless.solvers.ledger import counted_as
from regretless.training import checkpoint as checkpoints
from regretless.training.batches import Batch, DataInMemory, RankBatches, streamed, total_row
from regretless.training.callbacks import TrainingState
from regretless.training.checkpoint import Parts, Progress
from regretless.training.evaluation import evaluate
from regretless.training.history import COUNTED, History, totals, watched
from regretless.training.interrupt import Interrupted, Interruption, kept_in
from regretless.training.model_check import fewest_instances
from regretless.training.step import Step, step_of


@dataclass(frozen=True)
class Fitted:
    """A trained model, its history, and why training ended."""

    model: nn.Module
    history: History
    reason: str


class RunningFit:
    """One run of ``fit``: the state of the loop, which can be left and resumed at any step."""

    def __init__(
        self,
        parts: Parts,
        train: Dataset | Iterable[Any],
        batch_size: int,
        validation: Dataset | None,
        checkpoint: Path | str | None,
        model: nn.Module,
        ranks: Ranks | None,
        clip: float | None,
    ) -> None:
        self.parts, self.validation = parts, validation
        self.model, self.ranks = model, ranks  # the model as it was given: its wrapper adds up the gradients
        self.clip = clip
        self.path = None if checkpoint is None else Path(checkpoint)
        parameter = next(parts.model.parameters())
        self.loader = None if isinstance(train, Dataset) else train
        if isinstance(train, Dataset):
            self.batches = RankBatches(len(train), batch_size, ranks, least=fewest_instances(parts.model))
            # In units of their mean: a mean over a batch estimates the weighted mean over all data.
            weight = relative_weights(train.weight) if parts.loss.reduction == "mean" else train.weight
            self.data, self.instances = DataInMemory(train, weight, parameter, self.batches), len(train)
        self.step: Step
        self.at = Progress()

    def to_the_end(self, epochs: int, progress: bool | None, settings: dict[str, Any]) -> Fitted:
        """Do the epochs that are left; ``settings`` identify the run in its checkpoint."""
        parts = self.parts
        state = TrainingState(parts.model, parts.optimizer, 0, {}, self.at.history, ranks=self.ranks)
        for callback in parts.callbacks:
            callback.on_start(state)
        path = self.path
        if path is not None and (path.exists() if self.ranks is None else self.ranks.first(path.exists)):
            self.at = checkpoints.load(path, parts, settings, epochs, self.ranks)
            state.epoch, state.history, state.stop = self.at.epoch, self.at.history, self.at.stopped
            for callback in parts.callbacks:
                callback.on_resume(state)
            if self.ranks is not None:  # clocks differ between ranks
                state.stop = self.ranks.gather_objects(state.stop)[0]
            self.at.stopped = state.stop
        self.model.train()
        remaining = range(self.at.epoch, epochs)
        with Interruption() as interruption:
            for _ in track(remaining, total=len(remaining), label="training", show=progress):
                if state.stop:
                    break
                self._epoch(interruption, settings, progress)
                state.epoch, state.row = self.at.epoch, self.at.row
                self._end_of_epoch(state)
                self._save(settings)
                if received := self._received(interruption):
                    self._leave(received)
        # The checkpoint still holds the weights of the last epoch: a longer run continues from there.
        for callback in parts.callbacks:
            callback.on_end(state)
        return Fitted(parts.model, self.at.history, state.stop or f"all {epochs} epochs done")

    def _epoch(self, interruption: Interruption, settings: dict[str, Any], progress: bool | None) -> None:
        at, n = self.at, 0
        # In every epoch again: a callback may have frozen parameters or released them.
        self.step = step_of(self.model, self.parts.optimizer, self.clip)
        if at.order is None:
            at.step, at.row = 0, {"epoch": at.epoch + 1, "loss": 0.0, "seconds": 0.0} | dict.fromkeys(COUNTED, 0)
        batches = self._in_memory() if self.loader is None else streamed(self.loader, next(self.model.parameters()))
        # Steps that solve may take minutes each.
        left = self._steps() - at.step
        batches = track(batches, total=left, label=f"epoch {at.epoch + 1}", show=progress) if left > 0 else batches
        before, start, total = totals(self.parts.loss.oracle), time.perf_counter(), at.row["loss"]
        with np.errstate(all="ignore"):  # a loss that is not finite is an error
            for step, batch in enumerate(batches, start=at.step):
                total += self._step(batch, step)
                at.step, n = step + 1, n + batch[0].shape[0]
                if received := self._received(interruption):
                    if self.loader is None:  # a loader cannot start in the middle of an epoch
                        self._add_up(total, start, before)
                        self._save(settings)
                    self._leave(received)
        if self.loader is None:
            n = self.instances
        elif n == 0:
            raise InputError("the loader yields no batch: an iterator is used up after one epoch, a DataLoader is not")
        self._add_up(total, start, before)
        if self.ranks is not None:
            at.row |= total_row(at.row, self.ranks)
        at.row["loss"] /= n
        at.order, at.epoch, at.step = None, at.epoch + 1, 0

    def _received(self, interruption: Interruption) -> str:
        """The signal that ends training, or an empty text; ranks end after the same step."""
        if self.ranks is None or not self.ranks.any(bool(interruption.received)):
            return interruption.received if self.ranks is None else ""
        return interruption.received or "a signal to another rank"

    def _steps(self) -> int:
        """Steps of an epoch; 0 where a loader does not tell."""
        if self.loader is None:
            return len(self.batches)
        try:
            return len(self.loader) if isinstance(self.loader, Sized) else 0
        except TypeError:  # of a loader over an iterable data set
            return 0

    def _in_memory(self) -> Iterator[Batch]:
        """Shuffled batches of this epoch, from the step that is next."""
        at = self.at
        if at.order is None:
            at.order = torch.randperm(self.instances, generator=self.parts.shuffle)
        return self.data.batches(at.order, at.step)

    def _step(self, batch: Batch, step: int) -> float:
        """One step of gradient descent; returns the summed loss of its instances."""
        loss, (x, c, v, instance, counts) = self.parts.loss, batch
        weighting = {} if counts is None else {"weight": counts}
        predicted, phase = self.step.predict(x), loss.phase
        try:
            value, gradient = loss.loss_and_gradient(predicted, c, v, instance, **weighting)
        except InputError:
            self._refuse_nan(x, c, v, predicted, step)
            raise
        except SolveError as error:
            if error.row is None:
                raise
            which = f"training instance {self._instance(step, error.row)}"
            raise SolveError(f"{which} in {self._where(step)}: {error}") from error
        total = float(value)
        if not math.isfinite(total):
            self._refuse_nan(x, c, v, predicted, step)
            raise TrainingError(
                f"the loss is {total} in {self._where(step)}; lower the learning rate or scale the costs"
            )
        if loss.phase != phase:  # moments of the gradients of another loss do not apply
            self.parts.optimizer.state.clear()
        weight = 1.0 if self.ranks is None else self.batches.weight(step, loss.reduction)
        self.step.update(predicted, gradient if weight == 1.0 else gradient * weight)
        return total * x.shape[0] if loss.reduction == "mean" else total

    def _refuse_nan(self, x: Tensor, c: Tensor, v: Tensor, predicted: Tensor, step: int) -> None:
        """Name the data or the prediction of a batch that is not finite."""
        for name, given in (("features", x), ("true costs", c), ("solutions", v)):
            bad = (~torch.isfinite(given)).nonzero()
            if len(bad):
                instance, value = self._instance(step, int(bad[0][0])), given[tuple(bad[0].tolist())].item()
                raise InputError(
                    f"the {name} of training instance {instance} must be finite, got {value}: leave the instance out, "
                    "or fill in the value"
                )
        bad = (~torch.isfinite(predicted)).nonzero()
        if len(bad):
            row = int(bad[0][0])
            value, column = predicted[tuple(bad[0].tolist())].item(), int(bad[0][-1])
            raise TrainingError(
                f"the model predicts {value} for training instance {self._instance(step, row)}, cost {column}, "
                f"in {self._where(step)}; lower the learning rate or scale the features"
            )

    def _instance(self, step: int, row: int) -> int | str:
        """Position in the training data of a row of this step's batch."""
        if self.loader is not None:
            return f"{row} of batch {step}"
        assert self.at.order is not None
        return int(self.at.order[self.batches.start(step) + row])

    def _where(self, step: int) -> str:
        rate = self.parts.optimizer.param_groups[0]["lr"]
        kept = f" (the checkpoint {self.path} is from before)" if self.path and self.path.exists() else ""
        return f"epoch {self.at.epoch + 1}, step {step + 1}, learning rate {rate:g}{kept}"

    def _add_up(self, total: float, start: float, before: dict[str, float]) -> None:
        row = self.at.row
        row["loss"] = total
        row["seconds"] += time.perf_counter() - start
        for name, value in totals(self.parts.loss.oracle).items():
            row[name] += value - before[name]
        oracle = self.parts.loss.oracle
        row["cache_size"] = len(oracle) if isinstance(oracle, SolutionCache) else None

    def _end_of_epoch(self, state: TrainingState) -> None:
        # A gradient of NaN shows here; the checkpoint of the last good epoch must not be replaced.
        if not all(all_finite(parameter.detach()) for parameter in state.model.parameters()):
            rate = self.parts.optimizer.param_groups[0]["lr"]
            raise TrainingError(
                f"the weights are no longer finite after epoch {self.at.epoch}, learning rate {rate:g}; "
                "lower the learning rate or scale the features"
            )
        state.row |= self.parts.loss.diagnostics()
        if isinstance(self.parts.loss.oracle, SolutionCache):
            state.row |= self.parts.loss.oracle.diagnostics()
        problem = self.parts.loss.problem
        before = watched(problem)
        with counted_as("watching"):
            if self.validation is not None and problem is not None:
                state.row["regret"] = evaluate(state.model, self.validation, problem, ranks=self.ranks).regret
            for callback in self.parts.callbacks:
                callback.on_epoch(state)
        solves, seconds = watched(problem)
        if self.ranks is not None:  # each has solved a part
            solves = before[0] + sum(self.ranks.gather_objects(solves - before[0]))
        if solves > before[0]:
            state.row |= {"watching_solves": solves - before[0], "watching_seconds": seconds - before[1]}
        if self.ranks is not None:
            state.row, state.stop = self.ranks.gather_objects((state.row, state.stop))[0]
        self.at.history.append(state.row)
        self.at.stopped = state.stop

    def _save(self, settings: dict[str, Any]) -> None:
        if self.path is not None:
            checkpoints.save(self.path, self.parts, self.at, settings, self.ranks)

    def _leave(self, name: str) -> NoReturn:
        at = self.at
        done = f"epoch {at.epoch}" if at.step == 0 else f"epoch {at.epoch + 1}, step {at.step}"
        kept = kept_in(self.path, "the run")
        if self.loader is not None and at.step and self.path is not None:  # of a loader, whole epochs are kept
            kept = kept_in(self.path, f"epoch {at.epoch}") if at.epoch else "nothing was kept (no epoch was complete)"
        raise Interrupted(f"{name}: training ended after {done}; {kept}")
