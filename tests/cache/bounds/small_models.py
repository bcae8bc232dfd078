"""Random models that are small enough to try every decision, of every row and bound kind."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from regretless.milp import MILP

INF = np.inf


@dataclass
class Small:
    """A model, all its feasible decisions, and some costs."""

    milp: MILP
    decisions: np.ndarray
    costs: np.ndarray

    @property
    def optimum(self) -> np.ndarray:
        return (self.costs @ self.milp.solution(self.decisions).T).min(axis=1)


@st.composite
def small_models(draw, *, grouped: bool | None = None, costs: int = 3) -> Small:
    """Bounded integer models with at least one feasible decision.

    An infinite bound is drawn as well: it is put on a variable that rows hold between finite ones, so that trying every
    decision is still possible.
    """
    n = draw(st.integers(1, 5))
    lower = np.array(draw(st.lists(st.sampled_from([0, 0, 0, -1, -2]), min_size=n, max_size=n)), dtype=float)
    upper = lower + np.array(draw(st.lists(st.sampled_from([0, 1, 1, 2]), min_size=n, max_size=n)), dtype=float)
    if grouped:
        lower[: (n + 1) // 2] = 0.0
        upper[: (n + 1) // 2] = 1.0
    matrix, row_lower, row_upper = [], [], []
    for _ in range(draw(st.integers(0, 3))):
        row = np.array(draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
        right = float(draw(st.integers(-3, 3)))
        kinds = [(-INF, right), (right, INF), (right, right), (right, right + 2.0), (-INF, INF)]
        low, high = draw(st.sampled_from(kinds))
        matrix.append(row)
        row_lower.append(low)
        row_upper.append(high)
    if grouped or (grouped is None and draw(st.booleans())):
        for _ in range(draw(st.integers(1, 2))):
            row = np.zeros(n)
            row[: (n + 1) // 2] = draw(st.sampled_from([1.0, 2.0, -1.0, 0.5]))
            first = row[0]
            ends = draw(st.sampled_from([(1.0, 1.0), (0.0, 1.0), (-INF, 1.0), (-1.0, 1.0)]))
            low, high = sorted(end * first for end in ends)
            matrix.append(row)
            row_lower.append(low)
            row_upper.append(high)
    seen = (lower.copy(), upper.copy())
    if draw(st.booleans()):
        column = draw(st.integers(0, n - 1))
        row = np.zeros(n)
        row[column] = 2.0
        matrix.append(row)
        row_lower.append(2.0 * lower[column])
        row_upper.append(2.0 * upper[column])
        which = draw(st.sampled_from(["lower", "upper", "both"]))
        if which != "upper":
            lower[column] = -INF
        if which != "lower":
            upper[column] = INF
    matrix = np.array(matrix).reshape(-1, n)
    d = draw(st.integers(1, 3))
    cost_map = draw(st.sampled_from([None, "map"]))
    if cost_map is not None:
        cost_map = np.array(draw(st.lists(st.integers(-2, 2), min_size=d * n, max_size=d * n)), dtype=float)
        cost_map = cost_map.reshape(d, n)
    fixed = None
    if draw(st.booleans()):
        fixed = np.array(draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)), dtype=float)
    milp = MILP(
        matrix,
        row_lower=np.array(row_lower),
        row_upper=np.array(row_upper),
        lower=lower,
        upper=upper,
        cost_map=cost_map,
        fixed_cost=fixed,
        constant=draw(st.sampled_from([0.0, 0.0, 1.5])),
    )
    decisions = np.array(list(itertools.product(*[np.arange(a, b + 1) for a, b in zip(*seen, strict=True)])))
    decisions = decisions[milp.check(decisions)]
    if not len(decisions):  # shift every row so that one decision is feasible
        x = np.array([draw(st.integers(int(a), int(b))) for a, b in zip(*seen, strict=True)], dtype=float)
        activity = matrix @ x
        milp = MILP(
            matrix,
            row_lower=np.where(np.isinf(row_lower), -INF, activity),
            row_upper=np.where(np.isinf(row_upper), INF, activity),
            lower=lower,
            upper=upper,
            cost_map=cost_map,
            fixed_cost=fixed,
        )
        decisions = np.array(list(itertools.product(*[np.arange(a, b + 1) for a, b in zip(*seen, strict=True)])))
        decisions = decisions[milp.check(decisions)]
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = generator.normal(size=(costs, milp.width)) * draw(st.sampled_from([1.0, 1e-3, 1e3]))
    if milp.has_fixed_cost:
        values[:, -1] = 1.0
    return Small(milp, decisions, values)
