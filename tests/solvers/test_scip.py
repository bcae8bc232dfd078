from __future__ import annotations

import threading

import numpy as np
import pytest

from regretless.errors import MissingDependencyError
from regretless.milp import MILP
from regretless.solvers import make_engine
from regretless.types import Status

KNAPSACK = MILP([[3.0, 4.0, 5.0, 2.0]], row_upper=7.0)


def test_a_missing_package_is_named_with_its_pip_line(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyscipopt.scip", None)
    with pytest.raises(MissingDependencyError, match="pip install 'pyscipopt'"):
        make_engine("scip", KNAPSACK)


class TestWithScip:
    @pytest.fixture(autouse=True)
    def _package(self):
        pytest.importorskip("pyscipopt")

    def test_it_is_silent(self, capfd):
        make_engine("scip", KNAPSACK).solve(-np.ones(4))
        assert capfd.readouterr().out == ""

    def test_an_answer_does_not_depend_on_the_solves_before_it(self):
        # SCIP 10 keeps state beyond freeTransform: after the first objective a used object returned another optimum
        milp = MILP(
            [[8, 4, -2, -3, 8, -2, -3], [-1, -3, 8, 5, -3, 4, 0], [-4, 1, -2, 3, 4, -4, -4], [2, 3, -2, -1, 8, 4, 0]],
            row_upper=[65.0, 17.0, 20.0, 42.0],
            upper=[10.0, 1.0, 3.0, 3.0, 10.0, 1.0, 10.0],
        )
        first, second = np.array([1.0, -1, 0, 0, 0, 0, 0]), np.array([2.0, 0, 2, -1, 0, -4, -1])
        used = make_engine("scip", milp)
        used.solve(first)
        assert np.array_equal(used.solve(second).x, make_engine("scip", milp).solve(second).x)

    def test_a_small_mixed_model_is_solved_to_its_optimum(self):
        # the last variable is 2 there; with its propagation of ranged rows SCIP 10 stops at [1, 5, -3, 0.996]
        milp = MILP(
            [[-678, 779, 0, 0], [842, 0, 688, -839], [0, -931, 0, 772]],
            row_lower=[-np.inf, -2058.0, -4724.0],
            row_upper=[3726.0, -2058.0, -3360.0],
            lower=[0.0, 0.0, -6.0, 0.0],
            upper=[3.0, 6.0, -3.0, 5.0],
            integer=[True, True, True, False],
        )
        outcome = make_engine("scip", milp).solve(np.array([-595.5, 950.2, -1065.6, -675.6]))
        assert outcome.x == pytest.approx([2.0, 6.0, -3.0, 2.0])

    def test_the_start_of_one_solve_is_not_the_start_of_the_next(self):
        engine = make_engine("scip", KNAPSACK)
        objective = np.array([-3.0, -4.0, -5.0, -2.0])
        plain = engine.solve(objective).x
        for start in ([1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]):
            assert objective @ engine.solve(objective, np.array(start)).x == -7.0
            assert np.array_equal(engine.solve(objective).x, plain)

    def test_a_start_saves_a_solve_that_has_no_time_to_find_one(self):
        rng = np.random.default_rng(3)
        A = rng.integers(0, 100, (5, 40)).astype(float)
        start = rng.integers(0, 2, 40).astype(float)
        engine = make_engine("scip", MILP(A, row_lower=A @ start, row_upper=A @ start), time_limit=0.2)
        objective = rng.normal(size=40)
        assert engine.solve(objective).x is None
        outcome = engine.solve(objective, start)
        assert outcome.status is Status.TIME_LIMIT
        assert np.array_equal(outcome.x, start)

    def test_options_reach_the_solver(self):
        engine = make_engine("scip", KNAPSACK, **{"limits/solutions": 1, "presolving/maxrounds": 0})
        assert engine.solve(-np.array([3.0, 4.0, 5.0, 2.5])).status is Status.TIME_LIMIT

    def test_it_solves_in_a_thread(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(make_engine("scip", KNAPSACK).solve(-np.ones(4)).status))
        thread.start()
        thread.join()
        assert found == [Status.OPTIMAL]
