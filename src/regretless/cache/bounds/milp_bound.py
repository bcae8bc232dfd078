"""The Lagrangian bound of one MILP, with its cached multipliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.cache.bounds.easy_set import EasySet, Offsets, find_groups
from regretless.cache.bounds.multipliers import MultiplierSet, RelaxationMultipliers
from regretless.errors import MissingDependencyError
from regretless.milp import MILP, Floats

BLOCK_VALUES = 4_000_000
CLOSED = 1e-9  # relative gap at which a bound counts as closed
PATIENCE = 32  # after this many consecutive relaxations without a gain, no more are solved
WORTH = 0.01  # share of the open gap that a relaxation must close to count as a gain
NOISE = 1e-12
# Sums of float64 products: a bound must not lie above the optimum by their rounding.
ROUNDING = 16 * float(np.finfo(np.float64).eps)


class MilpBound:
    r"""``L(c; y) = constant + sum of y_i b_i + min over the easy set of (c' - A'y) . x``, the best of a few ``y``.

    The easy set consists of the group rows and the box; all other rows are dualized. ``b_i`` is the lower bound of the
    row if ``y_i > 0`` and its upper bound if ``y_i < 0``. The bound is valid for every ``y``, so the multipliers of one
    cost vector serve all others. They are stored for costs of unit size and scaled to the size of the given costs.

    Args:
        milp: the model.
        most: number of multipliers to store.
    """

    def __init__(self, milp: MILP, *, most: int = 32) -> None:
        self.milp = milp
        self.groups = find_groups(milp)
        dualized = np.setdiff1d(np.arange(milp.A.shape[0]), [group.row for group in self.groups])
        self.dualized = dualized
        self._matrix = milp.A[dualized]
        self._low, self._high = milp.row_lower[dualized], milp.row_upper[dualized]
        self.easy = EasySet(milp, self.groups)
        self.multipliers = MultiplierSet(len(dualized), most=most)
        self._linear: RelaxationMultipliers | None = None
        self._reference: Floats | None = None
        self._layout: tuple[Tensor, Offsets] | None = None
        self._without_gain = 0

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_linear": None}  # a solver cannot be copied; the copy builds a new one

    def __call__(self, costs: Tensor, *, note: bool = False) -> Tensor:
        """Bounds ``(batch,)`` at float64 costs ``(batch, width)``; with ``note`` the best multipliers are counted."""
        if self._layout is None:
            self._layout = self._arrange(self.multipliers.values)
        best, winners = self._evaluate(costs, *self._layout).max(dim=1)
        if note:
            self.multipliers.used(winners.numpy())
        return best

    def at(self, costs: Tensor, y: Floats) -> Tensor:
        """Bounds ``(batch,)`` with unscaled multipliers ``y`` ``(dualized rows,)``, stored or not."""
        layout = self._arrange(self._allowed(y)[None])
        return self._evaluate(costs, *layout, scale=costs.new_ones(len(costs)))[:, 0]

    def relax(self, costs: Tensor, *, keep: bool) -> Tensor:
        """Bounds ``(batch,)`` with the multipliers of the relaxation at each cost; ``keep`` stores them."""
        found, sizes = costs.new_full((len(costs),), -torch.inf), _size(costs).tolist()
        for k, size in enumerate(sizes):
            row = costs[k : k + 1]
            y = self._solve_relaxation(row)
            if y is None:
                continue
            found[k] = self.at(row, y)[0]
            if keep and self.multipliers.add(self._allowed(y) / size):
                self._layout = None
        return found

    def learn(self, costs: Tensor, value: Tensor) -> None:
        """Solve relaxations at costs with known optima ``value`` ``(batch,)`` if the stored multipliers leave a gap."""
        if self._without_gain >= PATIENCE:
            return
        enough = value - CLOSED * value.abs()
        for k in (self(costs) < enough).nonzero()[:, 0].tolist():
            before = self(costs[k : k + 1])[0]  # with the multipliers added for this batch so far
            if self._without_gain < PATIENCE and before < enough[k]:
                now = self.relax(costs[k : k + 1], keep=True)[0]
                gain = torch.isneginf(before) or now - before > WORTH * (value[k] - before)
                self._without_gain = 0 if gain else self._without_gain + 1

    def seed(self, costs: Tensor) -> None:
        """Store the multipliers of the relaxation at some costs, before anything is solved."""
        self.relax(costs, keep=True)

    def state_dict(self) -> dict[str, Any]:
        """Multipliers, and the objective of the reference basis."""
        reference = None if self._reference is None else torch.from_numpy(self._reference.copy())
        return {"multipliers": self.multipliers.state_dict(), "reference": reference, "in_vain": self._without_gain}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore ``state``."""
        self.multipliers.load_state_dict(state["multipliers"])
        reference = state["reference"]
        self._reference = None if reference is None else reference.numpy().copy()
        self._linear, self._layout, self._without_gain = None, None, int(state["in_vain"])

    def _solve_relaxation(self, row: Tensor) -> Floats | None:
        objective = self.milp.objective(row.numpy())[0]
        if self._linear is None:
            reference = objective if self._reference is None else self._reference
            try:
                self._linear = RelaxationMultipliers(self.milp, reference)
            except MissingDependencyError:  # without an LP solver only the stored multipliers are used
                self._without_gain = PATIENCE
                return None
            self._reference = reference
        y = self._linear(objective)
        return None if y is None else y[self.dualized]

    def _allowed(self, y: Floats) -> Floats:
        """Set multipliers to zero that are noise or belong to an infinite bound."""
        bad = ((y > 0) & np.isneginf(self._low)) | ((y < 0) & np.isposinf(self._high))
        return np.where(bad | (np.abs(y) <= NOISE * np.abs(y).max(initial=0.0)), 0.0, y)

    def _arrange(self, values: Floats) -> tuple[Tensor, Offsets]:
        """The part of the rows, less what rounding may add to the bounds, and the offsets of the easy set."""
        rows = values * np.where(values > 0, self._low, np.where(values < 0, self._high, 0.0))
        if not len(self.dualized):
            priced = np.zeros((len(values), self.milp.n))
            return torch.zeros(len(values), dtype=torch.float64), self.easy.offsets(priced, priced)
        # Where multipliers are large and the bound is small, both parts cancel.
        sizes = (abs(self._matrix).T @ np.abs(values).T).T
        terms = np.abs(rows).sum(axis=1) + self.easy.largest(sizes)
        safe = torch.from_numpy(rows.sum(axis=1) - ROUNDING * terms)
        return safe, self.easy.offsets((self._matrix.T @ values.T).T, sizes)

    def _evaluate(self, costs: Tensor, rows: Tensor, offsets: Offsets, scale: Tensor | None = None) -> Tensor:
        """Bounds ``(batch, K)`` of all multipliers, in blocks of bounded memory."""
        scale = _size(costs) if scale is None else scale
        block = max(1, BLOCK_VALUES // max(1, len(rows) * self.easy.size))
        parts = [
            self.easy.minimum(self.easy.costs(part), offsets, factor)
            for part, factor in zip(torch.split(costs, block), torch.split(scale, block), strict=True)
        ]
        bounds = scale[:, None] * rows + (torch.cat(parts) if len(parts) > 1 else parts[0])
        if self.milp.constant != 0.0:
            bounds += costs[:, self.milp.dimension :] * self.milp.constant
        return bounds


def _size(costs: Tensor) -> Tensor:
    size = costs.abs().sum(dim=1)
    return torch.where(size > 0, size, 1.0)
