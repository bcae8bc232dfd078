"""Models that are one linear layer: their gradient is one product, so a step needs no graph."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from regretless.training.models import SharedLinear, Standardised, slot_costs

Forward = Callable[[Tensor, Tensor, Tensor | None], Tensor]


class LinearPass:
    """Forward and backward pass of a linear model, with the arithmetic of autograd but without its bookkeeping.

    Args:
        layer: the linear layer.
        forward: the whole model as a function of features, weight and bias.
        before: what happens to the features first, where nothing of it is trained.
    """

    def __init__(
        self,
        layer: nn.Linear,
        forward: Forward,
        before: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        self.layer, self.forward, self.before = layer, forward, before
        # The same memory, without a graph to build.
        self._weight = layer.weight.detach()
        self._bias = None if layer.bias is None else layer.bias.detach()
        self._input = self._weight

    def predict(self, x: Tensor) -> Tensor:
        """Predict costs ``(batch, d)``: a leaf, at which a loss may leave its gradient."""
        self._input = x if self.before is None else self.before(x)
        return self.forward(self._input, self._weight, self._bias).requires_grad_()

    def pull(self, slope: Tensor) -> None:
        """Set the gradients of the parameters from that ``(batch, d)`` at the last prediction."""
        layer = self.layer
        flat, slope = self._input.reshape(-1, layer.in_features), slope.reshape(-1, layer.out_features)
        layer.weight.grad = slope.t().mm(flat)
        if layer.bias is not None:
            layer.bias.grad = slope.sum(dim=0)


def linear_pass(model: nn.Module) -> LinearPass | None:
    """The pass of ``model`` where it is one linear layer and nobody else looks on or in (hooks, frozen weights)."""
    inner, before = model, None
    if type(inner) is Standardised:
        before, inner = inner.scaled, inner.inner
    layer = inner
    forward: Forward = nn.functional.linear
    if type(inner) is SharedLinear:
        layer, forward = inner.linear, slot_costs
    elif type(inner) is nn.Sequential and len(inner) == 1:
        layer = inner[0]
    elif type(inner) is nn.Sequential and len(inner) == 2 and _flattens(inner[1]):
        layer, forward = inner[0], _flat_linear
    if type(layer) is not nn.Linear or any(map(_watched, model.modules())):
        return None
    if not all(parameter.requires_grad and not _hooked(parameter) for parameter in layer.parameters()):
        return None
    return LinearPass(layer, forward, before)


def _flat_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return nn.functional.linear(x, weight, bias).flatten(1)


def _flattens(module: nn.Module) -> bool:
    return type(module) is nn.Flatten and (module.start_dim, module.end_dim) == (1, -1)


def _watched(module: nn.Module) -> bool:
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return "forward" in vars(module) or any(getattr(module, name, None) for name in hooks)


def _hooked(parameter: Tensor) -> bool:
    return bool(parameter._backward_hooks) or bool(getattr(parameter, "_post_accumulate_grad_hooks", None))
