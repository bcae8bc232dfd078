from __future__ import annotations

import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from regretless.errors import MissingDependencyError, SolveError
from regretless.milp import MILP
from regretless.solvers import EnginePool, make_engine
from regretless.types import Status

KNAPSACK = MILP([[3.0, 4.0, 5.0, 2.0]], row_upper=7.0)


def test_a_missing_package_is_named_with_its_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    with pytest.raises(MissingDependencyError, match="pip install 'gurobipy'"):
        make_engine("gurobi", KNAPSACK)


class _NoLicenseError(Exception):
    errno = 10009


def _no_license(**_):
    raise _NoLicenseError("Failed to open the license file")


def test_a_missing_license_is_an_error_that_says_what_to_do(monkeypatch):
    stub = SimpleNamespace(Env=_no_license, GurobiError=_NoLicenseError, Model=None)
    monkeypatch.setitem(sys.modules, "gurobipy", stub)
    monkeypatch.setattr("regretless.solvers.gurobi._LOCAL", threading.local())
    with pytest.raises(SolveError, match=r"found no license: .* engine='highs'"):
        make_engine("gurobi", KNAPSACK)
    with pytest.raises(SolveError, match="found no license"):
        EnginePool(KNAPSACK, engine="gurobi").solve(torch.zeros(1, 4, dtype=torch.float64))


class TestWithGurobi:
    @pytest.fixture(autouse=True)
    def _license(self):
        pytest.importorskip("gurobipy")
        try:
            make_engine("gurobi", KNAPSACK)
        except SolveError as error:
            pytest.skip(str(error))

    def test_it_is_silent(self, capfd):
        make_engine("gurobi", KNAPSACK).solve(-np.ones(4))
        assert capfd.readouterr().out == ""

    def test_a_model_beyond_the_free_license_is_an_error_with_its_size(self):
        milp = MILP(np.ones((1, 2500)), row_upper=3.0)
        outcome = make_engine("gurobi", milp).solve(-np.ones(2500))
        if outcome.status is Status.OPTIMAL:
            pytest.skip("this machine has a full license")
        assert (outcome.status, outcome.x) == (Status.ERROR, None)
        assert "2,000 variables" in outcome.message
        assert "2500" in outcome.message

    def test_a_range_needs_no_further_variable(self):
        engine = make_engine("gurobi", MILP([[1.0, 1.0, 1.0]], row_lower=1.0, row_upper=2.0))
        assert (engine.engine._model.NumVars, engine.engine._model.NumConstrs) == (3, 2)
        assert engine.solve(-np.ones(3)).x.sum() == 2.0
        assert engine.solve(np.ones(3)).x.sum() == 1.0

    def test_a_start_saves_a_solve_that_has_no_time_to_find_one(self):
        rng = np.random.default_rng(3)
        A = rng.integers(0, 100, (5, 40)).astype(float)
        start = rng.integers(0, 2, 40).astype(float)
        engine = make_engine("gurobi", MILP(A, row_lower=A @ start, row_upper=A @ start), time_limit=0.2)
        objective = rng.normal(size=40)
        assert engine.solve(objective).x is None
        outcome = engine.solve(objective, start)
        assert outcome.status is Status.TIME_LIMIT
        assert np.array_equal(outcome.x, start)
        assert engine.solve(objective).x is None

    def test_each_thread_has_its_own_environment(self):
        environments = []

        def build() -> None:
            make_engine("gurobi", KNAPSACK)
            from regretless.solvers.gurobi import _LOCAL

            environments.append(_LOCAL.environment)

        build()
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
        assert environments[0] is not environments[1]
