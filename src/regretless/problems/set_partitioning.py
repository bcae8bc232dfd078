"""Choose sets that hold every element once: the linear relaxation over all sets, and the exact choice among some."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.milp import MILP, Floats
from regretless.problems.feasible_sets import Ids
from regretless.solvers.engine import Outcome
from regretless.solvers.highs import HighsEngine, bare_highs, run_program

NEGATIVE = 1e-7
SETS_PER_ROUND = 200


class SetPartitioning:
    """``min lengths . x`` over binaries with every element in one chosen set, and a bounded number of sets.

    Args:
        members: ``(elements, sets)`` ones where an element is in a set.
        least, most: number of sets to choose.
    """

    def __init__(self, members: Floats, least: int, most: int) -> None:
        self._rows = np.vstack([members, np.ones((1, members.shape[1]))])
        self._low, self._high = (np.append(np.ones(len(members)), count) for count in (float(least), float(most)))
        self._sizes = members.sum(axis=0)

    def relaxed(self, lengths: Floats) -> tuple[float, Floats] | None:
        """The minimum over fractions of sets, and the reduced cost ``(sets,)`` of every set; ``None`` if infeasible.

        Few sets take part: the program starts with some, and those whose reduced cost is negative join it until there
        are none (column generation).

        Raises:
            ProgramError: HiGHS fails.
        """
        highspy, highs = bare_highs("solve vehicle routing")
        rows, none = len(self._rows), np.zeros(0)
        highs.addRows(rows, self._low, self._high, 0, np.zeros(rows, np.int32), none.astype(np.int32), none)
        # One artificial set per row makes the first program feasible; it costs more than any choice of sets.
        penalty = 1.0 + 2.0 * rows * float(np.abs(lengths).max(initial=0.0))
        _add(highs, np.full(rows, penalty), np.eye(rows), highspy.kHighsInf)
        joining = np.argsort(lengths / self._sizes)[:SETS_PER_ROUND]
        outside = np.ones(len(lengths), dtype=bool)  # a set joins once, whatever rounding says of its reduced cost
        while True:
            outside[joining] = False
            _add(highs, lengths[joining], self._rows[:, joining], highspy.kHighsInf)
            run_program(highspy, highs)  # feasible, by the artificial sets
            solution = highs.getSolution()
            reduced = lengths - np.asarray(solution.row_dual) @ self._rows
            joining = np.flatnonzero((reduced < -NEGATIVE) & outside)
            if not len(joining):
                break
            if len(joining) > SETS_PER_ROUND:
                joining = joining[np.argpartition(reduced[joining], SETS_PER_ROUND)[:SETS_PER_ROUND]]
        if max(solution.col_value[:rows]) > NEGATIVE:
            return None
        return float(highs.getInfo().objective_function_value), reduced

    def chosen(self, lengths: Floats, among: Ids, time_limit: float | None) -> Outcome:
        """The best choice ``(among,)`` of the sets ``among``."""
        milp = MILP(self._rows[:, among], row_lower=self._low, row_upper=self._high)
        return HighsEngine(milp, time_limit=time_limit).solve(lengths[among])


def _add(highs: Any, costs: Floats, columns: Floats, infinity: float) -> None:
    """Add columns ``(rows, columns)`` with non-negative variables."""
    place, row = np.nonzero(columns.T)
    starts = np.searchsorted(place, np.arange(len(costs))).astype(np.int32)
    lower, upper = np.zeros(len(costs)), np.full(len(costs), infinity)
    highs.addCols(len(costs), costs, lower, upper, len(row), starts, row.astype(np.int32), np.ones(len(row)))
