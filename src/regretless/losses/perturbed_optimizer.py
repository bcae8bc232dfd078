"""Differentiable perturbed optimizer: the loss of the mean solution at perturbed costs."""

from __future__ import annotations

from typing import final

import torch
from torch import Tensor

from regretless.losses.base import Reduction
from regretless.losses.perturbed import Noise, PerturbedLoss
from regretless.losses.task_loss import Task, known_task, task_loss
from regretless.oracle import Oracle


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
