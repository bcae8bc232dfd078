"""Perturbed Fenchel-Young loss: the true optimum against the mean solution at perturbed costs."""

from __future__ import annotations

from typing import final

from torch import Tensor

from regretless.losses.base import dot
from regretless.losses.perturbed import PerturbedLoss


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
