from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.errors import InputError
from regretless.problems.matching.bound import MatchingBound
from regretless.problems.matching.formulation import matching_family
from regretless.problems.matching.oracle import MatchingOracle
from regretless.solvers import EnginePool


def drawn(shares: float, seed: int, size: int = 6) -> tuple[MatchingBound, MatchingOracle, np.ndarray, torch.Tensor]:
    generator = np.random.default_rng(seed)
    same = generator.random((3, size, size)) < generator.choice([0.1, 0.5, 0.9])
    costs = torch.from_numpy(-generator.normal(0.3, 1.0, (12, size * size)))
    return MatchingBound(same, shares, shares), MatchingOracle(same, shares, shares), same, costs


@pytest.mark.parametrize("shares", [0.0, 0.1, 0.25, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_never_exceeds_the_optimum_and_is_at_least_that_of_the_relaxation(shares, seed):
    bound, oracle, same, costs = drawn(shares, seed)
    instance = torch.arange(12) % 3
    found = bound(costs, instance)
    best = (oracle.solve(costs, instance).solution * costs).sum(dim=1)
    assert (found <= best + 1e-9 * (1 + best.abs())).all()
    family = matching_family(same, shares, shares)
    for k in range(12):
        relaxed = EnginePool(family[k % 3].relax()).solve(costs[k : k + 1]).solution[0]
        assert found[k] >= (relaxed * costs[k]).sum() - 1e-6


def test_where_the_assignment_keeps_the_side_rows_it_is_the_optimum():
    bound, oracle, _, costs = drawn(0.0, 9)
    assert torch.allclose(bound(costs), (oracle.solve(costs).solution * costs).sum(dim=1))


def test_where_no_pair_gains_it_is_zero():
    bound, _, _, costs = drawn(0.1, 0)
    assert bound(costs.abs()).tolist() == [0.0] * 12


def test_masks_are_those_of_instances():
    with pytest.raises(InputError, match="same must have shape"):
        MatchingBound(np.ones((2, 2), dtype=bool), 0.1, 0.1)
