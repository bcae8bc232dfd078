"""Algorithm 2, checked step by step against what was solved, looked up and kept."""

from __future__ import annotations

import copy
import io
import itertools
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from torch import nn

from regretless.cache import SolutionCache
from regretless.cache.policies import LargestGap
from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.milp import MILP
from regretless.problem import Problem

from .recorders import LIMITS, MODEL, POINTS, WEIGHTS, Raiser, Recorder, Scripted, draw, exact, family, problem

# --- both ways to grow --------------------------------------------------------------------------------------------


def test_transformed_solves_heads_at_their_query_and_uses_that_solution():
    recorder = Recorder()
    cache = SolutionCache(
        problem(recorder), POINTS[:1], grow_at="transformed", policy=Scripted([True, False, True, False])
    )
    queries, predicted = draw(4, 4, seed=1), draw(4, 4, seed=2)
    (answer,) = cache.answer([queries], predicted)
    heads = torch.tensor([0, 2])
    assert torch.equal(torch.cat(recorder.costs), queries[heads])
    assert torch.equal(answer[heads], exact(queries)[heads])
    grown = torch.cat([POINTS[:1], exact(queries)[heads]])
    assert {tuple(r) for r in cache.solutions.tolist()} == {tuple(r) for r in grown.tolist()}
    assert torch.equal(answer[1::2], exact(queries, grown)[1::2]), "tails look up the grown S"
    assert (cache.statistics.solves, cache.statistics.lookups) == (2, 2)


def test_predicted_solves_heads_at_the_prediction_and_looks_every_query_up():
    recorder = Recorder()
    cache = SolutionCache(problem(recorder), POINTS[:1], grow_at="predicted", policy=Scripted([True, False, True]))
    queries, predicted = draw(3, 4, seed=1), draw(3, 4, seed=2)
    (answer,) = cache.answer([queries], predicted)
    heads = torch.tensor([0, 2])
    assert torch.equal(torch.cat(recorder.costs), predicted[heads])
    grown = torch.cat([POINTS[:1], exact(predicted)[heads]])
    assert {tuple(r) for r in cache.solutions.tolist()} == {tuple(r) for r in grown.tolist()}
    assert torch.equal(answer, exact(queries, grown))
    assert (cache.statistics.solves, cache.statistics.lookups) == (2, 3)


def test_two_queries_of_an_instance_come_from_the_same_side_of_the_coin():
    recorder = Recorder()
    cache = SolutionCache(problem(recorder), POINTS[:1], grow_at="transformed", policy=Scripted([False, True]))
    first, second = draw(2, 4, seed=1), draw(2, 4, seed=2)
    a, b = cache.answer([first, second], first)
    assert torch.equal(torch.cat(recorder.costs), torch.stack([first[1], second[1]]))
    assert torch.equal(torch.stack([a[1], b[1]]), exact(torch.stack([first[1], second[1]])))
    tail = exact(torch.stack([first[0], second[0]]), cache.solutions)
    assert torch.equal(torch.stack([a[0], b[0]]), tail)
    assert (cache.statistics.solves, cache.statistics.lookups) == (2, 2)


def test_at_p_1_transformed_is_the_problem_itself():
    for width in (1, 2):
        cache = SolutionCache(problem(Recorder()), p_solve=1.0, grow_at="transformed")
        queries = [draw(5, 4, seed=k) for k in range(width)]
        expected = problem(Recorder()).answer(queries, queries[0])
        for mine, its in zip(cache.answer(queries, queries[0]), expected, strict=True):
            assert torch.equal(mine, its)
        assert cache.statistics.lookups == 0


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
def test_at_p_0_the_solver_is_never_called(grow_at):
    cache = SolutionCache(problem(Raiser()), POINTS[2:5], p_solve=0.0, grow_at=grow_at)
    queries = draw(50, 4)
    assert torch.equal(cache(queries), exact(queries, POINTS[2:5]))
    assert cache.problem.statistics.solves == 0


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
def test_solves_and_lookups_add_up(grow_at):
    cache = SolutionCache(problem(Recorder()), POINTS[:1], p_solve=0.3, seed=5, grow_at=grow_at)
    for step in range(20):
        cache(draw(10, 4, seed=step))
    s = cache.statistics
    assert 30 <= s.solves <= 90
    assert s.lookups == (200 if grow_at == "predicted" else 200 - s.solves)
    assert s.added + s.hits == s.solves == cache.problem.statistics.solves
    assert len(cache) == 1 + s.added
    assert s.seconds > 0


def test_a_lookup_never_beats_the_optimum():
    cache = SolutionCache(problem(Recorder()), POINTS[:3], p_solve=0.2)
    for step in range(10):
        costs = draw(8, 4, seed=step)
        found = cache(costs)
        assert ((costs * found).sum(1) >= (costs * exact(costs)).sum(1) - 1e-6).all()


def test_a_lookup_is_in_full_precision_under_autocast():
    choice = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=2)
    memory = SolutionCache(choice, [[1.0, 0.0], [0.0, 1.0]], p_solve=0.0)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (found,) = memory.look_up([torch.tensor([[2.002, 2.001]])])
    assert found.tolist() == [[0.0, 1.0]]


def test_costs_with_a_gradient_are_answered_without_one():
    cache = SolutionCache(problem(Recorder()), POINTS[:1], p_solve=0.5, grow_at="transformed")
    assert not cache(draw(6, 4).requires_grad_()).requires_grad


# --- families -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
@pytest.mark.parametrize("p_solve", [0.0, 0.4, 1.0])
def test_an_answer_is_always_feasible_for_its_instance(grow_at, p_solve):
    many = family()
    ids = torch.arange(3).repeat(2)
    first = many.attempt(draw(6, 4, seed=9), ids).solution
    cache = SolutionCache(many, first, instance=ids, p_solve=p_solve, grow_at=grow_at)
    for step in range(8):
        costs = draw(6, 4, seed=step) - 1.0
        found = cache(costs, ids)
        weight = found @ torch.tensor(WEIGHTS)
        assert (weight <= torch.tensor(LIMITS)[ids]).all()
        feasible = [POINTS_OF[i][(POINTS_OF[i][:, None] == cache.solutions).all(-1).any(1)] for i in range(3)]
        if p_solve == 0.0:  # and the best of those that are feasible
            expected = torch.stack([(feasible[i] @ c).min() for i, c in zip(ids.tolist(), costs, strict=True)])
            assert torch.allclose((found * costs).sum(1), expected)


POINTS_OF = [
    torch.tensor([x for x in itertools.product([0.0, 1.0], repeat=4) if np.dot(x, WEIGHTS) <= limit])
    for limit in LIMITS
]


@pytest.mark.filterwarnings("ignore::regretless.errors.RegretlessWarning")
def test_a_failed_instance_with_nothing_feasible_is_skipped_without_costing_the_batch():
    def solver(costs, instance):
        if instance == 0:
            raise RuntimeError("no luck")
        return (costs < 0).astype(float)

    many = Problem(oracle=solver, dimension=2, instances=2, on_failure="skip")
    for grow_at in ("predicted", "transformed"):
        cache = SolutionCache(many, [[0.0, 0.0]], instance=[1], p_solve=1.0, grow_at=grow_at)
        answer = cache(torch.tensor([[-1.0, 1.0], [-1.0, 1.0]]), torch.tensor([0, 1]))
        assert torch.isnan(answer[0]).all()
        assert answer[1].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
def test_a_failed_step_is_looked_up_unless_the_cache_is_empty(grow_at):
    failing = problem(Recorder(fails=lambda costs: True), on_failure="cache")
    cache = SolutionCache(failing, p_solve=1.0, grow_at=grow_at)
    with pytest.raises(SolveError, match="every solve of the step failed and the cache is empty"):
        cache(torch.ones(2, 4))
    cache.add(POINTS[:1])
    assert cache(torch.ones(2, 4)).tolist() == [list(POINTS[0])] * 2


def test_growing_returns_the_positions_of_failed_solves():
    failing = problem(Recorder(fails=lambda costs: bool(costs[0] > 0)), on_failure="skip")
    cache, costs = SolutionCache(failing, POINTS[:1], p_solve=1.0), -torch.ones(4, 4)
    assert cache.grow([costs], costs) is None
    costs[[1, 3], 0] = 1.0
    failed = cache.grow([costs], costs)
    assert failed is not None
    assert failed.tolist() == [1, 3]


def test_a_family_without_a_model_is_told_that_a_cache_helps_little():
    with pytest.warns(RegretlessWarning, match="not shared between the 2 instances of this family"):
        SolutionCache(Problem(oracle=lambda c, i: c < 0, dimension=2, instances=2))


def test_only_steps_that_a_graph_can_repeat_have_a_frozen_lookup():
    costs, one = torch.ones(2, 4), problem(Raiser())
    frozen = SolutionCache(one, POINTS).frozen_lookup(costs)
    assert frozen is not None
    assert frozen([costs])[0].tolist() == SolutionCache(one, POINTS, p_solve=0.0)(costs).tolist()
    others = {
        "empty": SolutionCache(one),
        "capacity": SolutionCache(one, POINTS, capacity=99),
        "uses the solution of a head": SolutionCache(one, POINTS, grow_at="transformed"),
        "solves by gaps": SolutionCache(one, POINTS, policy=LargestGap(0.05)),
        "leaves failures out": SolutionCache(problem(Raiser(), on_failure="skip"), POINTS),
    }
    assert [name for name, cache in others.items() if cache.frozen_lookup(costs) is not None] == []
    assert SolutionCache(one, POINTS).frozen_lookup(costs[:0]) is None


def test_lookups_of_a_graph_are_counted():
    cache = SolutionCache(problem(Raiser()), POINTS)
    cache.count_lookups(5)
    assert cache.statistics.lookups == 5


def test_family_ids_are_checked_wherever_they_enter():
    cache = SolutionCache(family(), p_solve=0.0)
    with pytest.raises(InputError, match="pass instance="):
        cache.add([[0.0] * 4])
    with pytest.raises(InputError, match=r"instance must be integers, got .* such as \[0.7\]"):
        cache.add([[0.0] * 4], instance=[0.7])
    with pytest.raises(InputError, match="instance must be integers"):
        SolutionCache(family(), [[0.0] * 4], instance=[True])
    cache.add([[0.0] * 4], instance=[0])
    with pytest.raises(InputError, match="pass instance="):
        cache(torch.ones(1, 4))
    with pytest.raises(InputError, match="between 0 and 2, got 3"):
        cache(torch.ones(1, 4), torch.tensor([3]))
    with pytest.raises(InputError, match="no family"):
        SolutionCache(problem(Raiser()), POINTS, p_solve=0.0)(torch.ones(1, 4), torch.tensor([0]))


# --- known costs --------------------------------------------------------------------------------------------------


def test_known_costs_are_looked_up_with_weight_one():
    milp = MILP([[1.0, 1.0]], row_upper=2.0, fixed_cost=[0.0, 5.0], constant=1.0)
    cache = SolutionCache(Problem(milp), milp.solution([[1, 0], [0, 1]]), p_solve=0.0)
    assert cache.solutions.tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 6.0]]
    costs = cache.problem.to_minimization(torch.tensor([[3.0, 1.0], [9.0, 1.0]]))
    assert cache(costs).tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 6.0]]


# --- state --------------------------------------------------------------------------------------------------------


def test_after_loading_the_coins_continue_as_if_nothing_had_happened(tmp_path):
    def fresh(seed: int) -> SolutionCache:
        return SolutionCache(problem(Recorder()), POINTS[:1], p_solve=0.5, seed=seed)

    straight, first = fresh(7), fresh(7)
    for step in range(3):
        straight(draw(5, 4, seed=step))
        first(draw(5, 4, seed=step))
    first.save(tmp_path / "cache")
    second = SolutionCache.load(tmp_path / "cache", problem(Recorder()))
    third = fresh(1)
    third.load_state_dict(first.state_dict())
    for cache in (straight, second, third):
        answers = [cache(draw(5, 4, seed=step)) for step in range(3, 8)]
        solved = [costs.tolist() for costs in cache.problem.backend.costs][-3:]
        if cache is straight:
            expected = answers, solved
        assert all(torch.equal(a, b) for a, b in zip(answers, expected[0], strict=True))
        assert solved == expected[1]
        assert torch.equal(cache.solutions, straight.solutions)
        seconds = {"seconds": 0.0}
        assert vars(cache.statistics) | seconds == vars(straight.statistics) | seconds


def test_a_state_is_a_snapshot():
    cache = SolutionCache(problem(Recorder()), POINTS[:1], p_solve=1.0)
    state = cache.state_dict()
    cache(draw(9, 4))
    assert len(cache) > 1
    cache.load_state_dict(state)
    assert len(cache) == 1
    assert cache.statistics.solves == 0


class Holder(nn.Module):
    def __init__(self, cache: SolutionCache) -> None:
        super().__init__()
        self.linear, self.cache = nn.Linear(2, 2), cache


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "torch.save"])
def test_modules_that_hold_a_cache_can_be_copied(way):
    cache = SolutionCache(Problem(MODEL, workers=2), POINTS[:2], p_solve=0.5)
    cache(draw(8, 4))
    holder = Holder(cache)
    if way == "pickle":
        other = pickle.loads(pickle.dumps(holder))
    elif way == "deepcopy":
        other = copy.deepcopy(holder)
    else:
        file = io.BytesIO()
        torch.save(holder, file)
        file.seek(0)
        other = torch.load(file, weights_only=False)
    costs = draw(8, 4, seed=1)
    assert torch.equal(other.cache(costs), holder.cache(costs))
    assert torch.equal(other.cache.solutions, holder.cache.solutions)
    size = len(other.cache)
    holder.cache.add(POINTS)
    assert len(other.cache) == size < len(holder.cache), "a copy is independent"


def test_merging_is_a_union_and_leaves_the_other_alone():
    a = SolutionCache(problem(Raiser()), POINTS[:3])
    b = SolutionCache(problem(Raiser()), POINTS[2:6], dtype=torch.float64)
    assert a.merge(b) == 3
    assert torch.equal(a.solutions, POINTS[:6])
    assert torch.equal(b.solutions, POINTS[2:6].double())
    with pytest.raises(InputError, match="different problems"):
        a.merge(SolutionCache(Problem(MILP([WEIGHTS], row_upper=7.0))))


def test_caches_of_a_family_that_has_grown_are_merged_and_saved_with_all_members(tmp_path: Path) -> None:
    many = family()
    early = SolutionCache(many, POINTS[:1], instance=[0])
    many.family.extend([MILP([WEIGHTS], row_upper=LIMITS[0])])
    late = SolutionCache(many, POINTS[:2], instance=[3, 2])
    early.save(tmp_path / "early")
    assert torch.equal(SolutionCache.load(tmp_path / "early", many).store.serves, early.store.serves)
    assert early.merge(late) == 1
    assert early.store.serves[3].tolist() == early.store.serves[0].tolist()


def test_caches_of_two_functions_of_one_factory_are_refused(tmp_path: Path) -> None:
    def at_most(capacity: float) -> Problem:
        return Problem(oracle=lambda costs: np.minimum(costs, capacity), dimension=3)

    small, large = (SolutionCache(at_most(k), np.full((1, 3), k)) for k in (4.0, 8.0))
    with pytest.raises(InputError, match="caches of different problems"):
        small.merge(large)
    large.save(tmp_path / "large")
    with pytest.raises(InputError, match="this cache belongs to another problem"):
        SolutionCache.load(tmp_path / "large", at_most(4.0))
    assert len(SolutionCache.load(tmp_path / "large", at_most(8.0))) == 1


@pytest.mark.filterwarnings("ignore::regretless.errors.RegretlessWarning")
def test_merging_rows_that_round_to_one_leaves_the_other_mask_alone():
    many = Problem(oracle=lambda c, i: c * 0, dimension=1, instances=2)
    fine = SolutionCache(many, torch.tensor([[0.1]], dtype=torch.float64), instance=[0], dtype=torch.float64)
    fine.add(torch.tensor([[0.1 + 1e-12]], dtype=torch.float64), instance=[1])
    before = fine.store.serves.clone()
    coarse = SolutionCache(many, dtype=torch.float32)
    assert coarse.merge(fine) == 1
    assert coarse.store.serves.tolist() == [[True], [True]]
    assert torch.equal(fine.store.serves, before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_answers_have_the_dtype_of_the_costs(dtype):
    for stored in (torch.float32, torch.float64):
        cache = SolutionCache(problem(Recorder()), POINTS, p_solve=0.5, grow_at="transformed", dtype=stored)
        assert cache(draw(5, 4).to(dtype)).dtype == dtype
        assert cache.solutions.dtype == stored


def test_capacity_holds_while_training_grows_the_cache():
    cache = SolutionCache(problem(Recorder()), POINTS[:2], p_solve=1.0, capacity=3)
    for step in range(6):
        cache(draw(5, 4, seed=step))
        assert len(cache) <= 3
    assert cache.store.evicted > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SolutionCache(problem(Raiser()), grow_at="random"), "grow_at must be 'predicted' or 'transformed'"),
        (lambda: SolutionCache(problem(Raiser()), [[1.0, 2.0]]), r"shape \(m, 4\), got \(1, 2\)"),
        (lambda: SolutionCache(problem(Raiser()), [[1.0, float("nan"), 0.0, 0.0]]), "finite"),
        (lambda: SolutionCache(problem(Raiser()), [[10**400, 0, 0, 0]]), "solutions must be numbers, got list"),
        (
            lambda: SolutionCache(problem(Raiser()), POINTS, p_solve=0.0)(torch.ones(1, 3)),
            r"\(batch, 4\), got \(1, 3\)",
        ),
        (lambda: SolutionCache(problem(Raiser()), p_solve=0.0)(torch.ones(1, 4)), "empty"),
        (lambda: SolutionCache(problem(Raiser()), p_solve=2.0), "p_solve"),
        (lambda: SolutionCache(problem(Raiser()), capacity=2.5), "capacity must be an integer, at least 1, got 2.5"),
        (lambda: SolutionCache(problem(Raiser()), seed=1.5), "seed must be an integer, at least 0, got 1.5"),
    ],
)
def test_wrong_input_is_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_its_repr_names_problem_size_and_policy():
    cache = SolutionCache(problem(Raiser(), name="bag"), POINTS[:2])
    assert repr(cache) == "SolutionCache(bag, size=2, policy=Bernoulli(p=0.05))"


# --- the whole, against a set -------------------------------------------------------------------------------------

INDICES = st.lists(st.integers(0, len(POINTS) - 1), min_size=1, max_size=4)
QUERIES = st.lists(st.tuples(*[st.integers(-5, 5).map(float)] * 4), min_size=1, max_size=4)


class CacheMachine(RuleBasedStateMachine):
    """A cache without a limit is a set that only grows, whatever happens to it on the way."""

    @initialize(
        first=INDICES, grow_at=st.sampled_from(["predicted", "transformed"]), p=st.sampled_from([0.0, 0.5, 1.0])
    )
    def start(self, first: list[int], grow_at: str, p: float) -> None:
        self.settings = {"grow_at": grow_at, "p_solve": p}
        self.cache = SolutionCache(problem(Recorder()), POINTS[first], **self.settings)
        self.set = {tuple(row) for row in POINTS[first].tolist()}

    @rule(rows=INDICES)
    def add(self, rows: list[int]) -> None:
        new = {tuple(row) for row in POINTS[rows].tolist()} - self.set
        assert self.cache.add(torch.where(POINTS[rows] == 0, -0.0, POINTS[rows])) == len(new)
        self.set |= new

    @rule(rows=INDICES)
    def merge(self, rows: list[int]) -> None:
        self.cache.merge(SolutionCache(problem(Recorder()), POINTS[rows]))
        self.set |= {tuple(row) for row in POINTS[rows].tolist()}

    @rule(queries=QUERIES, predicted=QUERIES)
    def step(self, queries: list[tuple[float, ...]], predicted: list[tuple[float, ...]]) -> None:
        n = min(len(queries), len(predicted))
        costs, at = torch.tensor(queries[:n]), torch.tensor(predicted[:n])
        self.cache.problem.backend.costs.clear()
        (answer,) = self.cache.answer([costs], at)
        solved = self.cache.problem.backend.costs
        self.set |= {tuple(row) for costs in solved for row in exact(costs).tolist()}
        values, best = (answer * costs).sum(1), (exact(costs) * costs).sum(1)
        assert (values >= best).all()
        assert {tuple(row) for row in answer.tolist()} <= self.set
        if self.settings["p_solve"] == 0.0:
            assert not solved

    @rule()
    def by_state(self) -> None:
        other = SolutionCache(problem(Recorder()), **self.settings)
        other.load_state_dict(self.cache.state_dict())
        self.cache = other

    @rule()
    def by_pickle(self) -> None:
        self.cache = pickle.loads(pickle.dumps(self.cache))

    @invariant()
    def every_point_stays_once(self) -> None:
        if hasattr(self, "cache"):
            rows = [tuple(row) for row in self.cache.solutions.tolist()]
            assert len(rows) == len(set(rows))
            assert set(rows) == self.set
            mean = torch.tensor(rows, dtype=torch.float64).mean(dim=0)
            assert torch.allclose(self.cache.store.mean().double(), mean, atol=1e-6)


TestCacheIsASet = CacheMachine.TestCase
TestCacheIsASet.settings = settings(max_examples=25, stateful_step_count=15)


def test_files_go_through_the_same_states(tmp_path: Path):
    cache = SolutionCache(problem(Recorder()), POINTS[:4], p_solve=0.5, capacity=4)
    cache(draw(6, 4))
    cache.save(tmp_path / "a")
    SolutionCache.load(tmp_path / "a", problem(Recorder())).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
