"""The running state of stacked training: one step of every stream and setting at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.instance_weights import relative_weights
from regretless.losses import Loss
from regretless.progress import track
from regretless.training.evaluation import to_loss
from regretless.training.linear_model import find_linear
from regretless.training.scaling import deviation_or_one, eps_for
from regretless.training.stacked_linear import StackedLinear
from regretless.training.stacked_models import Parameters, Setting, StackedAdam, StackedModels
from regretless.training.stacked_modules import StackedModules


def stack_models(
    models: Sequence[nn.Module | Sequence[nn.Module]],
    features: Tensor,
    costs: Tensor,
    settings: Sequence[Setting],
) -> StackedModels:
    """Stack a copy of each stream's model per setting: linear ones by products, others by ``torch.func``.

    Args:
        models: one per stream, or several per stream, of which each setting names its start.
        features: ``(n, ...)`` of all instances.
        costs: ``(n, d)``, for their scale.
        settings: one copy each.

    Raises:
        InputError: a setting uses some terms only, and the models are not linear.
    """
    nested = [[model] if isinstance(model, nn.Module) else list(model) for model in models]
    starts, terms = [setting.start for setting in settings], [setting.terms for setting in settings]
    if find_linear(nested[0][0]) is not None:
        return StackedLinear(nested, features, costs, starts, terms)
    if any(used is not None for used in terms):
        raise InputError("a setting that uses some of the terms needs a linear model")
    return StackedModules(nested, features, starts)


class Observer(Protocol):
    """Follows the stack while it trains; for instance to grow the shared cache."""

    def on_step(self, predicted: Tensor, index: Tensor, valid: Tensor) -> None:
        """Called with predictions ``(streams, settings, batch, d)`` of instances ``index`` ``(streams, batch)``.

        Entries of the batch that are not ``valid`` ``(streams, batch)`` fill up a shorter batch.
        """

    def on_epoch(self, epoch: int, models: StackedModels, diverged: Tensor) -> None:
        """Called after every epoch."""

    def why_stop(self) -> str:
        """Why training must end before the next epoch; empty where it must not."""

    def state_dict(self) -> dict[str, Any]:
        """What a resumed search needs to continue."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""


class RunningStack:
    """Models, optimizers and shuffles of all runs; the arguments are those of ``fit_stacked``.

    Attributes:
        epochs: that are done.
        seconds: of training, in all processes of a search that was interrupted.
        snapshots: parameters that are kept, by number of epochs.
    """

    def __init__(
        self,
        models: Sequence[nn.Module | Sequence[nn.Module]],
        losses: list[Loss],
        settings: list[Setting],
        train: Dataset,
        streams: list[Tensor],
        batch_size: int,
        seed: int,
        observer: Observer | None,
    ) -> None:
        self.observer = observer
        self.epochs, self.seconds = 0, 0.0
        self.snapshots: dict[int, Parameters] = {}
        self.losses, self.streams, self.batch_size = losses, streams, batch_size
        self.models = stack_models(models, train.features, train.costs, settings)
        example = next(iter(self.models.parameters.values()))
        self.device, dtype = example.device, example.dtype
        self.costs, self.solutions = to_loss(train.costs, example), to_loss(train.solutions, example)
        self.instance = None if train.instance is None else train.instance.to(self.device)
        counts = relative_weights(train.weight)
        self.weight = None if counts is None else to_loss(counts, example)
        rates = torch.tensor([setting.rate for setting in settings], dtype=dtype)
        eps = eps_for(float(deviation_or_one(train.costs)))
        self.adam = StackedAdam(self.models.parameters, self.models.units, rates, eps=eps)
        self.groups = [
            (loss, _consecutive([s for s, setting in enumerate(settings) if setting.loss == k]))
            for k, loss in enumerate(losses)
        ]
        self._counts: dict[tuple[int, ...], tuple[Tensor, Tensor]] = {}
        self.generators = [torch.Generator().manual_seed(seed) for _ in streams]
        self.diverged = torch.zeros(len(streams), len(settings), dtype=torch.bool, device=self.device)
        self.anchors = torch.tensor([setting.anchor for setting in settings], dtype=dtype, device=self.device)
        self.start: Tensor | None = None
        if bool(self.anchors.any()):
            starts = [setting.start for setting in settings]
            kinds = sorted(set(starts))
            first = [starts.index(kind) for kind in kinds]
            parameters = {name: value[:, first] for name, value in self.models.parameters.items()}
            self.start = torch.stack([self.models.predict_with(parameters, f) for f in range(len(streams))])
            self.kinds: Any = slice(None)  # of each setting; with one kind its predictions serve all settings
            if len(kinds) > 1:
                self.kinds = torch.tensor([kinds.index(start) for start in starts], device=self.device)
            # In units in which a weight of 1 balances a typical gradient against a deviation of the costs.
            # Known costs are not predicted and have no gradient: their coordinates come last.
            spread = self.solutions[:, : self.costs.shape[1]].std(dim=0, correction=0).mean()
            self.anchors *= spread / self.costs.std(correction=0).clamp(min=1e-30)

    @property
    def steps(self) -> int:
        """Steps of an epoch."""
        return -(-max(len(stream) for stream in self.streams) // self.batch_size)

    def epoch(self, *, progress: bool | None = False, on_step: Callable[[], None] | None = None) -> None:
        """One pass of every stream over its instances.

        Args:
            progress: show a bar over the steps; ``None`` on a terminal.
            on_step: called after every step.
        """
        orders = [
            stream[torch.randperm(len(stream), generator=generator)].to(self.device)
            for stream, generator in zip(self.streams, self.generators, strict=True)
        ]
        places = range(0, max(len(order) for order in orders), self.batch_size)
        for at in track(places, total=len(places), label=f"epoch {self.epochs + 1}", show=progress):
            active = [f for f, order in enumerate(orders) if at < len(order)]
            parts = [orders[f][at : at + self.batch_size] for f in active]
            self._step(active, parts)
            if on_step is not None:
                on_step()
        bad = torch.zeros_like(self.diverged)
        for value in self.models.parameters.values():
            bad |= ~torch.isfinite(value).flatten(2).all(dim=2)
        self._drop(bad)
        self.epochs += 1

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
            place = index[:, None, :, None].expand(-1, self.start.shape[1], -1, predicted.shape[-1])
            start = self.start[rows].gather(2, place)[:, self.kinds]
            pull = (predicted - start) * valid[:, None, :, None]
            gradient += self.anchors[:, None, None] * pull / counts[:, None, None, None]
        if self.weight is not None:
            gradient *= self.weight[index][:, None, :, None]
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


def _consecutive(places: list[int]) -> slice | list[int]:
    """Places as a slice where they follow each other: a view, where a list makes a copy and a synchronization."""
    if places and places == list(range(places[0], places[-1] + 1)):
        return slice(places[0], places[-1] + 1)
    return places
