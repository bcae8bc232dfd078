"""Many copies of one model as one batched model, streams of data times settings, and Adam for them.

A stream is one order of one part of the data (a fold, or all of it). All settings of a stream see the same batches, so
that features are gathered once per stream. Parameters have the leading dimensions ``(streams, settings)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from regretless.training.scaling import EPS

Parameters = dict[str, Tensor]
BETA1, BETA2 = 0.9, 0.999


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

    def gradients(self, gradient: Tensor) -> Parameters:
        """Gradients of the parameters of these streams, from that ``(streams, settings, batch, d)`` of the costs."""

    def predict_with(self, parameters: Parameters, stream: int, index: Tensor | None = None) -> Tensor:
        """Costs ``(settings, m, d)`` of instances ``index`` ``(m,)``, or of all, with ``parameters`` in place of the
        current ones.
        """

    def export(self, parameters: Parameters, stream: int, setting: int) -> nn.Module:
        """One copy as an ordinary model."""


class StackedAdam:
    """Adam (Kingma and Ba 2015), in place on parameters ``(streams, settings, ...)``.

    Args:
        parameters: what to train.
        units: by name, the size of a natural step, which the rates multiply.
        rates: ``(settings,)`` learning rates.
        eps: added to the size of gradients.
    """

    def __init__(self, parameters: Parameters, units: Parameters, rates: Tensor, *, eps: float = EPS) -> None:
        self.parameters, self.units, self.eps = parameters, units, eps
        device = next(iter(parameters.values())).device
        self.rates = rates.to(device)
        self.mean = {name: torch.zeros_like(value) for name, value in parameters.items()}
        self.square = {name: torch.zeros_like(value) for name, value in parameters.items()}
        self.steps = torch.zeros(len(next(iter(parameters.values()))), dtype=torch.float64, device=device)

    @torch.no_grad()
    def step(self, streams: list[int], gradients: Parameters) -> None:
        """Update the parameters of some streams from their gradients ``(streams, settings, ...)``."""
        every = len(streams) == len(self.steps)
        place: Any = slice(None) if every else streams
        self.steps[place] += 1
        for name, gradient in gradients.items():
            mean, square, parameter = self.mean[name], self.square[name], self.parameters[name]
            shape = (-1, *[1] * (gradient.ndim - 1))
            steps = self.steps[place].view(shape).to(gradient.dtype)
            m = mean[place].mul_(BETA1).add_(gradient, alpha=1 - BETA1)
            v = square[place].mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
            rate = self.rates.to(gradient.dtype).view(1, -1, *[1] * (gradient.ndim - 2)) * self.units[name]
            change = rate * (m / (1 - BETA1**steps)) / ((v / (1 - BETA2**steps)).sqrt_() + self.eps)
            if every:
                parameter.sub_(change)
            else:  # indexing with a list makes copies
                mean[place], square[place], parameter[place] = m, v, parameter[place] - change

    def state_dict(self) -> dict[str, Any]:
        """Moments and step counts."""
        return {"mean": self.mean, "square": self.square, "steps": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for mine, saved in ((self.mean, state["mean"]), (self.square, state["square"])):
            for name, value in mine.items():
                value.copy_(saved[name])
        self.steps.copy_(state["steps"])
