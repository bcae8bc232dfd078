"""Implicit maximum likelihood: the mean solution at perturbed costs, moved along the slope of the loss."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, final

import torch
from torch import Tensor

from regretless.errors import RegretlessWarning
from regretless.losses.base import Reduction
from regretless.losses.perturbed import PerturbedLoss, sum_of_gamma_noise
from regretless.losses.task_loss import Task, known_task, task_loss
from regretless.number_checks import check_number
from regretless.oracle import Oracle


class _ImplicitMLE(PerturbedLoss):
    """What I-MLE and AI-MLE share: finite differences of the mean perturbed solution, with the same noise."""

    def __init__(
        self, oracle: Oracle, *, sigma: float, samples: int, task: Task, central: bool, seed: int, reduction: Reduction
    ) -> None:
        super().__init__(oracle, sigma=sigma, samples=samples, seed=seed, reduction=reduction)
        self.task, self.central = known_task(task), central

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """Noise of a step, in place of normal numbers."""
        return sum_of_gamma_noise(shape, self._generator, dtype)

    def value_and_gradient(
        self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Losses and estimated gradients."""
        assert self.problem is not None
        rest = (predicted, true, solution, instance)
        costs = self.perturb(predicted, instance).costs
        with self.one_coin():
            here = self.solutions_at(costs, *rest).mean(0)
            value, slope = task_loss(self.task, here, true, solution, dimension=self.problem.dimension)
            width = self.width(self.without_known_costs(predicted, instance), slope)
            if self.central:
                both = self.solutions_at(torch.cat([costs + width * slope, costs - width * slope]), *rest)
                change = (both[: self.samples].mean(0) - both[self.samples :].mean(0)) / 2
            else:
                change = self.solutions_at(costs + width * slope, *rest).mean(0) - here
        gradient = change / width if width > 0 else torch.zeros_like(change)
        self.adapt(gradient[:, : self.problem.dimension])
        return value + 0.0 * predicted.sum(1), gradient  # NaN where a prediction is NaN

    @abstractmethod
    def width(self, predicted: Tensor, slope: Tensor) -> float:
        """Width of the finite difference, as a multiple of the slope of the task loss, both ``(batch, width)``."""

    def adapt(self, gradient: Tensor) -> None:
        """Adapt the width of the next step to the gradient ``(batch, d)`` of this one; a constant width stays."""


@final
class ImplicitMLE(_ImplicitMLE):
    r"""Implicit maximum likelihood estimation (I-MLE; Niepert, Minervini and Franceschi, NeurIPS 2021).

    .. math:: \ell(\bar v(\hat c), v^*), \qquad \bar v(c) = \frac{1}{K} \sum_k v^*(c + \sigma Z_k)

    with sum-of-gamma noise :math:`Z_k`. With the gradient g of :math:`\ell` at :math:`\bar v(\hat c)`, the gradient
    of the loss is :math:`\frac{1}{\lambda} (\bar v(\hat c + \lambda g) - \bar v(\hat c))`, at the same noise.

    Args:
        oracle: a ``Problem`` for 2 K exact solves per instance, or a ``SolutionCache``; both groups of solutions of an
            instance come from the same side of its coin.
        sigma: size of the noise, in the units of the costs.
        samples: K.
        lambda_: width of the finite difference.
        task: the loss of a solution: ``"absolute"``, ``"squared"`` or ``"regret"``.
        central: use differences to both sides, with K more solves.
        seed: of the noise; checkpoints save its generator.
        reduction: over the batch.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        sigma: float = 1.0,
        samples: int = 10,
        lambda_: float = 10.0,
        task: Task = "absolute",
        central: bool = False,
        seed: int = 0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(
            oracle, sigma=sigma, samples=samples, task=task, central=central, seed=seed, reduction=reduction
        )
        self.lambda_ = check_number("lambda_", lambda_)

    def width(self, predicted: Tensor, slope: Tensor) -> float:
        """The constant width."""
        return self.lambda_


@final
class AdaptiveImplicitMLE(_ImplicitMLE):
    r"""I-MLE whose width follows the scale of the costs (AI-MLE; Minervini, Franceschi and Niepert, AAAI 2023).

    The width is :math:`\lambda = \alpha \|\hat c\| / \|g\|`, with norms over the predicted costs of the batch.
    :math:`\alpha` starts at 1. It rises by ``step`` after every training step whose gradients are sparse (the running
    mean of the share of entries that are not zero is below 1), and falls otherwise. Everything else is as in
    ``ImplicitMLE``.

    Args:
        oracle: a ``Problem`` for 2 K exact solves per instance, or a ``SolutionCache``.
        sigma: size of the noise, in the units of the costs.
        samples: K.
        step: change of :math:`\alpha` per training step.
        task: the loss of a solution: ``"absolute"``, ``"squared"`` or ``"regret"``.
        central: use differences to both sides, with K more solves.
        seed: of the noise; checkpoints save its generator, and :math:`\alpha`.
        reduction: over the batch.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        sigma: float = 1.0,
        samples: int = 10,
        step: float = 1e-3,
        task: Task = "absolute",
        central: bool = False,
        seed: int = 0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(
            oracle, sigma=sigma, samples=samples, task=task, central=central, seed=seed, reduction=reduction
        )
        self.step = check_number("step", step, least=0)
        self._alpha, self._filled = 1.0, 1.0

    def width(self, predicted: Tensor, slope: Tensor) -> float:
        """The width of this step; 0 where no loss has a slope, and where all predictions are zero."""
        assert self.problem is not None
        size, scale = float(slope[:, : self.problem.dimension].norm()), float(predicted.norm())
        if size > 0 and scale == 0 and self.training:
            warnings.warn(
                "AdaptiveImplicitMLE has no gradient where all predicted costs of a batch are zero, so the model is "
                "not changed: start from other weights, such as those of regretless.training.fit_two_stage "
                "(start='two-stage' in train), or use ImplicitMLE, whose width is a setting",
                RegretlessWarning,
                stacklevel=2,
            )
        return self._alpha * scale / size if size > 0 else 0.0

    def adapt(self, gradient: Tensor) -> None:
        """Update alpha by the share of entries that are not zero."""
        if not self.training:
            return
        self._filled = 0.9 * self._filled + 0.1 * float((gradient.abs() > 1e-7).double().mean())
        self._alpha = self._alpha + self.step if self._filled < 1 else max(0.0, self._alpha - self.step)

    def diagnostics(self) -> dict[str, float]:
        """Alpha, for the history."""
        return {"alpha": self._alpha}

    def running_state(self) -> dict[str, Any]:
        """The generator of the noise, alpha and the running mean."""
        return super().running_state() | {"alpha": self._alpha, "filled": self._filled}

    def load_running_state(self, state: dict[str, Any]) -> None:
        """Continue from a saved running state."""
        super().load_running_state(state)
        self._alpha, self._filled = float(state["alpha"]), float(state["filled"])
