from __future__ import annotations

from types import SimpleNamespace

import pytest

from regretless.modeling.convex_gap import integer_gap, with_gap_closed
from regretless.types import Status

HIGHS = SimpleNamespace(objective_function_value=-10.0, mip_dual_bound=-11.0)
SCIP = SimpleNamespace(getPrimalbound=lambda: -10.0, getDualbound=lambda: -11.0)


@pytest.mark.parametrize(
    "stats",
    [
        HIGHS,
        SimpleNamespace(ObjVal=-10.0, ObjBound=-11.0),
        {"scip_status": "optimal", "model": SCIP},
        {"mip_gap": 0.1, "mip_node_count": 1, "mip_dual_bound": -11.0},
    ],
)
def test_the_gap_is_read_from_what_each_solver_leaves(stats: object) -> None:
    status, gap = integer_gap(stats, done=True) or (Status.ERROR, 0.0)
    assert (status, gap) == (Status.FEASIBLE, pytest.approx(0.1))
    status, gap = integer_gap(stats, done=False) or (Status.ERROR, 0.0)
    assert (status, gap) == (Status.TIME_LIMIT, pytest.approx(0.1))


def test_a_closed_gap_is_optimal_and_the_gap_limit_of_scip_is_no_time_limit() -> None:
    closed = SimpleNamespace(objective_function_value=-10.0, mip_dual_bound=-10.0 - 1e-7)
    assert integer_gap(closed, done=True) == (Status.OPTIMAL, 0.0)
    status, _ = integer_gap({"scip_status": "gaplimit", "model": SCIP}, done=False) or (Status.ERROR, 0.0)
    assert status is Status.FEASIBLE


def test_of_other_solvers_no_bound_is_known() -> None:
    for stats in (None, {}, object()):
        assert integer_gap(stats, done=True) is None


@pytest.mark.parametrize(
    ("solver", "options", "said"),
    [
        ("HIGHS", {}, {"mip_rel_gap": 0.0}),
        ("HIGHS", {"highs_options": {"mip_rel_gap": 0.2}}, {"highs_options": {"mip_rel_gap": 0.2}}),
        ("SCIPY", {"scipy_options": {"disp": True}}, {"scipy_options": {"mip_rel_gap": 0.0, "disp": True}}),
        ("SCIPY", {"scipy_options": {"mip_rel_gap": 0.2}}, {"scipy_options": {"mip_rel_gap": 0.2}}),
        ("GUROBI", {"MIPGap": 0.2}, {"MIPGap": 0.2}),
        ("GLPK_MI", {}, {}),
    ],
)
def test_a_solver_ends_at_the_optimum_unless_its_options_hold_a_gap(
    solver: str, options: dict[str, object], said: dict[str, object]
) -> None:
    assert with_gap_closed(solver, options) == said
