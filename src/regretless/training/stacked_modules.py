"""Many copies of any ``nn.Module`` as one batched model."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from regretless.errors import RegretlessWarning
from regretless.tensors import pullback
from regretless.training.evaluation import to_model
from regretless.training.stacked_models import Parameters


@final
class StackedModules:
    """Copies of any ``nn.Module``, by ``torch.func``, or one by one where a module cannot be batched.

    Frozen parameters and buffers keep the values of the model that a stream starts from. So do the statistics of batch
    normalization: copies that are trained together cannot each follow the statistics of their batches.

    Args:
        models: per stream, one or more models whose weights are a start; frozen parameters are those of the first.
        features: ``(n, ...)`` of all instances.
        starts: of each setting, which of the models of a stream it starts from.
    """

    def __init__(self, models: Sequence[Sequence[nn.Module]], features: Tensor, starts: Sequence[int]) -> None:
        self.model = copy.deepcopy(models[0][0])
        named = [[dict(model.named_parameters()) for model in stream] for stream in models]
        trained = [name for name, parameter in named[0][0].items() if parameter.requires_grad]
        self.parameters: Parameters = {
            name: torch.stack([torch.stack([stream[s][name].detach() for s in starts]) for stream in named])
            for name in trained
        }
        fixed = [own[0] | dict(stream[0].named_buffers()) for own, stream in zip(named, models, strict=True)]
        self.constants: Parameters = {
            name: torch.stack([one[name].detach() for one in fixed]) for name in fixed[0] if name not in trained
        }
        # Relative to the size of the weights; parameters that start at zero take the size of the largest.
        sizes = {name: value.square().mean().sqrt() for name, value in self.parameters.items()}
        largest = max(float(size) for size in sizes.values()) or 1.0
        self.units: Parameters = {name: size.clamp(min=0.1 * largest) for name, size in sizes.items()}
        self.features = to_model(features, next(self.model.parameters()))
        self._set_mode(training=True)
        self._predict = self._at_once if self._can_be_batched() else self._one_by_one
        self._last: tuple[Parameters, Tensor] | None = None

    def predict(self, streams: list[int], index: Tensor) -> Tensor:
        """Costs of a batch; see ``StackedModels``."""
        every = len(streams) == len(next(iter(self.parameters.values())))
        leaves = {
            name: (value.detach() if every else value[streams]).requires_grad_()
            for name, value in self.parameters.items()
        }
        constants = self.constants if every else {name: value[streams] for name, value in self.constants.items()}
        with torch.enable_grad():
            predicted = self._predict(leaves, constants, self.features[index])
        self._last = leaves, predicted
        return predicted.detach()

    def gradients(self, gradient: Tensor) -> Parameters:
        """Gradients of the parameters; see ``StackedModels``."""
        assert self._last is not None
        leaves, predicted = self._last
        found = torch.autograd.grad(pullback(predicted, gradient), list(leaves.values()), allow_unused=True)
        return {
            name: torch.zeros_like(leaf) if slope is None else slope
            for (name, leaf), slope in zip(leaves.items(), found, strict=True)
        }

    @torch.no_grad()
    def predict_with(self, parameters: Parameters, stream: int, index: Tensor | None = None) -> Tensor:
        """Costs with other parameters; see ``StackedModels``."""
        features = self.features if index is None else self.features[index]
        mine, constants = (
            {name: value[stream : stream + 1] for name, value in of.items()} for of in (parameters, self.constants)
        )
        self._set_mode(training=False)
        try:
            parts = [self._predict(mine, constants, part[None])[0] for part in torch.split(features, 256)]
        finally:
            self._set_mode(training=True)
        return torch.cat(parts, dim=1)

    def export(self, parameters: Parameters, stream: int, setting: int) -> nn.Module:
        """One copy as an ordinary model; see ``StackedModels``."""
        model = copy.deepcopy(self.model).eval()
        values = {name: value[stream, setting] for name, value in parameters.items()}
        values |= {name: value[stream] for name, value in self.constants.items()}
        with torch.no_grad():
            for name, mine in (*model.named_parameters(), *model.named_buffers()):
                mine.copy_(values[name])
        return model

    def _call(self, parameters: Parameters, constants: Parameters, x: Tensor) -> Any:
        # A module may write into its buffers: what one call writes, no other call sees.
        own = {name: value.clone() for name, value in constants.items()}
        return functional_call(self.model, (parameters, own), (x,))

    def _at_once(self, parameters: Parameters, constants: Parameters, x: Tensor) -> Tensor:
        """Costs ``(streams, settings, batch, d)`` from features ``(streams, batch, ...)``."""
        settings = vmap(self._call, (0, None, None), randomness="different")
        predicted: Tensor = vmap(settings, randomness="different")(parameters, constants, x)
        return predicted

    def _one_by_one(self, parameters: Parameters, constants: Parameters, x: Tensor) -> Tensor:
        """The same as ``_at_once``, in a loop."""
        streams, settings = next(iter(parameters.values())).shape[:2]
        found = [
            self._call(
                {name: value[f, s] for name, value in parameters.items()},
                {name: value[f] for name, value in constants.items()},
                x[f],
            )
            for f in range(streams)
            for s in range(settings)
        ]
        return torch.stack(found).reshape(streams, settings, *found[0].shape)

    @torch.no_grad()
    def _can_be_batched(self) -> bool:
        """Whether ``torch.func`` can batch the copies: it cannot where a module branches on values, for example."""
        example = self.features[:2].expand(len(next(iter(self.parameters.values()))), *self.features[:2].shape)
        try:
            with torch.random.fork_rng([self.features.device] if self.features.is_cuda else []):
                self._at_once(self.parameters, self.constants, example)
        except RuntimeError as error:
            reason = str(error).strip().partition("\n")[0]
            warnings.warn(
                f"copies of this {type(self.model).__name__} cannot be computed at once, so a search computes them one "
                f"by one, which takes longer; torch says: {reason}",
                RegretlessWarning,
                stacklevel=2,
            )
            return False
        return True

    def _set_mode(self, *, training: bool) -> None:
        self.model.train(training)
        for module in self.model.modules():
            if getattr(module, "track_running_stats", False):
                module.eval()
