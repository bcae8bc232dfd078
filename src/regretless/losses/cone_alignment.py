"""Cone alignment: the predicted costs must point into the cone of costs at which the true optimum is optimal."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.family import member
from regretless.losses.autograd_loss import AutogradLoss
from regretless.losses.base import Reduction, needs_oracle
from regretless.losses.normal_cones import NormalCones
from regretless.number_checks import check_number
from regretless.oracle import Oracle
from regretless.solvers.checked_solve import check_finite


@final
class ConeAlignment(AutogradLoss):
    r"""Angle between the predicted costs and the optimality cone of the true optimum (CaVE; Tang and Khalil 2024).

    .. math:: 1 - \cos(-\hat c, p), \qquad
              p = (1 - r) \frac{\Pi(-\hat c)}{\|\Pi(-\hat c)\|} + r \frac{\bar a}{\|\bar a\|}

    The rows and bounds that are tight at :math:`v^*` have normals; :math:`\Pi` projects on the cone that these span,
    and :math:`\bar a` is the mean of the normals, a point inside of the cone. :math:`v^*` is an optimum of the linear
    relaxation at :math:`\hat c` exactly where :math:`-\hat c` lies in the cone. No solver is called, and neither true
    costs are needed nor a cache.

    The projection is exact, by non-negative least squares. With r = 0 (the original's CaVE-E) it lies on the boundary
    of the cone, and training stops there. The original's CaVE+ stays inside by stopping an interior-point solver after
    three iterations; r > 0 has the same purpose, but is another loss.

    In the gradient p is held constant. For r = 0 this is the exact gradient; for r > 0, where the mean normal is mixed
    in, it differs a little from finite differences.

    Args:
        oracle: the problem; it needs a MILP whose costs belong to its variables.
        inner: r, share of the mean normal, between 0 and 1.
        reduction: over the batch.

    Raises:
        InputError: ``inner`` is out of range, or the problem has no model or one with a cost map.
    """

    def __init__(self, oracle: Oracle, *, inner: float = 0.1, reduction: Reduction = "mean") -> None:
        super().__init__(needs_oracle("ConeAlignment", oracle), reduction=reduction)
        if check_number("inner", inner, least=0, most=1) == 1:
            raise InputError(f"inner must be at least 0 and below 1, got {inner}")
        model = oracle.problem.model
        if model is None or member(model).cost_map is not None:
            raise InputError(
                "ConeAlignment needs a problem with a MILP whose costs belong to its variables (no cost_map): "
                "use a loss that needs only the solver, such as SPOPlus"
            )
        self.inner, self._model = float(inner), model
        self._cones: dict[int, NormalCones] = {}

    def per_instance(self, predicted: Tensor, true: Tensor, solution: Tensor, instance: Tensor | None) -> Tensor:
        """Losses ``(batch,)``."""
        check_finite(predicted.detach())
        ids = [0] * len(predicted) if instance is None else instance.tolist()
        for i in set(ids) - self._cones.keys():
            self._cones[i] = NormalCones(member(self._model, i))
        n = self._cones[ids[0]].milp.n if ids else predicted.shape[1]
        direction = -predicted[:, :n]
        if predicted.shape[1] > n:  # known costs
            known = np.array([self._cones[i].milp.fixed_cost for i in ids]).reshape(len(ids), n)
            direction = direction - predicted[:, n:] * torch.as_tensor(known).to(predicted)
        # An angle has no scale, and both the projection and torch's cosine have absolute tolerances.
        scale = direction.detach().abs().amax(dim=1, keepdim=True)
        direction = direction / torch.where(scale > 0, scale, 1.0)
        given, decisions = direction.detach().double().cpu().numpy(), solution[:, :n].double().cpu().numpy()
        points = [self._cones[i].inside(y, x, self.inner) for i, y, x in zip(ids, given, decisions, strict=True)]
        inside = torch.as_tensor(np.array(points).reshape(given.shape)).to(predicted)
        return 1.0 - torch.nn.functional.cosine_similarity(direction, inside, dim=1)
