"""Cone alignment: the predicted costs must point into the cone of costs at which the true optimum is optimal."""

from __future__ import annotations

from typing import final

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.family import member
from regretless.losses.autograd_loss import AutogradLoss
from regretless.losses.base import Reduction
from regretless.losses.loss_checks import needs_oracle
from regretless.milp import MILP, TOLERANCE, Floats
from regretless.number_checks import check_number
from regretless.oracle import Oracle
from regretless.solvers.checked_solve import check_finite


class NormalCones:
    """The cones of the tight normals of one model, at any of its feasible decisions.

    A decision x is an optimum of the linear relaxation at costs c exactly where ``-c`` lies in the cone at x.

    Args:
        milp: the model; that variables are integer plays no role.
    """

    def __init__(self, milp: MILP) -> None:
        self.milp = milp
        equal, fixed = milp.row_lower == milp.row_upper, milp.lower == milp.upper
        rows = milp.A.toarray()
        unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(float).tiny)
        always = np.vstack([unit[equal], np.eye(milp.n)[fixed]])
        # Normals of equalities have either sign, so they span a subspace. What is left of the cone is orthogonal to it.
        _, size, basis = np.linalg.svd(always, full_matrices=False)
        basis = basis[size > TOLERANCE * max(size.max(initial=0.0), 1.0)]
        self._rest = np.eye(milp.n) - basis.T @ basis
        self._A, self._free = milp.A[~equal], ~fixed
        self._row_lower, self._row_upper = milp.row_lower[~equal], milp.row_upper[~equal]
        self._rows = unit[~equal] @ self._rest
        self._sizes = abs(self._A)
        self._least = np.maximum(1.0, self._sizes.max(axis=1).toarray().ravel()) if self._A.nnz else 1.0

    def normals(self, x: Floats) -> Floats:
        """Tight normals ``(m, n)`` at a decision, outward, without their part in the subspace of the equalities.

        Their length is 1, so that rows in different units have equal weight.
        """
        value = self._A @ x
        # Single precision rounds a decision, and a row by as much of the sum of its terms.
        row_room = TOLERANCE * np.maximum(self._least, self._sizes @ np.abs(x))
        room = TOLERANCE * np.maximum(1.0, np.abs(x))
        at_upper = self._free & (x >= self.milp.upper - room)
        at_lower = self._free & (x <= self.milp.lower + room)
        row_upper, row_lower = value >= self._row_upper - row_room, value <= self._row_lower + row_room
        tight = [self._rows[row_upper], -self._rows[row_lower], self._rest[at_upper], -self._rest[at_lower]]
        normals = np.vstack(tight)
        lengths = np.linalg.norm(normals, axis=1)
        beside = lengths > TOLERANCE  # the others lie in the subspace, up to rounding
        unit: Floats = normals[beside] / lengths[beside, None]
        return unit

    def project(self, y: Floats, normals: Floats) -> Floats:
        """Point of the cone nearest to ``y``, by non-negative least squares."""
        rest = self._rest @ y
        point: Floats = y - rest
        if len(normals):
            from scipy.optimize import nnls  # a quarter of a second, which other losses do not need

            weights, _ = nnls(normals.T, rest, maxiter=30 * len(normals))
            point = point + weights @ normals
        return point

    def inside(self, y: Floats, x: Floats, inner: float) -> Floats:
        """A point of the cone at ``x`` near ``y``: its projection, moved by a share ``inner`` to the mean normal."""
        normals = self.normals(x)
        point = self.project(y, normals)
        if inner == 0.0:
            return point
        return (1 - inner) * _unit(point) + inner * _unit(normals.sum(axis=0))


def _unit(vector: Floats) -> Floats:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


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
