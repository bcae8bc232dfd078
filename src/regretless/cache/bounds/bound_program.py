"""The Lagrangian bound of one programme, with its cached multipliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.cache.bounds.easy_set import EasySet
from regretless.cache.bounds.groups import find_groups
from regretless.cache.bounds.linear_bound import LinearMultipliers
from regretless.cache.bounds.multipliers import Multipliers
from regretless.errors import MissingDependencyError
from regretless.milp import MILP, Floats

BLOCK_VALUES = 4_000_000
CLOSED = 1e-9  # relative to the value: what is closer is closed
PATIENCE = 32  # relaxations in a row that closed nothing, after which no more are solved
WORTH = 0.01  # share of the open gap that a relaxation must close to count
NOISE = 1e-12


class ProgrammeBound:
    r"""``L(c; y) = constant + sum of y_i b_i + min over the easy set of (c' - A'y) . x``, the best of a few ``y``.

    The group rows and the box are the easy set, all other rows are dualised; ``b_i`` is the row's lower bound where
    ``y_i > 0`` and its upper bound where ``y_i < 0``. It is right for every ``y``, so multipliers of one cost serve all
    others; they are kept for costs of unit size and scaled to the size of the cost at hand.

    Args:
        milp: the programme.
        most: multipliers to keep.
    """

    def __init__(self, milp: MILP, *, most: int = 32) -> None:
        self.milp = milp
        self.groups = find_groups(milp)
        dualised = np.ones(milp.A.shape[0], dtype=bool)
        dualised[[group.row for group in self.groups]] = False
        self.dualised = np.flatnonzero(dualised)
        self._matrix = milp.A[self.dualised]
        self._low, self._high = milp.row_lower[self.dualised], milp.row_upper[self.dualised]
        self.easy = EasySet(milp, self.groups)
        self.multipliers = Multipliers(len(self.dualised), most=most)
        self._linear: LinearMultipliers | None = None
        self._reference: Floats | None = None
        self._laid: tuple[Tensor, list[Tensor]] | None = None
        self._in_vain = 0

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_linear": None}  # a solver cannot be copied; it is built again when it is needed

    def __call__(self, costs: Tensor, *, note: bool = False) -> Tensor:
        """Bounds ``(batch,)`` at float64 costs ``(batch, width)``; with ``note`` the best multipliers are counted."""
        if self._laid is None:
            self._laid = self._lay(self.multipliers.values)
        best, winners = self._evaluate(costs, *self._laid).max(dim=1)
        if note:
            self.multipliers.used(winners.numpy())
        return best

    def at(self, costs: Tensor, y: Floats) -> Tensor:
        """Bounds ``(batch,)`` with multipliers ``y`` ``(dualised rows,)`` of the cost itself, kept or not."""
        laid = self._lay(self._allowed(y)[None])
        return self._evaluate(costs, *laid, scale=costs.new_ones(len(costs)))[:, 0]

    def relax(self, costs: Tensor, *, keep: bool) -> Tensor:
        """Bounds ``(batch,)`` with the multipliers of the relaxation at each cost; ``keep`` adds them to the set."""
        found, sizes = costs.new_full((len(costs),), -torch.inf), _size(costs).tolist()
        for k, size in enumerate(sizes):
            row = costs[k : k + 1]
            y = self._solve_relaxation(row)
            if y is None:
                continue
            found[k] = self.at(row, y)[0]
            if keep and self.multipliers.add(self._allowed(y) / size):
                self._laid = None
        return found

    def learn(self, costs: Tensor, value: Tensor) -> None:
        """Relaxations at costs that were solved to ``value`` ``(batch,)``, where the kept multipliers leave a gap."""
        if self._in_vain >= PATIENCE or self.multipliers.most == 1:
            return
        enough = value - CLOSED * value.abs()
        for k in (self(costs) < enough).nonzero()[:, 0].tolist():
            before = self(costs[k : k + 1])[0]  # with what this batch has brought so far
            if self._in_vain < PATIENCE and before < enough[k]:
                now = self.relax(costs[k : k + 1], keep=True)[0]
                helped = torch.isneginf(before) or now - before > WORTH * (value[k] - before)
                self._in_vain = 0 if helped else self._in_vain + 1

    def seed(self, costs: Tensor) -> None:
        """Multipliers of the relaxation at some costs, before anything is solved."""
        self.relax(costs, keep=True)

    def state_dict(self) -> dict[str, Any]:
        """Multipliers, and the objective whose basis the relaxations start from."""
        reference = None if self._reference is None else torch.from_numpy(self._reference.copy())
        return {"multipliers": self.multipliers.state_dict(), "reference": reference, "in_vain": self._in_vain}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from ``state``."""
        self.multipliers.load_state_dict(state["multipliers"])
        reference = state["reference"]
        self._reference = None if reference is None else reference.numpy().copy()
        self._linear, self._laid, self._in_vain = None, None, int(state["in_vain"])

    def _solve_relaxation(self, row: Tensor) -> Floats | None:
        objective = self.milp.objective(row.numpy())[0]
        if self._linear is None:
            try:
                self._linear = LinearMultipliers(self.milp)
            except MissingDependencyError:  # without an LP solver the multipliers that are there must do
                self._in_vain = PATIENCE
                return None
            if self._reference is None:
                self._reference = objective
            self._linear.refer_to(self._reference)
        y = self._linear(objective)
        return None if y is None else y[self.dualised]

    def _allowed(self, y: Floats) -> Floats:
        """Multipliers without noise, and zero where the bound that they would pull at is infinite."""
        bad = ((y > 0) & np.isneginf(self._low)) | ((y < 0) & np.isposinf(self._high))
        return np.where(bad | (np.abs(y) <= NOISE * np.abs(y).max(initial=0.0)), 0.0, y)

    def _lay(self, values: Floats) -> tuple[Tensor, list[Tensor]]:
        active = np.where(values > 0, self._low, np.where(values < 0, self._high, 0.0))
        offsets = self.easy.offsets((self._matrix.T @ values.T).T if len(self.dualised) else self._nothing(values))
        return torch.from_numpy((values * active).sum(axis=1)), offsets

    def _nothing(self, values: Floats) -> Floats:
        return np.zeros((len(values), self.milp.n))

    def _evaluate(self, costs: Tensor, rows: Tensor, offsets: list[Tensor], scale: Tensor | None = None) -> Tensor:
        """Bounds ``(batch, K)`` of every multiplier, in blocks of bounded memory."""
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
