"""Many copies of one linear model as one batched product."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from regretless.training.linear_model import LinearModel, find_linear
from regretless.training.stacked_models import Parameters


@final
class StackedLinear:
    """Linear models: one batched product, in coordinates in which features and costs are standardized.

    Training is then independent of the units of features and costs. ``export`` maps the weights back.

    Args:
        models: per stream, one or more models whose weights are a start.
        features: ``(n, ...)`` of all instances.
        costs: ``(n, d)``, for their scale.
        starts: of each setting, which of the models of a stream it starts from.
        inputs: of each setting, how many of the layer's inputs it uses; ``None`` for all. The weights of the others
            stay as they are.
    """

    def __init__(
        self,
        models: Sequence[Sequence[nn.Module]],
        features: Tensor,
        costs: Tensor,
        starts: Sequence[int],
        inputs: Sequence[int | None] = (),
    ) -> None:
        self.model = copy.deepcopy(models[0][0])
        views = [[_linear(model) for model in stream] for stream in models]
        view = views[0][0]
        self.shared, self.bias = view.shared, view.layer.bias is not None
        with torch.no_grad():
            seen = view.inputs(features.to(view.layer.weight)).to(torch.float64)
            flat = seen.reshape(-1, seen.shape[-1])
            k = flat.shape[1]
            self.center = flat.mean(dim=0) if self.bias else flat.new_zeros(k)
            deviation = (flat - self.center).square().mean(dim=0).sqrt()
            constant = deviation <= 1e-12 * deviation.max()
            self.scale = torch.where(constant, torch.ones_like(deviation), deviation)
            spread = costs.to(torch.float64).std(correction=0)
            self.unit = float(spread) if float(spread) > 0 else 1.0
            z = (seen - self.center) / self.scale
            if self.bias:
                z = torch.cat([z, torch.ones_like(z[..., :1])], dim=-1)
            self.inputs = z.to(view.layer.weight)
            # Shared layers take both layouts: a product with a transposed operand is up to 20 times slower on ARM.
            self._columns = self.inputs.transpose(1, 2).contiguous() if self.shared else self.inputs
            weights = torch.stack([torch.stack([self._standardized(one) for one in stream]) for stream in views])
        self.parameters: Parameters = {"weight": weights.to(view.layer.weight)[:, list(starts)].contiguous()}
        step = torch.ones((), device=weights.device)
        if any(used is not None for used in inputs):
            step = torch.ones(len(starts), 1, weights.shape[-1], device=weights.device)
            for s, used in enumerate(inputs):
                step[s, 0, used:k] = 0.0 if used is not None else 1.0
        self.units: Parameters = {"weight": step}
        self._batch = self.inputs

    def _standardized(self, view: LinearModel) -> Tensor:
        """The layer's weights ``(out, k [+ 1])`` in standardized coordinates."""
        weight = view.layer.weight.to(torch.float64) * view.scale
        columns = [weight * self.scale]
        if view.layer.bias is not None:
            offset = view.offset[:1] if view.shared and isinstance(view.offset, Tensor) else view.offset
            bias = view.layer.bias.to(torch.float64) * view.scale + offset + weight @ self.center
            columns.append(bias[:, None])
        return torch.cat(columns, dim=1) / self.unit

    def predict(self, streams: list[int], index: Tensor) -> Tensor:
        """Costs of a batch; see ``StackedModels``."""
        weight = self.parameters["weight"]
        weight = weight if len(streams) == weight.shape[0] else weight[streams]
        self._batch = self.inputs[index]
        return self._product(self._columns[index] if self.shared else self._batch, weight)

    def _product(self, inputs: Tensor, weight: Tensor) -> Tensor:
        f, s = weight.shape[:2]
        if self.shared:  # (f, b, k, d) with (f, s, 1, k)
            flat = inputs.permute(0, 2, 1, 3).reshape(f, inputs.shape[2], -1)
            costs = weight[:, :, 0] @ flat
            return costs.view(f, s, inputs.shape[1], inputs.shape[3]) * self.unit
        # (f, b, k) with (f, s, out, k)
        costs = inputs @ weight.reshape(f, -1, weight.shape[-1]).transpose(1, 2).contiguous()
        return costs.view(f, inputs.shape[1], s, -1).transpose(1, 2) * self.unit

    def gradients(self, gradient: Tensor) -> Parameters:
        """Gradients of the parameters; see ``StackedModels``."""
        f, s = gradient.shape[:2]
        if self.shared:
            flat = self._batch.reshape(f, -1, self._batch.shape[-1])
            slope = gradient.reshape(f, s, -1) @ flat
            return {"weight": slope[:, :, None] * self.unit}
        slope = torch.einsum("fsbo,fbk->fsok", gradient, self._batch)
        return {"weight": slope * self.unit}

    def predict_with(self, parameters: Parameters, stream: int, index: Tensor | None = None) -> Tensor:
        """Costs with other parameters; see ``StackedModels``."""
        columns = self._columns if index is None else self._columns[index]
        return self._product(columns[None], parameters["weight"][stream][None])[0]

    def export(self, parameters: Parameters, stream: int, setting: int) -> nn.Module:
        """One copy as an ordinary model; see ``StackedModels``."""
        model = copy.deepcopy(self.model)
        weight = parameters["weight"][stream, setting].to(torch.float64) * self.unit
        k = len(self.scale)
        slope = weight[:, :k] / self.scale
        view = _linear(model)
        target = view.layer.weight
        view.set(slope.to(target), (weight[:, k] - slope @ self.center).to(target) if self.bias else None)
        return model


def _linear(model: nn.Module) -> LinearModel:
    view = find_linear(model)
    assert view is not None
    return view
