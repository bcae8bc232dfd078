"""A faster training step for one linear layer with Adam, the case of the paper's experiments.

With 10 to 1,000 weights the bookkeeping of autograd takes most of a step. This file goes around it and nothing else
depends on it: ``step_of`` uses it where it applies. The arithmetic is torch's.
``benchmarks/step.py`` measures what it saves; below 1.25 times it should be deleted.
"""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor, nn

from regretless.training.lean_adam import LeanAdam
from regretless.training.linear_model import LinearModel, find_linear


@final
class LinearStep:
    """Forward and backward pass of a linear model with the arithmetic of autograd, and a step of ``LeanAdam``."""

    def __init__(self, model: LinearModel, optimizer: LeanAdam) -> None:
        self.model = model
        self.optimizer: torch.optim.Optimizer = optimizer
        self._parameters = model.layer.weight, model.layer.bias
        self._inputs = model.layer.in_features
        self._intercepts = None if model.intercepts is None else model.intercepts.intercepts
        self._view()
        self._rows = self._weight

    def _view(self) -> None:
        """Keep views of the parameters, and memory for their gradients: new tensors take as long as the products."""
        weight, bias = self._parameters
        self._weight, self._bias = weight.detach(), None if bias is None else bias.detach()
        self._shared_weight = self._weight[0]
        self._memory = _addresses(weight, bias)
        self._gradients = torch.empty_like(self._weight), None if self._bias is None else torch.empty_like(self._bias)

    def predict(self, x: Tensor) -> Tensor:
        """Predict costs ``(batch, d)``."""
        model, (weight, bias) = self.model, self._parameters
        if self._memory != _addresses(weight, bias):
            self._view()  # as after ``vector_to_parameters``
        rows = model.inputs(x)
        if model.shared:
            self._rows = rows.reshape(-1, self._inputs)
            output = torch.mv(self._rows, self._shared_weight)  # faster than ``linear`` where there is one output
            if self._bias is not None:
                output += self._bias
            output = output.view(-1, rows.size(1))  # numbers: torch takes four times as long for a shape
        else:
            self._rows = rows
            output = nn.functional.linear(rows, self._weight, self._bias)
        if self._intercepts is not None:
            output = output + self._intercepts.detach()
        return output if model.costs is None else model.offset + model.scale * output

    def update(self, predicted: Tensor, gradient: Tensor) -> None:
        """Step along the gradient ``(batch, d)`` at the last prediction."""
        if self.model.costs is not None:
            gradient = gradient * self.model.scale
        if self._intercepts is not None:
            self._intercepts.grad = gradient.sum(dim=0)
        # One row per output of the layer.
        outputs = gradient.reshape(1, -1) if self.model.shared else gradient.t()
        of_weight, of_bias = self._gradients
        weight, bias = self._parameters
        torch.mm(outputs, self._rows, out=of_weight)
        if weight.grad is not of_weight:
            weight.grad = of_weight
        if bias is not None:
            torch.sum(outputs, 1, out=of_bias)
            if bias.grad is not of_bias:
                bias.grad = of_bias
        self.optimizer.step()


def _addresses(weight: Tensor, bias: Tensor | None) -> tuple[int, int | None]:
    return weight.data_ptr(), None if bias is None else bias.data_ptr()


def linear_step(model: nn.Module, optimizer: torch.optim.Optimizer) -> LinearStep | None:
    """The fast step, where the model is one linear layer without hooks or frozen weights and Adam is ours.

    Under autocast, products are in half precision, and autograd converts their gradients to those of the weights.
    """
    view = find_linear(model)
    if view is None or not isinstance(optimizer, LeanAdam) or any(map(_hooked_module, model.modules())):
        return None
    if any(map(_hooked, model.parameters())) or torch.is_autocast_enabled(view.layer.weight.device.type):
        return None
    return LinearStep(view, optimizer)


def _hooked_module(module: nn.Module) -> bool:
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return "forward" in vars(module) or any(getattr(module, name, None) for name in hooks)


def _hooked(parameter: Tensor) -> bool:
    return bool(parameter._backward_hooks) or bool(getattr(parameter, "_post_accumulate_grad_hooks", None))
