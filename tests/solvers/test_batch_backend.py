from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless import MILP, Problem
from regretless.errors import InputError, SolveError
from regretless.family import Family
from regretless.solvers.batch_backend import BatchBackend
from regretless.types import Status

RNG = np.random.default_rng(3)
ROWS = RNG.integers(1, 6, size=(3, 8)).astype(float)


def both(model, **options):
    return Problem(model, engine="batched-lp", **options), Problem(model, engine="highs", **options)


@pytest.mark.parametrize(
    "more",
    [{}, {"cost_map": RNG.integers(0, 3, size=(4, 8))}, {"fixed_cost": RNG.normal(size=8), "constant": 2.0}],
    ids=["plain", "cost map", "known costs"],
)
def test_objectives_and_cost_space_are_those_of_highs(more):
    ours, highs = both(MILP(ROWS, row_lower=2.0, row_upper=9.0, upper=2.0, integer=False, **more), sense="max")
    costs = RNG.normal(size=(6, ours.dimension))
    found, best = ours.solve(costs), highs.solve(costs)
    torch.testing.assert_close(found.objective, best.objective, rtol=1e-6, atol=1e-6)
    assert found.solution.shape == best.solution.shape


def test_every_member_of_a_family_has_its_own_rows_and_status():
    members = [MILP(ROWS, row_upper=9.0, integer=False), MILP(ROWS, row_lower=1e3, integer=False)]
    ours, highs = both(Family([*members, MILP(ROWS, row_upper=4.0, integer=False)]))
    costs, ids = -RNG.random((7, 8)), [2, 0, 1, 0, 2, 2, 1]
    found, best = ours.solve(costs, ids), highs.solve(costs, ids)
    assert found.status == best.status
    assert found.status.count(Status.INFEASIBLE) == 2
    torch.testing.assert_close(found.objective, best.objective, rtol=1e-6, atol=1e-6, equal_nan=True)


def test_a_failed_program_costs_only_itself():
    milp = MILP([[1.0, -1.0]], row_upper=1.0, upper=np.inf, integer=False)
    solved = Problem(milp, engine="batched-lp", on_failure="skip").attempt(torch.tensor([[1.0, 1.0], [-1.0, -1.0]]))
    assert solved.statuses == [Status.OPTIMAL, Status.UNBOUNDED]
    assert solved.found.tolist() == [True, False]
    assert solved.gap.tolist() == [0.0, np.inf]
    with pytest.raises(SolveError, match="instance 1"):
        Problem(milp, engine="batched-lp")(torch.tensor([[1.0, 1.0], [-1.0, -1.0]]))


def test_an_objective_that_overflows_is_an_error():
    milp = MILP([[1.0]], row_upper=1.0, integer=False, cost_map=[[1e300]])
    found = Problem(milp, engine="batched-lp").solve([[1e300], [1.0]])
    assert found.status == [Status.ERROR, Status.OPTIMAL]
    assert "not finite" in found.message[0]


def test_settings_that_do_not_fit_are_refused():
    milp = MILP([[1.0]], row_upper=1.0, integer=False)
    with pytest.raises(InputError, match="time_limit must be positive"):
        BatchBackend(milp, engine="batched-lp", time_limit=0.0)
    with pytest.raises(InputError, match="device must name a device"):
        BatchBackend(milp, engine="batched-lp", device="abacus")


def test_a_device_can_be_chosen():
    milp = MILP(ROWS, row_upper=9.0, integer=False)
    costs = torch.as_tensor(-RNG.random((3, 8)))
    there = Problem(milp, engine="batched-lp", device="cpu")(costs)
    assert torch.equal(there, Problem(milp, engine="batched-lp")(costs))


def test_an_empty_batch_has_an_empty_answer():
    problem = Problem(MILP(ROWS, row_upper=9.0, integer=False), engine="batched-lp")
    assert problem(torch.zeros(0, 8)).shape == (0, 8)


def test_time_limit_and_options_reach_the_engine_of_every_member():
    family = Family([MILP(ROWS, row_upper=room, integer=False) for room in (9.0, 4.0)])
    backend = BatchBackend(family, engine="batched-lp", time_limit=7.0, tolerance=1e-5)
    backend.solve(-torch.ones(2, 8), torch.tensor([1, 0]))
    built = [backend._engine(i) for i in (0, 1)]
    assert [(one.time_limit, one.tolerance, one.milp.row_upper[0]) for one in built] == [(7, 1e-5, 9), (7, 1e-5, 4)]
