"""The training loop."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import FileError, InputError, SolveError, TrainingError
from regretless.losses import Loss
from regretless.progress import track
from regretless.ranks import Ranks, ranks_of, unwrapped
from regretless.solvers.ledger import counted_as
from regretless.training import checkpoint as checkpoints
from regretless.training.callbacks import Callback, Schedule, TrainingState
from regretless.training.checkpoint import Parts, Progress
from regretless.training.evaluation import evaluate, to_model
from regretless.training.fast_linear import LeanAdam
from regretless.training.history import History
from regretless.training.identity import identity
from regretless.training.interrupt import Interruption
from regretless.training.rank_batches import RankBatches, total_row
from regretless.training.step import Step, make_step
from regretless.training.streamed_batches import Batch, streamed


class Interrupted(KeyboardInterrupt):
    """Training was interrupted and stopped after a step, with a checkpoint where one was requested."""


@dataclass(frozen=True)
class Fitted:
    """A trained model, its history, and why training ended."""

    model: nn.Module
    history: History
    reason: str


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
            shuffles and cuts batches itself, and an interrupted run continues from its last epoch.
        epochs: passes over the data.
        lr: learning rate of Adam, where no optimizer is given.
        optimizer: any optimizer of torch over the model's parameters.
        scheduler: of the learning rate of ``optimizer``; it steps after every epoch.
        clip: largest norm of the gradient over all weights; a longer one is scaled down.
        batch_size: instances per step, of each rank.
        seed: of the shuffling; the cache has its own.
        validation: its exact regret is the history's column ``regret``.
        callbacks: stop rules, watches, schedules.
        checkpoint: file that stores the run after every epoch; where it exists already, the run continues from it.
        progress: show a bar; by default on a terminal.

    Returns:
        The model (not wrapped), the history, and the reason for the end.

    Raises:
        TrainingError: a prediction, the loss or a weight is no longer finite; the message names step, learning rate and
            instance.
        SolveError: a solve failed and the problem has ``on_failure="raise"``; the message names step and instance.
        FileError: the checkpoint is damaged, of another run, or of a longer one; it is not changed.
        Interrupted: SIGINT, SIGTERM or SIGHUP was received; the checkpoint, where there is one, is of the last step.
    """
    rows = len(train) if isinstance(train, Dataset) else 1
    if epochs < 0 or batch_size < 1 or rows == 0:
        raise InputError(f"need epochs >= 0, batch_size >= 1 and data, got {epochs}, {batch_size}, {rows} instances")
    if clip is not None and not clip > 0:
        raise InputError(f"clip must be positive or None, got {clip}")
    if scheduler is not None and (optimizer is None or scheduler.optimizer is not optimizer):
        raise InputError("scheduler belongs to an optimizer: pass that optimizer, too")
    if loss.reduction == "none":
        raise InputError("training needs a scalar: build the loss with reduction='mean' or 'sum', not 'none'")
    if validation is not None and loss.problem is None:
        raise InputError("validation needs a problem to evaluate at: build the loss with it, TwoStage(problem)")
    if next(model.parameters(), None) is None:
        raise InputError(f"the model {type(model).__name__} has no parameters to train")
    ranks = ranks_of(model)
    if ranks is not None and isinstance(loss.oracle, SolutionCache) and loss.oracle.ranks is None:
        loss.oracle.share(ranks)
    if ranks is not None and not isinstance(train, Dataset):
        raise InputError("a DataLoader trains on one rank: give fit a Dataset, whose batches it deals out")
    optimizer = optimizer or LeanAdam(list(model.parameters()), lr)
    called = [*callbacks] if scheduler is None else [*callbacks, Schedule(scheduler)]
    parts = Parts(unwrapped(model), loss, optimizer, called, torch.Generator().manual_seed(seed))
    run = _Run(parts, train, batch_size, validation, checkpoint, model, ranks, clip)
    size = 1 if ranks is None else ranks.size
    settings = (
        {} if checkpoint is None else identity(parts, train, seed=seed, batch_size=batch_size, ranks=size, clip=clip)
    )
    return run.to_the_end(epochs, False if ranks is not None and ranks.rank else progress, settings)


class _Run:
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
            self.batches = RankBatches(len(train), batch_size, ranks)
            # Moved once to the device and precision of the model, so that a step only slices.
            cost = train.costs.to(parameter)
            self.data = (to_model(train.features, parameter), cost, train.solutions.to(parameter))
            self.instance = None if train.instance is None else train.instance.to(parameter.device)
        self.step: Step = make_step(model, parts.optimizer, clip)
        self.at = Progress()

    def to_the_end(self, epochs: int, progress: bool | None, settings: dict[str, Any]) -> Fitted:
        parts = self.parts
        state = TrainingState(parts.model, parts.optimizer, 0, {}, self.at.history, ranks=self.ranks)
        for callback in parts.callbacks:
            callback.on_start(state)
        path = self.path
        if path is not None and (path.exists() if self.ranks is None else self.ranks.first(path.exists)):
            self.at = checkpoints.load(path, parts, settings, self.ranks)
            state.epoch, state.history, state.stop = self.at.epoch, self.at.history, self.at.stopped
            if self.at.epoch > epochs:
                raise FileError(f"{self.path} holds {self.at.epoch} epochs already, more than the {epochs} requested")
        self.model.train()
        remaining = range(self.at.epoch, epochs)
        with Interruption() as interruption:
            for _ in track(remaining, total=len(remaining), label="training", show=progress):
                if state.stop:
                    break
                self._epoch(interruption, settings)
                state.epoch, state.row = self.at.epoch, self.at.row
                self._end_of_epoch(state)
                self._save(settings)
                if received := self._received(interruption):
                    self._leave(received)
        # The checkpoint still holds the weights of the last epoch: a longer run continues from there.
        for callback in parts.callbacks:
            callback.on_end(state)
        return Fitted(parts.model, self.at.history, state.stop or f"all {epochs} epochs done")

    def _epoch(self, interruption: Interruption, settings: dict[str, Any]) -> None:
        at, n = self.at, 0
        # In every epoch again: a callback may have frozen parameters or released them.
        self.step = make_step(self.model, self.parts.optimizer, self.clip)
        if at.order is None:
            at.step, at.row = 0, {"epoch": at.epoch + 1, "loss": 0.0, "seconds": 0.0} | self._counts(start=True)
        batches = self._in_memory() if self.loader is None else self._streamed(self.loader)
        before, start, total = self._counts(), time.perf_counter(), at.row["loss"]
        for step, (x, c, v, ids) in enumerate(batches, start=at.step):
            total += self._step(x, c, v, ids, step)
            at.step, n = step + 1, n + len(x)
            if received := self._received(interruption):
                if self.loader is None:  # a loader cannot start in the middle of an epoch
                    self._add_up(total, start, before)
                    self._save(settings)
                self._leave(received)
        if self.loader is None:
            n = len(self.data[0])
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

    def _in_memory(self) -> Iterator[Batch]:
        """Shuffled batches of this epoch, from the step that is next."""
        at = self.at
        if at.order is None:
            at.order = torch.randperm(len(self.data[0]), generator=self.parts.shuffle)
        order = at.order.to(self.data[0].device)
        features, costs, solutions = (self.batches.cut(tensor, order) for tensor in self.data)
        instance = None if self.instance is None else self.batches.cut(self.instance, order)
        for step in range(at.step, len(features)):
            ids = None if instance is None else instance[step]
            yield features[step], costs[step], solutions[step], ids

    def _streamed(self, loader: Iterable[Any]) -> Iterator[Batch]:
        """Batches of a loader."""
        self.at.order = torch.zeros(0, dtype=torch.int64)
        return streamed(loader, next(self.parts.model.parameters()))

    def _step(self, x: Tensor, c: Tensor, v: Tensor, instance: Tensor | None, step: int) -> float:
        """One step of gradient descent; returns the summed loss of its instances."""
        loss = self.parts.loss
        predicted, phase = self.step.predict(x), loss.phase
        try:
            value, gradient = loss.loss_and_gradient(predicted, c, v, instance)
        except InputError:
            self._refuse_nan(predicted, step)
            raise
        except SolveError as error:
            if error.row is None:
                raise
            which = f"training instance {self._instance(step, error.row)}"
            raise SolveError(f"{which} in {self._where(step)}: {error}") from error
        total = float(value)
        if not math.isfinite(total):
            self._refuse_nan(predicted, step)
            raise TrainingError(
                f"the loss is {total} in {self._where(step)}; lower the learning rate or scale the costs"
            )
        if loss.phase != phase:  # moments of the gradients of another loss do not apply
            self.parts.optimizer.state.clear()
        weight = 1.0 if self.ranks is None else self.batches.weight(step, loss.reduction)
        self.step.update(predicted, gradient if weight == 1.0 else gradient * weight)
        return total * x.shape[0] if loss.reduction == "mean" else total

    def _refuse_nan(self, predicted: Tensor, step: int) -> None:
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

    def _counts(self, *, start: bool = False) -> dict[str, float]:
        """Running totals of the oracle; with ``start`` zeros to add up to."""
        oracle = self.parts.loss.oracle
        names = ("solver_seconds", "solves", "not_optimal", "failed", "lookups")
        if start or oracle is None:
            return dict.fromkeys(names, 0)
        used, lookups = oracle.problem.statistics, 0
        if isinstance(oracle, SolutionCache):
            oracle.synchronize()
            lookups = oracle.statistics.lookups
        return dict(zip(names, (used.seconds, used.solves, used.not_optimal, used.failed, lookups), strict=True))

    def _add_up(self, total: float, start: float, before: dict[str, float]) -> None:
        row = self.at.row
        row["loss"] = total
        row["seconds"] += time.perf_counter() - start
        for name, value in self._counts().items():
            row[name] += value - before[name]
        oracle = self.parts.loss.oracle
        row["cache_size"] = len(oracle) if isinstance(oracle, SolutionCache) else None

    def _end_of_epoch(self, state: TrainingState) -> None:
        # A gradient of NaN shows here; the checkpoint of the last good epoch must not be replaced.
        if not all(bool(torch.isfinite(parameter).all()) for parameter in state.model.parameters()):
            rate = self.parts.optimizer.param_groups[0]["lr"]
            raise TrainingError(
                f"the weights are no longer finite after epoch {self.at.epoch}, learning rate {rate:g}; "
                "lower the learning rate or scale the features"
            )
        state.row |= self.parts.loss.diagnostics()
        if isinstance(self.parts.loss.oracle, SolutionCache):
            state.row |= self.parts.loss.oracle.diagnostics()
        problem, before = self.parts.loss.problem, self._watched()
        with counted_as("watching"):
            if self.validation is not None and problem is not None:
                state.row["regret"] = evaluate(state.model, self.validation, problem, ranks=self.ranks).regret
            for callback in self.parts.callbacks:
                callback.on_epoch(state)
        solves, seconds = self._watched()
        if self.ranks is not None:  # each has solved a part
            solves = before[0] + sum(self.ranks.gather_objects(solves - before[0]))
        if solves > before[0]:
            state.row |= {"watching_solves": solves - before[0], "watching_seconds": seconds - before[1]}
        if self.ranks is not None:
            state.row, state.stop = self.ranks.gather_objects((state.row, state.stop))[0]
        self.at.history.append(state.row)
        self.at.stopped = state.stop

    def _watched(self) -> tuple[int, float]:
        """Solves and seconds so far for the regrets of single epochs."""
        problem = self.parts.loss.problem
        count = None if problem is None else problem.statistics.by_purpose.get("watching")
        return (0, 0.0) if count is None else (count.solves, count.seconds)

    def _save(self, settings: dict[str, Any]) -> None:
        if self.path is not None:
            checkpoints.save(self.path, self.parts, self.at, settings, self.ranks)

    def _leave(self, name: str) -> NoReturn:
        kept = "nothing was kept (no checkpoint was requested)"
        if self.path is not None:
            kept = f"the run is kept in {self.path}; run the same command again to continue"
        done = f"epoch {self.at.epoch}" if self.at.step == 0 else f"epoch {self.at.epoch + 1}, step {self.at.step}"
        raise Interrupted(f"{name}: training ended after {done}; {kept}")
