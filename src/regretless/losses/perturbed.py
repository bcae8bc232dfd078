"""The perturbed losses: K noisy cost vectors per instance, one query for all, and what is made of the answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, final

import torch
from torch import Tensor

from regretless.arrays import dot
from regretless.errors import InputError
from regretless.losses.base import Reduction
from regretless.losses.closed_form import ClosedFormLoss
from regretless.losses.task_loss import Task, known_task, task_loss
from regretless.number_checks import check_integer, check_number
from regretless.oracle import Oracle

Noise = Literal["additive", "multiplicative"]


@dataclass(frozen=True)
class Perturbed:
    """Perturbed costs of one step, all ``(K, batch, width)``.

    Attributes:
        costs: the perturbed costs.
        z: the noise, before it is scaled by sigma.
        factor: what multiplied the predicted costs; ``None`` where the noise was added.
    """

    costs: Tensor
    z: Tensor
    factor: Tensor | None


class PerturbedLoss(ClosedFormLoss):
    """Base of the losses that solve at K perturbed cost vectors per instance.

    The noise is drawn as ``(batch, K, width)`` from torch's generator. This is PyEPO's order, so that the same seed
    gives the same noise there and here, if there are no known costs. Known costs have no noise.

    Args:
        oracle: a ``Problem`` or a ``SolutionCache``.
        sigma: size of the noise, in the units of the costs where it is additive.
        samples: K.
        noise: ``"additive"`` or ``"multiplicative"``.
        seed: of the noise; checkpoints save its generator.
        reduction: over the batch.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        sigma: float = 1.0,
        samples: int = 10,
        noise: Noise = "additive",
        seed: int = 0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(oracle, reduction=reduction)
        if noise not in ("additive", "multiplicative"):
            raise InputError(f"noise must be 'additive' or 'multiplicative', got {noise!r}")
        self.sigma, self.samples = check_number("sigma", sigma), check_integer("samples", samples, least=1)
        self.noise, self.seed = noise, check_integer("seed", seed, least=0)
        self._generator = torch.Generator().manual_seed(self.seed)

    def perturb(self, predicted: Tensor, instance: Tensor | None = None) -> Perturbed:
        """Draw the noise of a step and perturb ``(batch, width)`` costs, of the ``(batch,)`` members of a family."""
        batch, width = predicted.shape
        z = self.draw((batch, self.samples, width), predicted.dtype)
        z = z.to(predicted.device).transpose(0, 1).contiguous()
        if self.noise == "additive":
            self._without_known(z, 0.0)
            return Perturbed(torch.add(predicted, z, alpha=self.sigma), z, None)
        factor = self._without_known((self.sigma * z - 0.5 * self.sigma**2).exp(), 1.0)
        own = self.without_known_costs(predicted, instance)
        costs = own * factor
        return Perturbed(costs if own is predicted else costs + (predicted - own), z, factor)

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Noise of a step: standard normal numbers."""
        return torch.randn(shape, generator=self._generator, dtype=dtype)

    def without_known_costs(self, costs: Tensor, instance: Tensor | None) -> Tensor:
        """The predicted part of minimizing costs ``(batch, width)``; the costs themselves where none are known."""
        assert self.problem is not None
        if not self.problem.has_known_costs:
            return costs
        return costs - self.problem.to_minimization(costs.new_zeros(len(costs), self.problem.dimension), instance)

    def solutions_at(
        self, costs: Tensor, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> Tensor:
        """Solutions ``(m, batch, width)`` at ``m`` cost vectors per instance; over a cache by one product."""
        return torch.stack(self.query(costs.unbind(), predicted, true, solution, instance))

    def running_state(self) -> dict[str, Any]:
        """The generator of the noise."""
        return {"generator": self._generator.get_state()}

    def load_running_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved running state."""
        self._generator.set_state(state["generator"])

    def _without_known(self, noise: Tensor, neutral: float) -> Tensor:
        """Set the coordinates of known costs, where there are some, in place."""
        assert self.problem is not None
        if self.problem.width > self.problem.dimension:
            noise[..., self.problem.dimension :] = neutral
        return noise


def sum_of_gamma_noise(
    shape: tuple[int, ...], generator: torch.Generator, dtype: torch.dtype, *, kappa: float = 5.0, terms: int = 10
) -> Tensor:
    """Noise of I-MLE: the sum of ``terms`` gamma variables, centered (Niepert et al. 2021, Eq. 8)."""
    # The distributions of torch take no generator; this is the function behind them.
    draws = torch._standard_gamma(torch.full((terms, *shape), 1.0 / kappa, dtype=dtype), generator=generator)
    weights = kappa / torch.arange(1, terms + 1, dtype=dtype)
    total: Tensor = torch.tensordot(weights, draws, dims=1)
    return (total - math.log(terms)) / kappa


@final
class PerturbedFenchelYoung(PerturbedLoss):
    r"""Fenchel-Young loss of the perturbed optimizer (Berthet et al. 2020; multiplicative noise: Dalle et al. 2022).

    .. math:: \hat c^\top v^* - \frac{1}{K} \sum_k \tilde c_k^\top v^*(\tilde c_k), \qquad
              \tilde c_k = \hat c + \sigma Z_k \quad\text{or}\quad \hat c \odot \exp(\sigma Z_k - \tfrac{\sigma^2}{2})

    with standard normal :math:`Z_k`. Gradient: :math:`v^* - \frac{1}{K} \sum_k v^*(\tilde c_k)`, each solution weighted
    by the factor of the noise where that is multiplicative. It needs only the true optima, no true costs. Over a cache
    all K perturbations are looked up in one product.

    Args:
        oracle: a ``Problem`` for K exact solves per instance, or a ``SolutionCache``.
        sigma: size of the noise, in the units of the costs where it is additive.
        samples: K.
        noise: ``"additive"`` or ``"multiplicative"``, which keeps the signs of the costs.
        seed: of the noise; checkpoints save its generator.
        reduction: over the batch.
    """

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and gradients."""
        perturbed = self.perturb(predicted, instance)
        solutions = self.solutions_at(perturbed.costs, predicted, true, solution, instance)
        value = dot(predicted, solution) - (perturbed.costs * solutions).sum(2).mean(0)
        if perturbed.factor is not None:
            solutions = perturbed.factor * solutions
        return value, solution - solutions.mean(0)


@final
class PerturbedOptimizer(PerturbedLoss):
    r"""Loss of the mean perturbed solution (DPO; Berthet et al. 2020; multiplicative noise: Dalle et al. 2022).

    .. math:: \ell(\bar v, v^*), \qquad \bar v = \frac{1}{K} \sum_k v^*(\tilde c_k), \qquad
              \tilde c_k = \hat c + \sigma Z_k \quad\text{or}\quad \hat c \odot \exp(\sigma Z_k - \tfrac{\sigma^2}{2})

    with standard normal :math:`Z_k`. The mean of many solutions is a smooth function of the costs. Its Jacobian is
    estimated from the same K solutions: with the gradient g of :math:`\ell` at :math:`\bar v`, that of the loss is

    .. math:: \frac{1}{\sigma (K - 1)} \sum_k \big(g^\top v^*(\tilde c_k) - g^\top \bar v\big) Z_k ,

    divided by :math:`\hat c` for multiplicative noise. Subtracting the mean does not change the expectation and removes
    most of the variance; with K = 1 there is no mean to subtract.

    Args:
        oracle: a ``Problem`` for K exact solves per instance, or a ``SolutionCache``.
        sigma: size of the noise, in the units of the costs where it is additive.
        samples: K.
        noise: ``"additive"`` or ``"multiplicative"``, which keeps the signs of the costs.
        task: the loss of a solution: ``"squared"``, ``"absolute"`` or ``"regret"``.
        seed: of the noise; checkpoints save its generator.
        reduction: over the batch.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        sigma: float = 1.0,
        samples: int = 10,
        noise: Noise = "additive",
        task: Task = "squared",
        seed: int = 0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(oracle, sigma=sigma, samples=samples, noise=noise, seed=seed, reduction=reduction)
        self.task = known_task(task)

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and estimated gradients."""
        assert self.problem is not None
        perturbed = self.perturb(predicted, instance)
        solutions = self.solutions_at(perturbed.costs, predicted, true, solution, instance)
        value, slope = task_loss(self.task, solutions.mean(0), true, solution, dimension=self.problem.dimension)
        reward = (solutions * slope).sum(2)
        if self.samples > 1:
            reward = (reward - reward.mean(0)) * (self.samples / (self.samples - 1))
        gradient = torch.einsum("kb,kbw->bw", reward, perturbed.z) / (self.samples * self.sigma)
        if perturbed.factor is not None:
            own = self.without_known_costs(predicted, instance)
            gradient = torch.where(own == 0, 0.0, gradient / own)  # a factor cannot move a cost of zero
        return value + 0.0 * predicted.sum(1), gradient  # NaN where a prediction is NaN
