"""Many copies of one model as one batched model: streams of data times settings.

A stream is one order of one part of the data (a fold, or all of it). All settings of a stream see the same batches, so
that features are gathered once per stream. Parameters have the leading dimensions ``(streams, settings)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor, nn

Parameters = dict[str, Tensor]


@dataclass(frozen=True)
class Setting:
    """One way to train.

    Attributes:
        loss: index of its loss.
        rate: learning rate, relative to the natural step of each parameter.
        anchor: weight of a pull towards the predictions at the start.
        start: which of the models of a stream it starts from.
        terms: names of the terms of a linear model that it uses, beside its features; ``None`` for all. See
            ``model_terms``.
    """

    loss: int
    rate: float
    anchor: float = 0.0
    start: int = 0
    terms: tuple[str, ...] | None = None


class StackedModels(Protocol):
    """Copies of a model, ``(streams, settings)`` of them.

    Attributes:
        parameters: by name, each ``(streams, settings, ...)``, updated in place by the optimizer.
        units: by name, the size of a natural step of each parameter, which a learning rate multiplies.
    """

    parameters: Parameters
    units: Parameters

    def predict(self, streams: list[int], index: Tensor) -> Tensor:
        """Costs ``(streams, settings, batch, d)`` of instances ``index`` ``(streams, batch)``."""
        ...

    def gradients(self, gradient: Tensor) -> Parameters:
        """Gradients of the parameters of these streams, from that ``(streams, settings, batch, d)`` of the costs."""
        ...

    def predict_with(self, parameters: Parameters, stream: int, index: Tensor | None = None) -> Tensor:
        """Costs ``(settings, m, d)`` of instances ``index`` ``(m,)``, or of all, with ``parameters`` in place of the
        current ones.
        """
        ...

    def export(self, parameters: Parameters, stream: int, setting: int) -> nn.Module:
        """One copy as an ordinary model."""
        ...
