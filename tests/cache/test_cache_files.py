from __future__ import annotations

import numpy as np
import pytest
import torch

from regretless.cache import Bernoulli, Falling, GapAbove, LargestGap, SolutionCache
from regretless.cache import cache_files as files
from regretless.cache.bounds import make_bound
from regretless.errors import FileError, InputError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.storage import save_state

MODEL = MILP([[1.0, 1.0, 1.0]], row_upper=2.0)
ROWS = [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]


def test_a_cache_comes_back_from_its_file(tmp_path):
    problem = Problem(MODEL)
    cache = SolutionCache(problem, ROWS, p_solve=0.5, seed=3)
    cache(torch.randn(6, 3))
    cache.save(tmp_path / "cache")
    back = SolutionCache.load(tmp_path / "cache", Problem(MODEL))
    assert torch.equal(back.solutions, cache.solutions)
    assert back.statistics == cache.statistics
    assert torch.equal(back.store.mean(), cache.store.mean())


def test_a_cache_with_one_solution_of_one_cost_is_saved(tmp_path):
    problem = Problem(MILP([[1.0]], upper=3.0))
    SolutionCache(problem, [[2.0]]).save(tmp_path / "cache")
    assert SolutionCache.load(tmp_path / "cache", problem).solutions.tolist() == [[2.0]]


POLICIES = [
    Bernoulli(0.2),
    Bernoulli(0.2, per="batch"),
    LargestGap(0.1, gap_at="solve"),
    GapAbove(0.01, p=0.3, gap_at="lookup"),
    Falling(0.4, 0.1, epochs=2, instances=30),
    Falling(0.4, 0.1, epochs=2, instances=30, coin=True),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize(
    "settings",
    [
        {"grow_at": "transformed", "capacity": 3, "evict": "oldest", "dtype": torch.float64},
        {"grow_at": "predicted", "seed": 4, "bound": "linear", "warm_start": True},
    ],
    ids=["first settings", "second settings"],
)
def test_every_setting_comes_back_and_the_cache_continues_as_if_never_saved(tmp_path, policy, settings):
    cache = SolutionCache(Problem(MODEL), ROWS, policy=policy, **settings)
    generator = torch.Generator().manual_seed(1)
    cache(torch.randn(6, 3, generator=generator))
    cache.save(tmp_path / "cache")
    back = SolutionCache.load(tmp_path / "cache", Problem(MODEL))
    before, after = cache.state_dict(), back.state_dict()
    assert after["settings"] == before["settings"]
    assert repr(back) == repr(cache)
    for name in ("grow_at", "seed", "warm_start"):
        assert getattr(back, name) == getattr(cache, name) == settings.get(name, getattr(back, name))
    assert (back.store.capacity, back.store.evict) == (settings.get("capacity"), settings.get("evict", "unused"))
    assert back.solutions.dtype == settings.get("dtype", torch.float32)
    for _ in range(3):
        costs = torch.randn(6, 3, generator=generator)
        assert torch.equal(back(costs), cache(costs))
        assert back.statistics.solves == cache.statistics.solves
    assert torch.equal(back.solutions, cache.solutions)
    assert cache.statistics.solves > 0


def test_settings_of_the_caller_take_precedence_over_those_of_the_file(tmp_path):
    SolutionCache(Problem(MODEL), ROWS, policy=LargestGap(0.1), capacity=2, grow_at="transformed").save(
        tmp_path / "cache"
    )
    back = SolutionCache.load(tmp_path / "cache", Problem(MODEL), p_solve=0.5, capacity=None)
    assert repr(back.policy) == "Bernoulli(p=0.5)"
    assert (back.store.capacity, back.grow_at) == (None, "transformed")


def test_a_seed_of_the_caller_starts_the_coin_anew(tmp_path):
    SolutionCache(Problem(MODEL), ROWS, p_solve=0.5, seed=3).save(tmp_path / "cache")
    costs = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    counts = {}
    for seed in (3, 4, 5):
        back = SolutionCache.load(tmp_path / "cache", Problem(MODEL), seed=seed)
        fresh = SolutionCache(Problem(MODEL), ROWS, p_solve=0.5, seed=seed)
        assert [back.seed, back(costs).tolist()] == [seed, fresh(costs).tolist()]
        counts[seed] = back.statistics.solves
        assert counts[seed] == fresh.statistics.solves
    assert len(set(counts.values())) > 1


def test_a_path_and_a_problem_in_the_wrong_order_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"problem must be a Problem, got .*: load takes the path first"):
        SolutionCache.load(Problem(MODEL), tmp_path / "cache")
    with pytest.raises(InputError, match="other must be a SolutionCache, got int"):
        SolutionCache(Problem(MODEL)).merge(3)


def test_a_policy_or_bound_of_the_user_must_be_passed_again(tmp_path):
    class Never:
        def choose(self, batch, generator):
            return np.zeros(batch.size, dtype=bool)

    bound = make_bound(Problem(MODEL), "lagrangian")
    given = {"policy": Never(), "bound": bound}
    for name, value in given.items():
        SolutionCache(Problem(MODEL), ROWS, **{name: value}).save(tmp_path / "cache")
        with pytest.raises(InputError, match=f"cache: .* a {name} that has no name: pass it again as {name}="):
            SolutionCache.load(tmp_path / "cache", Problem(MODEL))
        back = SolutionCache.load(tmp_path / "cache", Problem(MODEL), **{name: value})
        assert getattr(back, name) is value


def test_a_file_of_version_0_1_holds_no_settings_and_gets_those_of_the_constructor(tmp_path):
    cache = SolutionCache(Problem(MODEL), ROWS, p_solve=0.5, grow_at="transformed")
    state = cache.state_dict()
    del state["settings"]
    save_state(tmp_path / "cache", state, kind="cache")
    back = SolutionCache.load(tmp_path / "cache", Problem(MODEL))
    assert (repr(back.policy), back.grow_at) == ("Bernoulli(p=0.05)", "predicted")
    assert torch.equal(back.solutions, cache.solutions)
    del state["ranks"], state["steps"]  # as in a checkpoint
    back = SolutionCache(Problem(MODEL), ROWS[:1], p_solve=0.5)
    back.load_state_dict(state)
    assert torch.equal(back.solutions, cache.solutions)


@pytest.mark.parametrize(
    ("name", "value"), [("capacity", "three"), ("seed", None), ("warm_start", 1), ("policy", "coin"), ("policy", 3)]
)
def test_a_setting_of_the_wrong_type_is_an_error_that_names_the_file(tmp_path, name, value):
    state = SolutionCache(Problem(MODEL), ROWS).state_dict()
    state["settings"][name] = value
    save_state(tmp_path / "cache", state, kind="cache")
    with pytest.raises(FileError, match=r"cache: field .*'settings'.* cannot be used"):
        SolutionCache.load(tmp_path / "cache", Problem(MODEL))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_file_keeps_the_precision(tmp_path, dtype):
    third = torch.tensor([[1 / 3, 0.0, 0.0]], dtype=torch.float64)
    linear = Problem(MODEL.relax())
    SolutionCache(linear, third, dtype=dtype).save(tmp_path / "cache")
    back = SolutionCache.load(tmp_path / "cache", linear)
    assert back.solutions.dtype == dtype
    assert torch.equal(back.solutions, third.to(dtype))
    assert SolutionCache.load(tmp_path / "cache", linear, dtype=torch.float32).solutions.dtype == torch.float32
    SolutionCache(linear, torch.cat([third, third * (1 + 1e-12)]), dtype=torch.float64).save(tmp_path / "cache")
    rounded = SolutionCache.load(tmp_path / "cache", linear, dtype=torch.float32)
    assert torch.equal(rounded.solutions, third.float()), "solutions that become equal are one"


def test_a_cache_of_another_problem_is_refused(tmp_path):
    SolutionCache(Problem(MODEL), ROWS).save(tmp_path / "cache")
    other = Problem(MILP([[1.0, 1.0, 1.0]], row_upper=1.0))
    with pytest.raises(InputError, match=r"belongs to another problem.*: give it the problem that it was made for"):
        SolutionCache.load(tmp_path / "cache", other)


def test_no_pickle_is_in_the_file(tmp_path):
    SolutionCache(Problem(MODEL), ROWS).save(tmp_path / "cache")
    content = (tmp_path / "cache").read_bytes()
    assert int.from_bytes(content[:8], "little") < len(content)
    assert content[8:9] == b"{"  # safetensors: a JSON header, then numbers
    assert b"regretless.cache" in content


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_a_damaged_file_is_named_and_left_alone(tmp_path, damage):
    path = tmp_path / "cache"
    SolutionCache(Problem(MODEL), ROWS).save(path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[:-7]
    elif damage == "flip":
        content[-3] ^= 255
    else:
        content = bytearray()
    path.write_bytes(content)
    with pytest.raises(FileError, match="cache"):
        SolutionCache.load(path, Problem(MODEL))
    assert path.read_bytes() == bytes(content)


def test_a_file_of_another_kind_and_a_missing_field_are_named(tmp_path):
    save_state(tmp_path / "labels", {}, kind="labels")
    with pytest.raises(FileError, match=r"regretless\.cache"):
        files.load(tmp_path / "labels")
    save_state(tmp_path / "half", {"fingerprint": "", "store": {}, "statistics": {}}, kind="cache")
    with pytest.raises(FileError, match="'coin' is missing"):
        files.load(tmp_path / "half")
    with pytest.raises(FileError, match="nowhere"):
        files.load(tmp_path / "nowhere")


def test_the_file_of_a_family_serves_it_also_after_members_were_added(tmp_path):
    def members(*limits: float) -> Problem:
        return Problem(Family.vary(MODEL, row_upper=[[limit] for limit in limits]))

    cache = SolutionCache(members(1.0, 2.0), ROWS, instance=[0, 1], p_solve=0.0)
    cache.save(tmp_path / "cache")
    back = SolutionCache.load(tmp_path / "cache", members(1.0, 2.0, 3.0))
    assert back.store.serves.tolist() == [[True, False], [True, True], [True, True]]
    assert back(-torch.ones(3, 3), torch.tensor([0, 1, 2])).tolist() == [ROWS[0], ROWS[1], ROWS[1]]
    for other in (members(1.0), members(1.0, 3.0, 2.0)):
        with pytest.raises(InputError, match="belongs to another problem"):
            SolutionCache.load(tmp_path / "cache", other)
