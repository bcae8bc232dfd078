"""Many training runs as one: stacked models, one shared cache, one pass over the data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import Loss
from regretless.progress import LongWork, track
from regretless.training import stack_checkpoint
from regretless.training.interrupt import Interrupted, Interruption, kept_in
from regretless.training.random_draws import seeded_draws
from regretless.training.running_stack import Observer, RunningStack
from regretless.training.stacked_models import Parameters, Setting, StackedModels


def long_search(steps: int) -> LongWork:
    """Warns once of a search with ``steps`` left that takes more than half an hour."""
    return LongWork(
        steps,
        measured=30.0,
        long=1800.0,
        advice=lambda left: (
            f"the search takes about {left} more, since every step compares its predictions with all cached solutions: "
            "a smaller sample=, or fewer epochs= or methods=, make it faster, and time_limit= "
            "(--set time_limit=SECONDS) ends it after the epoch in which that time is over"
        ),
    )


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


def fit_stacked(
    models: Sequence[nn.Module | Sequence[nn.Module]],
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
        models: one per stream: the start of all its settings; or several, of which each setting names its start.
        losses: with ``reduction="none"``; they may share one cache.
        settings: loss, learning rate and anchor of each run of a stream.
        train: all instances.
        streams: positions of the training instances of each stream.
        epochs: passes of each stream over its instances.
        batch_size: instances per step and run.
        snapshots: epochs after which parameters are kept; the last epoch always is one.
        seed: of the shuffling, and of what the models draw from torch's global generators, for dropout say.
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
    stack = RunningStack(list(models), list(losses), list(settings), train, list(streams), batch_size, seed, observer)
    wanted = sorted({*(epoch for epoch in snapshots if 1 <= epoch <= epochs), epochs})
    path = None if checkpoint is None else Path(checkpoint)
    with seeded_draws(seed, stack.device), Interruption() as interruption:
        if path is not None and path.exists():
            stack_checkpoint.load(path, stack, identity or {}, wanted)
        start, before = time.perf_counter(), stack.seconds
        remaining = range(stack.epochs, epochs)
        estimate = long_search(len(remaining) * stack.steps)
        for _ in track(remaining, total=len(remaining), label="training all settings", show=progress):
            if observer is not None and observer.why_stop():
                break
            stack.epoch(progress=progress, on_step=estimate.step)
            stack.seconds = before + time.perf_counter() - start
            if observer is not None:
                observer.on_epoch(stack.epochs, stack.models, stack.diverged)
            if stack.epochs in wanted:
                stack.snapshots[stack.epochs] = {k: v.clone() for k, v in stack.models.parameters.items()}
            if path is not None:
                stack_checkpoint.save(path, stack, identity or {})
            if interruption.received:
                said = f"{interruption.received}: the search ended after epoch {stack.epochs}"
                raise Interrupted(f"{said}; {kept_in(path)}")
    reason = f"all {epochs} epochs done"
    if observer is not None and stack.epochs < epochs:
        reason = observer.why_stop()
        # Not in the checkpoint: with a later limit the search continues as if it had not stopped.
        stack.snapshots.setdefault(stack.epochs, stack.models.parameters)
    return StackedRuns(stack.models, stack.snapshots, stack.diverged, reason, stack.seconds)
