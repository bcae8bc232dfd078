"""Proofs against brute force: what is closed is right, and what is not has a bound that holds."""

from __future__ import annotations

import time
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.proof import Prover, objective_step
from regretless.types import Status

inf = np.inf


@st.composite
def models(draw: st.DrawFn) -> tuple[MILP, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Small boxes with all kinds of rows and costs; and their feasible points."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rows = int(rng.integers(1, 4)), int(rng.integers(0, 4))
    A = rng.integers(-40, 41, (rows, n)).astype(float) / draw(st.sampled_from([1.0, 10.0, 3.0]))
    low = (A @ rng.integers(0, 6, n)).astype(float)
    high = low + rng.choice([0.0, 0.0, 3.0, 20.0], rows)
    low[rng.random(rows) < 0.4] = -inf
    milp = MILP(A, low, high, upper=rng.integers(0, 7, n).astype(float))
    costs = rng.integers(-9, 10, n).astype(float) * draw(st.sampled_from([1.0, 0.1, 1e6, 2.0**-40, np.pi]))
    box = np.array(list(product(*[np.arange(u + 1) for u in milp.upper])))
    return milp, costs, box[milp.check(box)]


@given(case=models(), nodes=st.sampled_from([0, 1, 3, 500]), known=st.booleans())
def test_what_is_proven_is_what_brute_force_finds(case: Any, nodes: int, known: bool) -> None:
    milp, costs, points = case
    x = points[len(points) // 2] if known and len(points) else None
    proof = Prover(milp, nodes=nodes).prove(costs, x)
    best = (points @ costs).min() if len(points) else inf
    room = 1e-6 * float(np.abs(costs).sum() * 7 + 1e-300)
    assert proof.bound <= best + room
    if proof.x is not None:
        assert milp.check(proof.x)[0]
        assert proof.value == pytest.approx(costs @ proof.x)
    if proof.closed:
        assert proof.value == best == inf or proof.value == pytest.approx(best, abs=room)
    if nodes == 500:
        assert proof.closed
    assert not proof.late


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**-200, 1e-9])
def test_costs_below_the_tolerance_of_the_lp_solver_are_proven(scale: float) -> None:
    for costs in ([-2.0, -4.0, 4.0], [-8.0, -6.0, 0.0]):
        objective = np.array(costs) * scale
        proof = Prover(MILP(np.zeros((0, 3)), upper=[1.0, 5.0, 3.0]), nodes=500).prove(objective, None)
        assert proof.closed
        assert proof.x is not None
        assert proof.x.tolist() == [1.0, 5.0, 0.0]
        assert proof.value == pytest.approx(objective @ proof.x, rel=1e-12)


def test_mixed_models_are_proven_up_to_tolerance() -> None:
    milp = MILP([[1.0, 1.0], [2.0, -1.0]], row_upper=[2.5, 4.0], upper=[3000.0, 1.0], integer=[True, False])
    proof = Prover(milp, nodes=50).prove(np.array([-2.0, -1.0]), None)
    assert proof.closed
    assert proof.value == pytest.approx(-4.5, abs=1e-5)


def test_small_differences_count_where_all_data_are_integers() -> None:
    milp, costs = MILP([[1.0, 1.0]], row_upper=1.0), -np.pi * np.array([1.0, 1.0 + 1e-8])
    assert objective_step(costs, milp.integer) == 0.0
    proof = Prover(milp, nodes=50).prove(costs, np.array([1.0, 0.0]))
    assert proof.closed
    assert proof.x is not None
    assert proof.x.tolist() == [0.0, 1.0]


def test_variables_without_bounds_are_proven_where_costs_bound_them() -> None:
    milp = MILP([[3.0, 5.0]], row_lower=7001.0, upper=inf)
    proof = Prover(milp, nodes=200).prove(np.array([3.0, 5.0]), None)
    assert proof.closed
    assert proof.value == 7001.0
    unbounded = Prover(milp, nodes=20).prove(np.array([-1.0, -1.0]), np.array([3000.0, 3000.0]))
    assert not unbounded.closed
    assert unbounded.bound == -inf


def test_a_deadline_ends_the_search() -> None:
    milp = MILP([[3.0, 5.0]], row_lower=7001.0, upper=9000.0)
    proof = Prover(milp, nodes=200).prove(np.array([3.0, 5.0]), None, deadline=time.monotonic() - 1.0)
    assert (proof.late, proof.closed, proof.x) == (True, False, None)


def test_a_proof_depends_on_its_own_objective_alone() -> None:
    rng = np.random.default_rng(0)
    A = rng.integers(-30, 31, (2, 4)).astype(float)
    act = A @ rng.integers(0, 2001, 4)
    milp, costs = MILP(A, act - 3, act + 3, upper=2000.0), rng.integers(-3, 4, (6, 4)).astype(float)
    used = Prover(milp, nodes=300)
    for c in costs:
        one, two = used.prove(c, None), Prover(milp, nodes=300).prove(c, None)
        assert one.closed == two.closed
        assert np.array_equal(one.x, two.x)


@pytest.mark.parametrize(
    ("costs", "integer", "step"),
    [
        ([3.0, -6.0, 0.0], [True] * 3, 3.0),
        ([0.1, 0.25], [True] * 2, 0.05),
        ([0.1, 0.3], [True] * 2, 0.1),
        ([3.0 * 2**-40, 5.0 * 2**-40], [True] * 2, 2.0**-40),
        ([3.0 * 2**40, 5.0 * 2**40], [True] * 2, 2.0**40),
        ([3.0 * 2**70, 5.0 * 2**70], [True] * 2, 2.0**70),
        ([np.pi, 1.0], [True] * 2, 0.0),
        ([1.0, 2.0], [True, False], 0.0),
        ([1.0, 0.0], [True, False], 1.0),
        ([0.0, 0.0], [True, True], 0.0),
    ],
)
def test_the_step_of_an_objective(costs: list[float], integer: list[bool], step: float) -> None:
    assert objective_step(np.array(costs), np.array(integer)) == pytest.approx(step, rel=1e-12)


def test_bounds_without_an_integer_are_infeasible_beside_large_integers() -> None:
    milp = MILP(np.zeros((0, 2)), lower=[0.2, 0.0], upper=[0.8, 1e4])
    assert Problem(milp).solve([[1.0, -1.0]]).status == [Status.INFEASIBLE]
