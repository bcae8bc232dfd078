from __future__ import annotations

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from regretless.errors import InputError, MissingDependencyError
from regretless.milp import MILP
from regretless.solvers import EnginePool, make_engine
from regretless.solvers.cpsat import scaled
from regretless.types import Status

KNAPSACK = MILP([[3.0, 4.0, 5.0, 2.0]], row_upper=7.0)
costs = st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=6)


@given(costs, st.integers(0, 1000))
@example([2.2250738585072014e-308], 0)
def test_scaled_costs_stay_in_range_and_the_bound_on_the_loss_holds(values, upper):
    objective = np.array(values)
    low, high = np.full(len(values), -3.0), np.full(len(values), float(upper))
    integers, scale, lost = scaled(objective, low, high)
    assert math.frexp(scale)[0] == 0.5
    assert sum(abs(w) * max(3, upper) for w in integers) <= 2**53
    residual = [abs(w - c * scale) for w, c in zip(integers, values, strict=True)]
    assert lost * scale == pytest.approx(sum(r * (upper + 3) for r in residual), rel=1e-6, abs=1e-300)


@given(st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=8), st.integers(-8, 8))
def test_costs_that_are_integers_in_some_power_of_two_are_exact_and_small(values, power):
    objective = np.array(values) * 2.0**power
    integers, scale, lost = scaled(objective, np.zeros(len(values)), np.ones(len(values)))
    assert lost == 0.0
    assert [w / scale for w in integers] == objective.tolist()
    assert max(map(abs, integers)) <= 2**20


def test_a_missing_package_is_named_with_its_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools.sat.python.cp_model", None)
    with pytest.raises(MissingDependencyError, match="pip install 'ortools'"):
        make_engine("cpsat", KNAPSACK)


class TestWithCpSat:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("ortools")

    @pytest.mark.parametrize("row", [[0.0, 0.0], [2.0, 4.0]])
    def test_a_row_whose_bounds_hold_no_integer_is_infeasible(self, row):
        engine = make_engine("cpsat", MILP([row], row_lower=0.6, row_upper=0.6))
        assert engine.solve(np.ones(2)).status is Status.INFEASIBLE

    def test_integer_costs_have_no_gap_and_others_report_theirs(self):
        engine = make_engine("cpsat", KNAPSACK)
        exact = engine.solve(np.array([-3.0, -4.5, -5.25, -2.0]))
        assert (exact.gap, engine.engine.scale) == (0.0, 4.0)
        rounded = engine.solve(np.array([-0.1, -0.2, -0.3, -0.7]))
        assert 0.0 < rounded.gap < 1e-12
        assert rounded.status is Status.OPTIMAL

    def test_single_precision_costs_of_one_size_are_exact(self):
        objective = torch.tensor([-0.1, -0.2, -0.3, -0.7]).double().numpy()
        assert make_engine("cpsat", KNAPSACK).solve(objective).gap == 0.0

    def test_the_gap_reaches_the_batch(self):
        batch = torch.tensor([[-0.1, -0.2, -0.3, -0.7], [1.0, 1.0, 1.0, 1.0]], dtype=torch.float64)
        solved = EnginePool(KNAPSACK, engine="cpsat").solve(batch)
        assert solved.status is None
        assert solved.gap is not None
        assert (solved.gap > 0).tolist() == [True, False]

    def test_an_optimum_that_rounding_may_have_lost_is_refused(self):
        # the second cost vanishes beside the first, whose variable reaches 2**40
        milp = MILP([[1.0, 0.0], [0.0, 1.0]], row_lower=[1.0, 0.0], row_upper=2.0**40, upper=[2.0**40, 2.0**40])
        outcome = make_engine("cpsat", milp).solve(np.array([1.0 / 3.0, 1e-9]))
        assert (outcome.status, outcome.x) == (Status.ERROR, None)
        assert "integer costs" in outcome.message

    def test_brute_force_on_wide_costs(self):
        rng = np.random.default_rng(0)
        milp = MILP(rng.integers(1, 9, (2, 8)), row_upper=18.0)
        points = np.array(list(itertools.product((0.0, 1.0), repeat=8)))
        points = points[milp.check(points)]
        engine = make_engine("cpsat", milp)
        for _ in range(20):
            objective = rng.normal(size=8) * 10.0 ** rng.integers(-3, 4, 8)
            outcome = engine.solve(objective)
            best = (points @ objective).min()
            assert objective @ outcome.x == pytest.approx(best, abs=outcome.gap * max(abs(best), abs(objective).max()))

    def test_a_hint_is_used_and_forgotten(self):
        rng = np.random.default_rng(3)
        A = rng.integers(0, 100, (5, 40)).astype(float)
        start = rng.integers(0, 2, 40).astype(float)
        engine = make_engine("cpsat", MILP(A, row_lower=A @ start, row_upper=A @ start), time_limit=0.2)
        objective = rng.normal(size=40)
        outcome = engine.solve(objective, start)
        assert outcome.status is Status.TIME_LIMIT
        assert np.array_equal(outcome.x, start)
        assert engine.solve(objective).x is None

    def test_limits_of_the_engine_are_named(self):
        for milp, message in (
            (MILP([[1.0, 1.0]], integer=[True, False], names=("a", "b")), "'b' is continuous"),
            (MILP([[1.0, 1.0]], upper=[1.0, np.inf]), "bounds on every variable.*variable 1"),
            (MILP([[1.0, 1.0], [1.0, math.pi]], row_upper=2.0), "row 1 holds 3.14"),
        ):
            with pytest.raises(InputError, match=message):
                make_engine("cpsat", milp)

    # Each in a process of its own; the second one of two copies of a shared library is the one that may fail to load.
    @pytest.mark.parametrize("order", [("cpsat", "highs"), pytest.param(("highs", "cpsat"), marks=pytest.mark.slow)])
    def test_ortools_and_highspy_live_in_one_process_in_either_order(self, order):
        code = (
            "import numpy as np\nfrom regretless.milp import MILP\nfrom regretless.solvers import make_engine\n"
            f"for name in {order!r}:\n"
            "    print(make_engine(name, MILP([[3.0, 4.0]], row_upper=4.0)).solve(np.array([-1.0, -2.0])).x.tolist())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split("\n")[:2] == ["[0.0, 1.0]"] * 2
