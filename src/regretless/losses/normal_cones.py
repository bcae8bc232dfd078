"""The costs at which a decision is optimal for a linear relaxation: the cone of its tight normals."""

from __future__ import annotations

import numpy as np

from regretless.milp import MILP, TOLERANCE, Floats


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
