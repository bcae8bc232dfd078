"""The store against a plain Python list that does the same slowly."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from regretless.cache import SolutionCache, lookup
from regretless.cache.row_index import RowIndex
from regretless.cache.store import MOST_STAGED, SolutionStore
from regretless.errors import InputError
from regretless.problem import Problem

WIDTH = 3
# Halves and integers: every sum and product below is exact, so positions can be compared, not only values.
VALUES = st.sampled_from([-1.0, -0.5, -0.0, 0.0, 0.5, 1.0])
ROWS = st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=1, max_size=6)
COSTS = st.lists(st.tuples(*[st.integers(-4, 4).map(float)] * WIDTH), min_size=1, max_size=4)


class Model:
    """What a store does, as a list of [row, stamp]."""

    def __init__(self, capacity: int | None, evict: str) -> None:
        self.capacity, self.touches = capacity, capacity is not None and evict == "unused"
        self.slots: list[list] = []
        self.clock = 0

    def position(self, row: tuple[float, ...]) -> int | None:
        return next((i for i, (other, _) in enumerate(self.slots) if other == row), None)

    def add(self, rows: list[tuple[float, ...]]) -> int:
        known = [place for row in rows if (place := self.position(row)) is not None]
        if known and self.touches:
            self.clock += 1
            for place in known:
                self.slots[place][1] = self.clock
        fresh = list(dict.fromkeys(row for row in rows if self.position(row) is None))
        fresh = fresh if self.capacity is None else fresh[-self.capacity :]
        free = len(fresh) if self.capacity is None else min(len(fresh), self.capacity - len(self.slots))
        victims = sorted(range(len(self.slots)), key=lambda i: (self.slots[i][1], i))[: len(fresh) - free]
        for i, row in enumerate(fresh):
            self.clock += 1
            if i < free:
                self.slots.append([row, self.clock])
            else:
                self.slots[victims[i - free]] = [row, self.clock]
        return len(fresh)

    def look_up(self, cost: tuple[float, ...]) -> int:
        values = [sum(a * b for a, b in zip(row, cost, strict=True)) for row, _ in self.slots]
        return values.index(min(values))


class StoreMachine(RuleBasedStateMachine):
    @initialize(
        capacity=st.sampled_from([None, 1, 3, 5]),
        evict=st.sampled_from(["unused", "oldest"]),
        dtype=st.sampled_from([torch.float32, torch.float64]),
    )
    def start(self, capacity: int | None, evict: str, dtype: torch.dtype) -> None:
        self.dtype, self.settings = dtype, {"capacity": capacity, "evict": evict, "dtype": dtype}
        self.store = SolutionStore(WIDTH, **self.settings)
        self.model = Model(capacity, evict)

    @rule(rows=ROWS)
    def add(self, rows: list[tuple[float, ...]]) -> None:
        assert self.store.add(torch.tensor(rows)) == self.model.add(rows)

    @precondition(lambda self: self.model.slots)
    @rule(costs=COSTS, block=st.integers(1, 12))
    def look_up(self, costs: list[tuple[float, ...]], block: int) -> None:
        expected = [self.model.look_up(cost) for cost in costs]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lookup, "BLOCK_SCORES", block)
            assert self.store.look_up(torch.tensor(costs)).tolist() == expected
        if self.model.touches:
            self.model.clock += 1
            for place in expected:
                self.model.slots[place][1] = self.model.clock

    @rule()
    def save_and_load(self) -> None:
        state = self.store.state_dict()
        self.store = SolutionStore(WIDTH, **self.settings)
        self.store.load_state_dict(state)

    @rule(rows=ROWS)
    def merge(self, rows: list[tuple[float, ...]]) -> None:
        other = SolutionStore(WIDTH, dtype=torch.float64)
        other.add(torch.tensor(rows, dtype=torch.float64))
        mine = [tuple(row) for row in other.rows.tolist()]
        assert self.store.add(other.rows) == self.model.add(mine)

    @invariant()
    def holds_exactly_what_the_list_holds(self) -> None:
        if not hasattr(self, "store"):
            return
        assert [tuple(row) for row in self.store.rows.tolist()] == [row for row, _ in self.model.slots]
        assert not torch.signbit(self.store.rows[self.store.rows == 0]).any()
        assert len(self.store) == len(self.model.slots) == int(self.store.count())
        assert self.model.capacity is None or len(self.store) <= self.model.capacity
        assert self.store.rows.dtype == self.dtype
        if self.model.slots:
            assert torch.allclose(self.store.mean(), self.store.rows.mean(dim=0), atol=1e-6)


TestStoreIsAList = StoreMachine.TestCase
TestStoreIsAList.settings = settings(max_examples=40, stateful_step_count=20)


def test_minus_zero_is_zero():
    store = SolutionStore(2)
    assert store.add(torch.tensor([[0.0, 1.0], [-0.0, 1.0]])) == 1
    assert store.add(torch.tensor([[-0.0, 1.0]])) == 0


def test_rows_that_differ_in_the_last_bit_are_two():
    a = torch.tensor([[1.0, 2.0]])
    b = torch.nextafter(a, torch.tensor(9.0))
    store = SolutionStore(2)
    assert store.add(torch.cat([a, b])) == 2


def test_rows_that_share_a_hash_are_all_kept(monkeypatch):
    monkeypatch.setattr(RowIndex, "keys", staticmethod(lambda rows: [0] * len(rows)))
    store = SolutionStore(2)
    rows = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    store.add(rows)
    store.add(torch.tensor([[2.0, 2.0]]))
    kept = {tuple(row) for row in store.rows.tolist()}
    assert kept == {(0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (2.0, 2.0)}


def test_growth_is_amortized():
    store, places = SolutionStore(1), set()
    for i in range(1000):
        store.add(torch.tensor([[float(i)]]))
        places.add(store._columns.reserved.data_ptr())
    assert len(store) == 1000
    assert len(places) <= 6  # 64, 128, .. 1024


def test_solutions_are_columns_rows_and_what_is_taken():
    store = SolutionStore(2)
    store.add(torch.arange(8.0).reshape(4, 2))
    assert torch.equal(store.rows, store.columns.T)
    assert store.columns.shape == (2, 4)
    taken = store.take(torch.tensor([3, 0, 3]))
    assert taken.tolist() == [[6.0, 7.0], [0.0, 1.0], [6.0, 7.0]]
    taken.zero_()
    assert store.rows[3].tolist() == [6.0, 7.0], "what was taken is a copy"


def test_a_family_takes_new_instances():
    store = SolutionStore(1, instances=1)
    store.add(torch.tensor([[1.0], [2.0], [3.0]]), torch.ones(1, 3, dtype=torch.bool))
    store.add_instances(torch.tensor([[False, True, True], [False, False, False]]))
    assert store.instances == 3
    assert store.count(torch.arange(3)).tolist() == [3.0, 2.0, 0.0]
    assert store.mean(torch.tensor([1])).tolist() == [[2.5]]
    assert store.look_up(torch.tensor([[1.0], [1.0]]), torch.tensor([0, 1])).tolist() == [0, 1]
    with pytest.raises(InputError, match="feasible for instance 2"):
        store.mean(torch.tensor([2]))
    store.add(torch.tensor([[0.0]]), torch.tensor([[False], [False], [True]]))
    assert store.look_up(torch.tensor([[1.0]]), torch.tensor([2])).tolist() == [3]
    with pytest.raises(InputError, match="only the store of a family has instances"):
        SolutionStore(1).add_instances(torch.ones(1, 0, dtype=torch.bool))


@pytest.mark.parametrize("evict", ["unused", "oldest"])
def test_a_solution_that_comes_back_after_its_eviction_is_stored_once(evict):
    store = SolutionStore(1, capacity=2, evict=evict)
    new = [store.add(torch.tensor([[value]])) for value in (1.0, 2.0, 3.0, 1.0, 1.0, 1.0)]
    assert new == [1, 1, 1, 1, 0, 0]
    assert sorted(store.rows.flatten().tolist()) == [1.0, 3.0]
    assert (len(store), store.evicted, float(store.mean())) == (2, 2, 2.0)


def test_the_unused_solution_is_evicted_first_or_the_oldest_where_set():
    for evict, left in (("unused", {0.0, 2.0, 3.0}), ("oldest", {1.0, 2.0, 3.0})):
        store = SolutionStore(1, capacity=3, evict=evict)
        store.add(torch.tensor([[0.0], [1.0], [2.0]]))
        assert store.look_up(torch.tensor([[1.0]])).item() == 0  # uses row 0
        store.look_up(torch.tensor([[-1.0]]))  # uses row 2
        store.add(torch.tensor([[3.0]]))
        assert set(store.rows.flatten().tolist()) == left, evict
        assert store.evicted == 1


def test_a_row_that_is_found_again_counts_as_used():
    store = SolutionStore(1, capacity=2, evict="unused")
    store.add(torch.tensor([[0.0], [1.0]]))
    store.add(torch.tensor([[0.0]]))
    store.add(torch.tensor([[2.0]]))
    assert set(store.rows.flatten().tolist()) == {0.0, 2.0}


def test_loading_more_rows_than_fit_keeps_the_latest():
    full = SolutionStore(1)
    full.add(torch.arange(5.0)[:, None])
    small = SolutionStore(1, capacity=2, evict="oldest")
    small.load_state_dict(full.state_dict())
    assert small.rows.flatten().tolist() == [3.0, 4.0]
    assert small.mean().item() == 3.5
    small.add(torch.tensor([[7.0]]))
    assert set(small.rows.flatten().tolist()) == {4.0, 7.0}


def test_a_loaded_store_evicts_what_the_saved_one_would():
    first = SolutionStore(1, capacity=3)
    first.add(torch.tensor([[0.0], [1.0], [2.0]]))
    first.look_up(torch.tensor([[1.0]]))
    second = SolutionStore(1, capacity=3)
    second.load_state_dict(first.state_dict())
    for store in (first, second):
        store.add(torch.tensor([[5.0], [6.0]]))
    assert torch.equal(first.rows, second.rows)


def test_a_loaded_float32_store_has_the_mean_of_its_own_rows():
    exact = SolutionStore(1, dtype=torch.float64)
    exact.add(torch.tensor([[0.1], [0.2]], dtype=torch.float64))
    single = SolutionStore(1, dtype=torch.float32)
    single.load_state_dict(exact.state_dict())
    assert single.mean().dtype == torch.float32
    assert torch.equal(single.mean(), single.rows.to(torch.float64).mean(dim=0).to(torch.float32))


@given(st.integers(0, 2**32 - 1), st.sampled_from([None, 4]), st.sampled_from(["unused", "oldest"]))
def test_family_means_counts_and_lookups_use_only_rows_that_serve(seed, capacity, evict):
    generator = np.random.default_rng(seed)
    instances = 3
    store = SolutionStore(2, instances=instances, capacity=capacity, evict=evict, dtype=torch.float64)
    truth: dict[tuple[float, ...], np.ndarray] = {}
    for _ in range(6):
        rows = generator.integers(0, 3, (3, 2)).astype(float)
        serves = generator.random((instances, 3)) < 0.5
        given_mask = torch.as_tensor(serves)
        store.add(torch.as_tensor(rows), given_mask)
        assert torch.equal(given_mask, torch.as_tensor(serves)), "the caller's mask must stay as it is"
        for k, row in enumerate(map(tuple, rows)):
            truth[row] = truth.get(row, np.zeros(instances, dtype=bool)) | serves[:, k]
    held = [tuple(row) for row in store.rows.tolist()]
    if capacity is None:
        assert set(held) == set(truth)
        assert (store.serves.numpy() == np.stack([truth[row] for row in held], axis=1)).all()
    mask = store.serves.numpy()
    for i in range(instances):
        mine = store.rows[torch.as_tensor(mask[i])]
        ids = torch.tensor([i])
        assert store.count(ids).item() == len(mine)
        cost = torch.as_tensor(generator.integers(-3, 4, (1, 2)).astype(float))
        if len(mine):
            assert torch.allclose(store.mean(ids)[0], mine.mean(dim=0))
            found = store.look_up(cost, ids)
            assert mask[i, found.item()]
            assert (store.rows[found] @ cost.T).item() == (mine @ cost.T).min().item()
        else:
            for call in (lambda ids=ids, cost=cost: store.look_up(cost, ids), lambda ids=ids: store.mean(ids)):
                with pytest.raises(InputError, match=f"feasible for instance {i}"):
                    call()


def test_blocks_respect_the_family_mask(monkeypatch):
    store = SolutionStore(1, instances=2)
    store.add(torch.arange(6.0)[:, None], torch.tensor([[1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]], dtype=torch.bool))
    costs, ids = torch.tensor([[1.0], [1.0]]), torch.tensor([0, 1])
    at_once = store.look_up(costs, ids)
    monkeypatch.setattr(lookup, "BLOCK_SCORES", 2)
    assert at_once.tolist() == store.look_up(costs, ids).tolist() == [0, 3]


def test_a_very_low_score_is_a_solution_not_a_missing_one():
    store = SolutionStore(1, instances=1)
    store.add(torch.tensor([[1e30]]), torch.ones(1, 1, dtype=torch.bool))
    assert store.look_up(torch.tensor([[-1e30]]), torch.tensor([0])).tolist() == [0]  # -inf in float32


def test_a_nonlinear_objective_is_looked_up_in_blocks_too(monkeypatch):
    rows = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    costs = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))

    def objective(v: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        return ((v - c) ** 2).sum(dim=-1)

    store = SolutionStore(3)
    store.add(rows)
    expected = torch.cdist(costs, rows).argmin(dim=1)
    assert torch.equal(store.look_up(costs, None, objective), expected)
    monkeypatch.setattr(lookup, "BLOCK_SCORES", 100)
    assert torch.equal(store.look_up(costs, None, objective), expected)


def test_lookup_never_allocates_more_than_a_block(monkeypatch):
    seen = []
    original = lookup._scores

    def spy(*args):
        scores = original(*args)
        seen.append(scores.numel())
        return scores

    monkeypatch.setattr(lookup, "_scores", spy)
    monkeypatch.setattr(lookup, "BLOCK_SCORES", 50)
    store = SolutionStore(2)
    store.add(torch.randn(97, 2))
    store.look_up(torch.randn(7, 2))
    assert max(seen) <= 50
    assert sum(seen) >= 97 * 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"capacity": 0}, "capacity must be an integer, at least 1, got 0"),
        ({"evict": "random"}, "evict must be 'unused' or 'oldest', got 'random'"),
        ({"dtype": torch.float16}, "dtype must be torch.float32 or torch.float64, got torch.float16"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        SolutionStore(2, **arguments)


def test_an_empty_store_says_how_to_fill_it():
    with pytest.raises(InputError, match=r"empty.*cache\.add"):
        SolutionStore(2).look_up(torch.zeros(1, 2))


def test_a_mask_comes_with_families_and_only_with_them():
    with pytest.raises(InputError, match="mask"):
        SolutionStore(1, instances=2).add(torch.zeros(1, 1))
    with pytest.raises(InputError, match="mask"):
        SolutionStore(1).add(torch.zeros(1, 1), torch.ones(2, 1, dtype=torch.bool))


def test_a_foreign_state_is_refused():
    state = SolutionStore(3).state_dict()
    with pytest.raises(InputError, match="must have 2 columns"):
        SolutionStore(2).load_state_dict(state)
    with pytest.raises(InputError, match="family"):
        SolutionStore(3, instances=2).load_state_dict(state)


class TestStaging:
    """Solutions that are inserted before it is known whether they are new."""

    @given(blocks=st.lists(st.integers(0, 7), max_size=12), reads=st.sets(st.integers(0, 12)))
    def test_the_store_is_the_same_as_with_insertion_at_once(self, blocks: list[int], reads: set[int]) -> None:
        generator = torch.Generator().manual_seed(0)
        later, at_once, new, repeated = SolutionStore(3), SolutionStore(3), 0, 0
        for number, count in enumerate(blocks):
            rows = torch.randint(0, 3, (count, 3), generator=generator).to(torch.float32)
            told, fresh = later.stage(rows), at_once.add(rows)
            if told is None:
                new, repeated = new + fresh, repeated + count - fresh
            else:
                assert told == fresh
            costs = torch.randn(4, 3, generator=generator)
            if len(at_once):
                found, expected = later.take(later.look_up(costs)), at_once.take(at_once.look_up(costs))
                assert torch.equal(found, expected)
            if number in reads:
                assert len(later) == len(at_once)
                assert torch.equal(later.mean(), at_once.mean())
        assert later.collect() == (new, repeated)
        assert later.collect() == (0, 0)
        assert torch.equal(later.rows, at_once.rows)
        same = at_once.state_dict()
        assert all(torch.equal(torch.as_tensor(v), torch.as_tensor(same[k])) for k, v in later.state_dict().items())

    def test_what_was_new_is_told_after_the_store_was_cleared(self) -> None:
        store = SolutionStore(2)
        assert store.stage(torch.eye(2)[[0, 1, 1]]) is None
        store.clear()
        assert len(store) == 0
        assert store.collect() == (2, 1)

    def test_many_are_settled_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(MOST_STAGED, "cpu", 4)
        store = SolutionStore(2)
        store.stage(torch.ones(3, 2))
        assert store.columns_searched == 3
        store.stage(torch.zeros(1, 2))
        assert store.columns_searched == 2

    def test_a_store_that_was_read_inserts_at_once(self) -> None:
        store = SolutionStore(2)
        assert store.stage(torch.eye(2)) is None
        store.look_up(torch.ones(1, 2))
        assert store.stage(torch.eye(2)) is None
        assert store.mean().tolist() == [0.5, 0.5]
        assert store.stage(torch.eye(2)) == 0
        assert store.stage(torch.eye(2)) is None

    def test_a_full_store_and_one_of_a_family_insert_at_once(self) -> None:
        full = SolutionStore(2, capacity=2)
        assert full.stage(torch.eye(2)) == 2
        assert full.stage(torch.ones(1, 2)) == 1
        assert full.columns_searched == 2
        family = SolutionStore(2, instances=1)
        family.stage(torch.eye(2), torch.ones(1, 2, dtype=torch.bool))
        assert family.columns_searched == 2
        with pytest.raises(InputError, match="mask"):
            family.stage(torch.eye(2))

    def test_a_cache_counts_what_was_new(self) -> None:
        problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
        cache = SolutionCache(problem, torch.eye(3)[:1], p_solve=1.0)
        cache(torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [1.0, 0.5, 2.0]]))
        assert (cache.statistics.added, cache.statistics.hits, len(cache)) == (1, 2, 2)


def test_the_state_of_staged_solutions_has_their_stamps():
    staged, added = SolutionStore(3), SolutionStore(3)
    staged.stage(torch.eye(3))
    added.add(torch.eye(3))
    assert staged.state_dict()["stamps"].tolist() == added.state_dict()["stamps"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("read", [len, SolutionStore.state_dict, SolutionStore.mean])
def test_the_moment_at_which_staged_solutions_are_read_changes_no_bit_of_the_mean(read):
    generator = torch.Generator().manual_seed(0)
    steps, means = [torch.rand(3, 4, generator=generator, dtype=torch.float64) for _ in range(8)], []
    for moment in (None, 1, 4):
        store = SolutionStore(4, dtype=torch.float64)
        for number, rows in enumerate(steps):
            store.stage(rows)
            if number == moment:
                read(store)
        means.append(store.mean())
    assert torch.equal(means[0], means[1])
    assert torch.equal(means[0], means[2])


def test_a_store_that_grew_under_inference_mode_is_used_outside_of_it():
    with torch.inference_mode():
        store = SolutionStore(3)
        store.add(torch.eye(3))
    assert store.look_up(-torch.eye(3)).tolist() == [0, 1, 2]
    store.stage(torch.ones(1, 3))
    assert store.add(2 * torch.eye(3)) == 3
    assert store.mean().tolist() == pytest.approx([4 / 7] * 3)
