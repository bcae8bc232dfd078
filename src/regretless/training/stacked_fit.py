"""Many training runs as one: stacked models, one shared cache, one pass over the data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import FileError, InputError
from regretless.losses import Loss
from regretless.progress import track
from regretless.storage import load_state, save_state
from regretless.training.fit_loop import Interrupted
from regretless.training.interrupt import Interruption
from regretless.training.stacked_adam import StackedAdam
from regretless.training.stacked_models import Parameters, StackedModels, stack_models

KIND, VERSION = "stacked", 1


@dataclass(frozen=True)
class Setting:
    """One way to train.

    Attributes:
        loss: index of its loss.
        rate: learning rate, relative to the natural step of each parameter.
        anchor: weight of a pull towards the predictions at the start.
    """

    loss: int
    rate: float
    anchor: float = 0.0


@dataclass(frozen=True)
class StackedRuns:
    """The trained stack.

    Attributes:
        models: predictions and export of single runs.
        snapshots: parameters by number of epochs.
        diverged: ``(streams, settings)`` mask of runs that left the finite numbers.
        reason: why training ended.
        seconds: wall-clock time.
    """

    models: StackedModels
    snapshots: dict[int, Parameters]
    diverged: Tensor
    reason: str
    seconds: float


class Observer(Protocol):
    """Follows the stack while it trains; for instance to grow the shared cache."""

    def on_step(self, predicted: Tensor, index: Tensor, valid: Tensor) -> None:
        """Called with predictions ``(streams, settings, batch, d)`` of instances ``index`` ``(streams, batch)``.

        Entries of the batch that are not ``valid`` ``(streams, batch)`` fill up a shorter batch.
        """
        ...

    def on_epoch(self, epoch: int, models: StackedModels, diverged: Tensor) -> str:
        """Called after every epoch; a non-empty text ends training with that reason."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """What a resumed search needs to continue."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        ...


@dataclass
class _State:
    epoch: int = 0
    seconds: float = 0.0
    reason: str = ""
    snapshots: dict[int, Parameters] = field(default_factory=dict)


def fit_stacked(
    models: Sequence[nn.Module],
    losses: Sequence[Loss],
    settings: Sequence[Setting],
    train: Dataset,
    streams: Sequence[Tensor],
    *,
    epochs: int = 20,
    batch_size: int = 24,
    snapshots: Sequence[int] = (),
    seed: int = 0,
    observer: Observer | None = None,
    checkpoint: Path | str | None = None,
    identity: dict[str, Any] | None = None,
    progress: bool | None = None,
) -> StackedRuns:
    """Train every setting on every stream at once.

    A run is one setting on one stream. Each run takes the steps that it would take alone: batches of its stream,
    reshuffled in every epoch, and its own Adam. Where runs share a cache, they share the solutions in it.

    Args:
        models: one per stream: the start of all its settings.
        losses: with ``reduction="none"``; they may share one cache.
        settings: loss, learning rate and anchor of each run of a stream.
        train: all instances.
        streams: positions of the training instances of each stream.
        epochs: passes of each stream over its instances.
        batch_size: instances per step and run.
        snapshots: epochs after which parameters are kept; the last epoch always is one.
        seed: of the shuffling.
        observer: sees the predictions of every step before the losses do, and the stack after every epoch.
        checkpoint: file that stores the stack after every epoch; an existing one is continued.
        identity: everything that determines the numbers, compared with that of an existing checkpoint.
        progress: show a bar; by default on a terminal.

    Raises:
        InputError: a loss reduces over the batch, or a number does not fit.
        FileError: the checkpoint is damaged or of another search.
        Interrupted: SIGINT, SIGTERM or SIGHUP was received; the checkpoint, where there is one, is of the last epoch.
    """
    if any(loss.reduction != "none" for loss in losses):
        raise InputError("stacked runs need losses with reduction='none'")
    if len(models) != len(streams):
        raise InputError(f"there must be one model per stream, got {len(models)} and {len(streams)}")
    if epochs < 1 or batch_size < 1 or not settings:
        raise InputError(f"need epochs >= 1, batch_size >= 1 and settings, got {epochs}, {batch_size}, {len(settings)}")
    stack = _Stack(list(models), list(losses), list(settings), train, list(streams), batch_size, seed, observer)
    wanted = sorted({*(epoch for epoch in snapshots if 1 <= epoch <= epochs), epochs})
    path = None if checkpoint is None else Path(checkpoint)
    state = _State()
    if path is not None and path.exists():
        state = stack.load(path, identity or {})
    start, before = time.perf_counter(), state.seconds
    with Interruption() as interruption:
        remaining = range(state.epoch, epochs)
        for epoch in track(remaining, total=len(remaining), label="training all settings", show=progress):
            if state.reason:
                break
            stack.epoch(epoch)
            state.epoch, state.seconds = epoch + 1, before + time.perf_counter() - start
            state.reason = "" if observer is None else observer.on_epoch(state.epoch, stack.models, stack.diverged)
            if state.epoch in wanted or state.reason:
                state.snapshots[state.epoch] = {k: v.clone() for k, v in stack.models.parameters.items()}
            if path is not None:
                stack.save(path, state, identity or {})
            if interruption.received:
                kept = "nothing was kept (no checkpoint was requested)"
                if path is not None:
                    kept = f"the search is kept in {path}; run the same command again to continue"
                raise Interrupted(f"{interruption.received}: the search ended after epoch {state.epoch}; {kept}")
    reason = state.reason or f"all {epochs} epochs done"
    return StackedRuns(stack.models, state.snapshots, stack.diverged, reason, state.seconds)


class _Stack:
    """The running state of ``fit_stacked``."""

    def __init__(
        self,
        models: list[nn.Module],
        losses: list[Loss],
        settings: list[Setting],
        train: Dataset,
        streams: list[Tensor],
        batch_size: int,
        seed: int,
        observer: Observer | None,
    ) -> None:
        self.observer = observer
        self.losses, self.streams, self.batch_size = losses, streams, batch_size
        self.models = stack_models(models, train.features, train.costs, len(settings))
        example = next(iter(self.models.parameters.values()))
        self.device, dtype = example.device, example.dtype
        self.costs, self.solutions = train.costs.to(example), train.solutions.to(example)
        self.instance = None if train.instance is None else train.instance.to(self.device)
        rates = torch.tensor([setting.rate for setting in settings], dtype=dtype)
        self.adam = StackedAdam(self.models.parameters, self.models.units, rates)
        self.groups = [
            (loss, _consecutive([s for s, setting in enumerate(settings) if setting.loss == k]))
            for k, loss in enumerate(losses)
        ]
        self._counts: dict[tuple[int, ...], tuple[Tensor, Tensor]] = {}
        self.generators = [torch.Generator().manual_seed(seed) for _ in streams]
        self.diverged = torch.zeros(len(streams), len(settings), dtype=torch.bool, device=self.device)
        self.anchors = torch.tensor([setting.anchor for setting in settings], dtype=dtype, device=self.device)
        self.anchored = bool(self.anchors.any())
        self.start: Tensor | None = None
        if self.anchored:
            first = {name: value[:, :1] for name, value in self.models.parameters.items()}
            self.start = torch.stack([self.models.predict_all(first, f)[0] for f in range(len(streams))])
            # In units in which a weight of 1 balances a typical gradient against a deviation of the costs.
            spread = self.solutions.std(dim=0, correction=0).mean()
            self.anchors *= spread / self.costs.std(correction=0).clamp(min=1e-30)

    def epoch(self, epoch: int) -> None:
        """One pass of every stream over its instances."""
        orders = [
            stream[torch.randperm(len(stream), generator=generator)].to(self.device)
            for stream, generator in zip(self.streams, self.generators, strict=True)
        ]
        for at in range(0, max(len(order) for order in orders), self.batch_size):
            active = [f for f, order in enumerate(orders) if at < len(order)]
            parts = [orders[f][at : at + self.batch_size] for f in active]
            self._step(active, parts)
        bad = torch.zeros_like(self.diverged)
        for value in self.models.parameters.values():
            bad |= ~torch.isfinite(value).flatten(2).all(dim=2)
        self._drop(bad)

    def _step(self, active: list[int], parts: list[Tensor]) -> None:
        """One step of every active stream; on a GPU without a synchronization, except for solves and checks."""
        lengths = tuple(len(part) for part in parts)
        longest, complete = max(lengths), min(lengths) == max(lengths)
        counts, valid = self._lengths(lengths)
        # The last batch of a stream may be shorter: it is filled up, and what was filled in has no gradient.
        index = torch.stack(parts if complete else [torch.cat([p, p[:1].expand(longest - len(p))]) for p in parts])
        predicted = self.models.predict(active, index)
        rows: Any = slice(None) if len(active) == len(self.streams) else active
        if self.diverged.is_cuda or not bool(torch.isfinite(predicted.sum())):
            self.diverged[rows] |= ~torch.isfinite(predicted).flatten(2).all(dim=2)
            predicted = torch.nan_to_num(predicted, nan=0.0, posinf=0.0, neginf=0.0)
        if self.observer is not None:
            self.observer.on_step(predicted, index, valid)
        gradient = torch.zeros_like(predicted)
        for loss, members in self.groups:
            gradient[:, members] = self._gradient(loss, predicted[:, members], index, None if complete else valid)
        gradient /= counts[:, None, None, None]
        if self.start is not None:
            start = self.start[rows][torch.arange(len(active), device=self.device)[:, None], index]
            pull = (predicted - start[:, None]) * valid[:, None, :, None]
            gradient += self.anchors[:, None, None] * pull / counts[:, None, None, None]
        gradient.masked_fill_(self.diverged[rows][:, :, None, None], 0.0)
        self.adam.step(active, self.models.gradients(gradient))

    def _lengths(self, lengths: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """Lengths of the batches, and a mask ``(streams, batch)`` of what is not filled in, on the device."""
        if lengths not in self._counts:
            counts = torch.tensor(lengths, device=self.device)
            self._counts[lengths] = counts, torch.arange(max(lengths), device=self.device) < counts[:, None]
        return self._counts[lengths]

    def _gradient(self, loss: Loss, predicted: Tensor, index: Tensor, valid: Tensor | None) -> Tensor:
        """Gradient ``(streams, settings, batch, d)`` of the summed loss of each run."""
        f, s, b, d = predicted.shape
        place = index[:, None].expand(f, s, b).reshape(-1)
        rows = predicted.reshape(-1, d)
        if valid is not None:
            keep = valid[:, None].expand(f, s, b).reshape(-1)
            place, rows = place[keep], rows[keep]
        instance = None if self.instance is None else self.instance[place]
        _, gradient = loss.loss_and_gradient(rows, self.costs[place], self.solutions[place], instance)
        if valid is not None:
            full = gradient.new_zeros(f * s * b, d)
            full[keep] = gradient
            gradient = full
        return gradient.view(f, s, b, d)

    def _drop(self, bad: Tensor) -> None:
        """Take runs out of training whose numbers are no longer finite."""
        self.diverged |= bad
        if not bool(self.diverged.any()):
            return
        for name, value in self.models.parameters.items():
            for part in (value, self.adam.mean[name], self.adam.square[name]):
                part[self.diverged] = 0.0

    def _caches(self) -> list[SolutionCache]:
        """The shared cache: of the losses, or of the observer where no loss uses it."""
        found = [loss.oracle for loss in self.losses] + [getattr(self.observer, "cache", None)]
        return list({id(oracle): oracle for oracle in found if isinstance(oracle, SolutionCache)}.values())

    def save(self, path: Path, state: _State, identity: dict[str, Any]) -> None:
        """Write the stack atomically."""
        cache = next(iter(self._caches()), None)
        content = {
            "identity": identity,
            "parameters": self.models.parameters,
            "adam": self.adam.state_dict(),
            "generators": [generator.get_state() for generator in self.generators],
            "diverged": self.diverged,
            "running": [loss.running_state() for loss in self.losses],
            "cache": None if cache is None else cache.state_dict(),
            "observer": None if self.observer is None else self.observer.state_dict(),
            "epoch": state.epoch,
            "seconds": state.seconds,
            "reason": state.reason,
            "snapshots": [[epoch, parameters] for epoch, parameters in sorted(state.snapshots.items())],
        }
        save_state(path, content, kind=KIND, version=VERSION)

    def load(self, path: Path, identity: dict[str, Any]) -> _State:
        """Continue from a checkpoint."""
        content = load_state(path, kind=KIND, version=VERSION)
        before = content.get("identity") if isinstance(content, dict) else None
        if before != identity:
            known = before if isinstance(before, dict) else {}
            names = sorted(str(key) for key in known | identity if known.get(key) != identity.get(key))
            raise FileError(f"{path} belongs to another search: it differs in {', '.join(names)}")
        try:
            for name, value in self.models.parameters.items():
                value.copy_(content["parameters"][name])
            self.adam.load_state_dict(content["adam"])
            for generator, saved in zip(self.generators, content["generators"], strict=True):
                generator.set_state(saved)
            self.diverged.copy_(content["diverged"])
            for loss, running in zip(self.losses, content["running"], strict=True):
                loss.load_running_state(running)
            for cache in self._caches():
                cache.load_state_dict(content["cache"])
            if self.observer is not None:
                self.observer.load_state_dict(content["observer"])
            snapshots = {int(epoch): self._snapshot(parameters) for epoch, parameters in content["snapshots"]}
            return _State(int(content["epoch"]), float(content["seconds"]), str(content["reason"]), snapshots)
        except Exception as error:  # whatever the content causes, the file is the reason
            raise FileError(f"{path} does not fit this search: {error}") from error

    def _snapshot(self, saved: dict[str, Tensor]) -> Parameters:
        """Parameters of a snapshot, which must be those of this stack."""
        return {
            name: torch.empty_like(value).copy_(saved[name].view(value.shape))
            for name, value in self.models.parameters.items()
        }


def _consecutive(places: list[int]) -> slice | list[int]:
    """Places as a slice where they follow each other: a view, where a list makes a copy and a synchronization."""
    if places and places == list(range(places[0], places[-1] + 1)):
        return slice(places[0], places[-1] + 1)
    return places
