from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError, SolveError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.engine import Outcome
from regretless.solvers.probe import probe
from regretless.types import Status

WEIGHTS = np.random.default_rng(0).integers(3, 9, 15)
MODEL = MILP([WEIGHTS], row_upper=30.0)
COSTS = -np.random.default_rng(1).random((5, 15))


def test_trials_are_sorted_and_the_winner_can_be_used():
    pytest.importorskip("highspy")
    trials = probe(MODEL, COSTS)
    means = [trial.mean_seconds for trial in trials]
    assert means == sorted(means)
    assert all(trial.largest_seconds >= trial.mean_seconds for trial in trials)
    tuned, plain = Problem(MODEL, **trials[0].options), Problem(MODEL)
    np.testing.assert_allclose(tuned.solve(COSTS).objective, plain.solve(COSTS).objective, rtol=1e-9)


def test_options_that_change_the_optimum_are_refused(monkeypatch):
    class Wrong:
        def __init__(self, answer):
            self.answer = answer

        def solve(self, objective, start=None):
            return Outcome(np.full(15, self.answer), Status.OPTIMAL)

    monkeypatch.setattr("regretless.solvers.probe.make_engine", lambda name, milp, answer: Wrong(answer))
    with pytest.raises(SolveError, match="finds other optimal values"):
        probe(MODEL, COSTS, candidates=[{"answer": 0.0}, {"answer": 1.0}])


def test_infeasible_models_are_named():
    pytest.importorskip("highspy")
    with pytest.raises(SolveError, match="infeasible"):
        probe(MILP([[1.0]], row_lower=2.0), [[1.0]])


def test_nothing_to_try_is_refused():
    with pytest.raises(InputError, match="at least one"):
        probe(MODEL, COSTS, candidates=[])
