"""Many copies of one linear model as one batched product."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import final

import torch
from torch import Tensor, nn

from regretless.training.linear_model import LinearModel, find_linear
from regretless.training.model_terms import Terms
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
        terms: of each setting, the names of the terms that it uses beside the features; ``None`` for all. The weights
            of the others stay as they are.
    """

    def __init__(
        self,
        models: Sequence[Sequence[nn.Module]],
        features: Tensor,
        costs: Tensor,
        starts: Sequence[int],
        terms: Sequence[Terms | None] = (),
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
            found = {"weight": weights}
            if view.intercepts is not None:
                found["intercepts"] = torch.stack([torch.stack([self._own(one) for one in stream]) for stream in views])
        chosen = list(starts)
        self.parameters: Parameters = {
            name: value.to(view.layer.weight)[:, chosen].contiguous() for name, value in found.items()
        }
        self.units: Parameters = {name: torch.ones_like(value[0]) for name, value in self.parameters.items()}
        for s, used in enumerate(terms):
            if used is None:
                continue
            for name, columns in view.columns.items():
                if name not in used:
                    self.units["weight"][s, :, columns] = 0.0
            if "intercepts" not in used and "intercepts" in self.units:
                self.units["intercepts"][s] = 0.0
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

    def _own(self, view: LinearModel) -> Tensor:
        """The intercepts ``(d,)`` of the variables in standardized coordinates."""
        assert view.intercepts is not None
        return view.intercepts.intercepts.to(torch.float64) * view.scale / self.unit

    def predict(self, streams: list[int], index: Tensor) -> Tensor:
        """Costs of a batch; see ``StackedModels``."""
        mine = self.parameters
        if len(streams) < mine["weight"].shape[0]:
            mine = {name: value[streams] for name, value in mine.items()}
        self._batch = self.inputs[index]
        return self._product(self._columns[index] if self.shared else self._batch, mine)

    def _product(self, inputs: Tensor, parameters: Parameters) -> Tensor:
        weight = parameters["weight"]
        f, s = weight.shape[:2]
        if self.shared:  # (f, b, k, d) with (f, s, 1, k)
            flat = inputs.permute(0, 2, 1, 3).reshape(f, inputs.shape[2], -1)
            costs = (weight[:, :, 0] @ flat).view(f, s, inputs.shape[1], inputs.shape[3])
            if "intercepts" in parameters:
                costs = costs + parameters["intercepts"][:, :, None]
            return costs * self.unit
        # (f, b, k) with (f, s, out, k)
        costs = inputs @ weight.reshape(f, -1, weight.shape[-1]).transpose(1, 2).contiguous()
        return costs.view(f, inputs.shape[1], s, -1).transpose(1, 2) * self.unit

    def gradients(self, gradient: Tensor) -> Parameters:
        """Gradients of the parameters; see ``StackedModels``."""
        f, s = gradient.shape[:2]
        if not self.shared:
            return {"weight": torch.einsum("fsbo,fbk->fsok", gradient, self._batch) * self.unit}
        flat = self._batch.reshape(f, -1, self._batch.shape[-1])
        found = {"weight": (gradient.reshape(f, s, -1) @ flat)[:, :, None] * self.unit}
        if "intercepts" in self.parameters:
            found["intercepts"] = gradient.sum(dim=2) * self.unit
        return found

    def predict_with(self, parameters: Parameters, stream: int, index: Tensor | None = None) -> Tensor:
        """Costs with other parameters; see ``StackedModels``."""
        columns = self._columns if index is None else self._columns[index]
        return self._product(columns[None], {name: value[stream][None] for name, value in parameters.items()})[0]

    def export(self, parameters: Parameters, stream: int, setting: int) -> nn.Module:
        """One copy as an ordinary model; see ``StackedModels``."""
        model = copy.deepcopy(self.model)
        mine = {name: value[stream, setting].to(torch.float64) * self.unit for name, value in parameters.items()}
        k = len(self.scale)
        slope = mine["weight"][:, :k] / self.scale
        constant = mine["weight"][:, k] - slope @ self.center if self.bias else torch.zeros_like(slope[:, 0])
        view = _linear(model)
        target = view.layer.weight
        bias = constant + mine["intercepts"] if "intercepts" in mine else constant
        view.set(slope.to(target), bias.to(target))
        return model


def _linear(model: nn.Module) -> LinearModel:
    view = find_linear(model)
    assert view is not None
    return view
