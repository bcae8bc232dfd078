"""Two-stage: the prediction error, without regard to the decision."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.losses.autograd_loss import AutogradLoss
from regretless.losses.base import Reduction
from regretless.losses.loss_checks import needs_oracle
from regretless.oracle import Oracle
from regretless.problem import Problem


class TwoStage(AutogradLoss):
    r"""Prediction error: mean squared error, or binary cross-entropy for costs that are 0/1 labels.

    .. math:: \frac{1}{d} \| \hat c - c \|^2 \quad\text{or}\quad
              -\frac{1}{d} \sum_j c_j \log \hat c_j + (1 - c_j) \log (1 - \hat c_j)

    Gradients: :math:`2 (\hat c - c) / d` and :math:`(\hat c - c) / (d\, \hat c (1 - \hat c))`.

    Args:
        problem: only for evaluation in ``fit``, a ``Problem`` or a cache around one; the loss does not use it.
        criterion: ``"mse"`` or ``"bce"``; the latter takes predictions that are probabilities.
        reduction: over the batch.
    """

    def __init__(
        self,
        problem: Oracle | None = None,
        *,
        criterion: Literal["mse", "bce"] = "mse",
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(None, reduction=reduction)
        if criterion not in ("mse", "bce"):
            raise InputError(f"criterion must be 'mse' or 'bce', got {criterion!r}")
        self.criterion = criterion
        self._problem = None if problem is None else needs_oracle("TwoStage", problem).problem

    @property
    def problem(self) -> Problem | None:
        """The problem at which a model is evaluated; the loss itself does not use it."""
        return self._problem

    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Errors ``(batch,)``, each the mean over its costs."""
        if self.criterion == "mse":
            return (predicted - true).square().mean(dim=1)
        for what, values in (("predictions", predicted.detach()), ("labels", true)):
            if not bool(((values >= 0) & (values <= 1)).all()):  # in this form NaN is refused too
                low, high = float(values.min()), float(values.max())
                raise InputError(f"criterion 'bce' needs {what} between 0 and 1, got {low} .. {high}")
        return torch.nn.functional.binary_cross_entropy(predicted, true, reduction="none").mean(dim=1)
