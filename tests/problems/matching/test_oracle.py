from __future__ import annotations

import pickle
from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.family import Family
from regretless.problem import Problem
from regretless.problems.matching import core_mip
from regretless.problems.matching.cora import citation_network, links, nodes, same_field
from regretless.problems.matching.formulation import formulate, matching_family
from regretless.problems.matching.oracle import MatchingBound, MatchingOracle
from regretless.solvers import EnginePool, make_engine
from regretless.types import Status


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


SHARES = {10: 0.1, 25: 0.25, 50: 0.5}


def best_by_force(gain: np.ndarray, same: np.ndarray, p: float, q: float) -> tuple[float, int]:
    """Greatest gain of a feasible matching, and the fewest pairs that reach it."""
    left, right = gain.shape
    best, fewest = 0.0, 0
    for k in range(1, min(left, right) + 1):
        for rows in map(list, combinations(range(left), k)):
            for columns in map(list, permutations(range(right), k)):
                one = same[rows, columns].sum()
                if one >= p * k - 1e-9 and k - one >= q * k - 1e-9:
                    total = gain[rows, columns].sum()
                    if total > best + 1e-12:
                        best, fewest = float(total), k
    return best, fewest


@given(
    left=st.integers(1, 4),
    right=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    kind=st.sampled_from(["labels", "small integer", "continuous", "negative", "zero", "equal", "huge", "tiny"]),
    shares=st.sampled_from([(0.0, 0.0), (0.1, 0.1), (0.25, 0.25), (0.5, 0.5), (1.0, 0.0), (0.3, 0.7), (0.0, 0.6)]),
)
def test_oracle_equals_brute_force(left: int, right: int, seed: int, kind: str, shares: tuple[float, float]) -> None:
    rng = np.random.default_rng(seed)
    shape = (left, right)
    same = rng.random(shape) < rng.random()
    gain = {
        "labels": lambda: (rng.random(shape) < 0.5) * 1.0,
        "small integer": lambda: rng.integers(-2, 4, shape) * 1.0,
        "continuous": lambda: rng.normal(0.3, 1.0, shape),
        "negative": lambda: -rng.random(shape),
        "zero": lambda: np.zeros(shape),
        "equal": lambda: np.full(shape, 0.3),
        "huge": lambda: rng.normal(0.3, 1.0, shape) * 1e12,
        "tiny": lambda: rng.normal(0.3, 1.0, shape) * 1e-12,
    }[kind]()
    solver = MatchingOracle(same[None], *shares)
    costs = torch.tensor(-gain.reshape(1, -1))
    solution = solver.solve(costs, torch.tensor([0])).solution
    assert formulate(same, *shares).check(solution.numpy())[0]
    best, fewest = best_by_force(gain / np.abs(gain).max() if gain.any() else gain, same, *shares)
    scale = np.abs(gain).max() or 1.0
    assert float(-(costs * solution).sum()) / scale == pytest.approx(best, rel=1e-9, abs=1e-9)
    if kind in ("labels", "small integer"):
        # among equals the one with fewest pairs; best_by_force tries fewer pairs first
        assert int(solution.sum()) == fewest


def medium(seed: int, n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.random((n, n)) < 0.3, rng.random((n, n))


@pytest.mark.parametrize("seed", range(12))
def test_every_stage_equals_highs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_mip, "CORE", 20)  # so that the second small MIP is needed too
    same, gain = medium(seed)
    for p, q in ((0.25, 0.25), (0.5, 0.5)):
        solution = MatchingOracle(same[None], p, q).solve(torch.tensor(-gain.reshape(1, -1))).solution[0].numpy()
        milp = formulate(same, p, q)
        assert milp.check(solution)[0]
        reference = make_engine("highs", milp).solve(-gain.ravel() * 1e4).x
        assert reference is not None
        assert gain.ravel() @ solution == pytest.approx(gain.ravel() @ reference, rel=1e-9)


def test_all_three_stages_are_reached() -> None:
    same = np.stack([medium(seed)[0] for seed in range(12)])
    solver = MatchingOracle(same, 0.25, 0.25)
    gains = np.stack([medium(seed)[1].ravel() for seed in range(12)])
    solver.solve(torch.tensor(-gains), torch.arange(12))
    assert min(solver.by_stage.values()) > 0


def test_answers_do_not_depend_on_the_batch_and_survive_pickling() -> None:
    same = np.stack([medium(seed)[0] for seed in range(6)])
    costs = torch.tensor(-np.stack([medium(seed)[1].ravel() for seed in range(6)]))
    solver = MatchingOracle(same, 0.25, 0.25)
    together = solver.solve(costs, torch.arange(6)).solution
    order = torch.tensor([3, 1, 5, 0, 4, 2])
    copy = pickle.loads(pickle.dumps(solver))
    assert (copy.solve(costs[order], order).solution == together[order]).all()
    assert all((solver.solve(costs[k : k + 1], torch.tensor([k])).solution == together[k]).all() for k in range(6))


def test_decisions_are_the_solutions_and_float32_is_read() -> None:
    same, gain = medium(0)
    solved = MatchingOracle(same[None], 0.1, 0.1).solve(-torch.tensor(gain.reshape(1, -1)).float(), decision=True)
    assert solved.status is None
    assert solved.solution.dtype == torch.float64
    assert solved.decision is not None
    assert (solved.decision == solved.solution).all()


def test_an_empty_batch_is_answered() -> None:
    assert MatchingOracle(np.ones((1, 2, 3), dtype=bool), 0.0, 0.0).solve(torch.zeros(0, 6)).solution.shape == (0, 6)


def test_wrong_shapes_and_unknown_instances_are_refused() -> None:
    with pytest.raises(InputError, match=r"\(instances, left, right\), got \(2, 2\)"):
        MatchingOracle(np.ones((2, 2), dtype=bool), 0.0, 0.0)
    same = np.ones((2, 2, 2), dtype=bool)
    problem = Problem(matching_family(same, 0.0, 0.0), oracle=MatchingOracle(same, 0.0, 0.0), sense="max")
    with pytest.raises(InputError, match="between 0 and 1, got 7"):
        problem.solve([[1.0, 1.0, 1.0, 1.0]], instance=[7])


def test_a_time_limit_gives_a_feasible_matching_and_its_gap() -> None:
    rng = np.random.default_rng(0)
    same = rng.random((1, 60, 60)) < 0.15
    gain = rng.random((1, 3600)) + same.reshape(1, -1) * -0.5
    solved = MatchingOracle(same, 0.5, 0.5, time_limit=1e-6).solve(torch.tensor(-gain))
    if solved.status is None:
        pytest.skip("the bound closed before the small MIP")
    assert solved.status[0] is Status.TIME_LIMIT
    assert solved.gap is not None
    assert 0.0 < float(solved.gap[0]) < np.inf
    assert formulate(same[0], 0.5, 0.5).check(solved.solution.numpy())[0]
    assert "time limit" in solved.message[0]


def cora(diversity: int) -> tuple[np.ndarray, np.ndarray, Family]:
    network = citation_network()
    same = same_field(network, nodes())
    return links(network, nodes()), same, matching_family(same, SHARES[diversity], SHARES[diversity])


def cost_vectors(labels: np.ndarray, rng: np.random.Generator) -> list[tuple[int, np.ndarray]]:
    """At least 200 gains with their instance: labels, noise, predictions, negative, zero, tied, huge and tiny."""
    words = citation_network().words.toarray().astype(np.float64)
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    vectors = []
    for i in range(27):
        cosine = (words[nodes()[i, 0]] @ words[nodes()[i, 1]].T).ravel()
        vectors += [
            (i, labels[i]),
            (i, cosine),
            (i, labels[i] + 0.3 * rng.normal(size=2500)),
            (i, 2 * cosine - labels[i]),
            (i, rng.random(2500)),
            (i, 1e9 * (cosine + 0.1 * rng.normal(size=2500))),
            (i, np.round(4 * cosine + rng.random(2500))),
            (i, cosine - 0.3),
        ]
    return [
        *vectors,
        (0, np.zeros(2500)),
        (1, -rng.random(2500)),
        (2, np.full(2500, 0.7)),
        (3, 1e-9 * rng.random(2500)),
    ]


def compare(diversity: int, vectors: list[tuple[int, np.ndarray]], family: Family, same: np.ndarray) -> None:
    solver = MatchingOracle(same, SHARES[diversity], SHARES[diversity])
    for i, gain in vectors:
        solution = solver.solve(torch.tensor(-gain[None]), torch.tensor([i])).solution[0].numpy()
        assert family[i].check(solution)[0]
        # HiGHS works to absolute tolerances: give it costs of a size that makes them small
        scale = 1e3 / (np.abs(gain).max() or 1.0)
        reference = make_engine("highs", family[i]).solve(-gain * scale)
        assert reference.x is not None
        assert gain @ solution * scale == pytest.approx(gain @ reference.x * scale, rel=1e-9, abs=1e-9)


@pytest.mark.data
@pytest.mark.parametrize("diversity", [10, 25, pytest.param(50, marks=pytest.mark.slow)])
def test_oracle_equals_highs_on_a_few_vectors_of_cora(diversity: int) -> None:
    labels, same, family = cora(diversity)
    vectors = cost_vectors(labels, np.random.default_rng(diversity))
    compare(diversity, vectors[diversity :: len(vectors) // 3][:3], family, same)


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("diversity", [10, 25, 50])
def test_oracle_equals_highs_on_200_vectors_of_cora(diversity: int) -> None:
    labels, same, family = cora(diversity)
    vectors = cost_vectors(labels, np.random.default_rng(diversity))
    assert len(vectors) >= 200
    compare(diversity, vectors, family, same)


@pytest.mark.slow
@pytest.mark.data
def test_all_27_optima_are_found_and_the_mean_maximum_matching_is_40_2() -> None:
    labels, same, _ = cora(10)
    free = MatchingOracle(same, 0.0, 0.0).solve(torch.tensor(-labels), torch.arange(27))
    assert round(float((free.solution.numpy() * labels).sum(axis=1).mean()), 1) == 40.2
    for share in SHARES.values():
        problem = Problem(matching_family(same, share, share), oracle=MatchingOracle(same, share, share), sense="max")
        solved = problem.solve(labels, instance=torch.arange(27))
        assert all(status is Status.OPTIMAL for status in solved.status)
        feasible = problem.feasible(solved.solution)
        assert feasible is not None
        assert bool(feasible.diagonal().all())
