from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

from regretless.problems.set_partitioning import SetPartitioning
from regretless.solvers import highs
from regretless.types import Status

# All pairs and triples of six elements.
SETS = [s for size in (2, 3) for s in combinations(range(6), size)]
MEMBERS = np.array([[float(k in s) for s in SETS] for k in range(6)])


@pytest.mark.parametrize("seed", range(5))
def test_the_relaxation_is_the_linear_program_over_all_sets(seed, monkeypatch):
    monkeypatch.setattr("regretless.problems.set_partitioning.SETS_PER_ROUND", 4)
    lengths = np.random.default_rng(seed).normal(size=len(SETS))
    value, reduced = SetPartitioning(MEMBERS, 2, 3).relaxed(lengths)
    count = np.ones((1, len(SETS)))
    limits = {"A_ub": np.vstack([count, -count]), "b_ub": [3, -2]}
    assert value == pytest.approx(linprog(lengths, A_eq=MEMBERS, b_eq=np.ones(6), **limits).fun)
    assert reduced.min() >= -1e-6
    # Forcing a set into the choice costs its reduced cost at least.
    for k in range(0, len(SETS), 7):
        bounds = [(1, None) if j == k else (0, None) for j in range(len(SETS))]
        forced = linprog(lengths, A_eq=MEMBERS, b_eq=np.ones(6), bounds=bounds, **limits).fun
        assert forced >= value + reduced[k] - 1e-6


def test_the_relaxation_ends_where_rounding_makes_reduced_costs_negative():
    lengths = np.random.default_rng(39).random(len(SETS))
    value, _ = SetPartitioning(MEMBERS, 2, 3).relaxed(2.0**35 * lengths)
    assert value == pytest.approx(2.0**35 * SetPartitioning(MEMBERS, 2, 3).relaxed(lengths)[0])


def test_a_choice_holds_every_element_once():
    lengths = np.random.default_rng(1).random(len(SETS))
    found = SetPartitioning(MEMBERS, 2, 3).chosen(lengths, np.arange(len(SETS)), None)
    assert found.status is Status.OPTIMAL
    assert (MEMBERS @ found.x).tolist() == [1.0] * 6


def test_what_cannot_be_covered_is_infeasible():
    partitioning = SetPartitioning(MEMBERS, 4, 4)  # four sets hold at least eight elements
    assert partitioning.relaxed(np.ones(len(SETS))) is None


def test_a_failure_of_highs_is_not_taken_for_a_bound(monkeypatch):
    monkeypatch.setitem(highs.BARE, "simplex_iteration_limit", 0)
    with pytest.raises(highs.ProgramError, match="HiGHS ended a linear program with 'Iteration limit reached'"):
        SetPartitioning(MEMBERS, 2, 3).relaxed(np.random.default_rng(0).normal(size=len(SETS)))
