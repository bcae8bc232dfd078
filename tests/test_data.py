from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.data import Dataset
from regretless.errors import FileError, InputError, RegretlessWarning, SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.types import Solved, Status

KNAPSACK = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
rng = np.random.default_rng(0)
FEATURES, COSTS = rng.normal(size=(6, 2)), rng.integers(1, 9, (6, 3)).astype(float)


def numbered(n: int, **parts: Any) -> Dataset:
    """Data whose rows carry their own number."""
    rows = torch.arange(float(n))
    return Dataset(rows[:, None], rows[:, None] + 100, rows[:, None] + 200, **parts)


def numbers(data: Dataset) -> list[int]:
    assert torch.equal(data.features + 100, data.costs)
    assert torch.equal(data.features + 200, data.solutions)
    return [int(row) for row in data.features[:, 0]]


def test_labels_are_the_optima_of_brute_force() -> None:
    data = Dataset.solve(Problem(KNAPSACK, sense="max"), FEATURES, COSTS)
    points = np.array([x for x in product((0.0, 1.0), repeat=3) if KNAPSACK.check(x)[0]])
    assert KNAPSACK.check(data.solutions.numpy()).all()
    assert (data.costs * data.solutions).sum(dim=1).numpy() == pytest.approx((COSTS @ points.T).max(axis=1))
    assert data.status is None
    assert data.not_optimal == 0
    assert len(data) == 6


@pytest.mark.parametrize(
    "dress",
    [np.asarray, torch.as_tensor, pd.DataFrame, lambda array: array.tolist(), lambda array: np.asfortranarray(array)],
)
def test_arrays_tensors_frames_and_lists_give_the_same_data(dress: Any) -> None:
    data = Dataset.solve(Problem(KNAPSACK), dress(FEATURES), dress(COSTS))
    assert torch.equal(data.costs, torch.as_tensor(COSTS))
    assert torch.allclose(data.features.to(torch.float64), torch.as_tensor(FEATURES))
    assert data.costs.dtype == data.solutions.dtype == torch.float64


def test_array_features_take_the_dtype_of_a_model_and_tensors_of_numbers_keep_theirs() -> None:
    problem = Problem(KNAPSACK)
    assert Dataset.solve(problem, FEATURES, COSTS).features.dtype == torch.float32
    assert Dataset.solve(problem, torch.as_tensor(FEATURES), COSTS).features.dtype == torch.float64
    assert Dataset.solve(problem, torch.arange(6), COSTS).features.dtype == torch.int64
    for whole in (np.arange(6), FEATURES > 0, pd.DataFrame({"a": [True] * 6}), torch.as_tensor(FEATURES > 0)):
        assert Dataset.solve(problem, whole, COSTS).features.dtype == torch.float32


def test_features_of_any_shape_are_carried() -> None:
    assert Dataset.solve(Problem(KNAPSACK), np.zeros((6, 4, 5)), COSTS).features.shape == (6, 4, 5)


def test_the_data_do_not_change_with_the_callers_arrays() -> None:
    features, costs = FEATURES.copy(), COSTS.copy()
    data = Dataset.solve(Problem(KNAPSACK), features, costs)
    features[:], costs[:] = 0.0, 0.0
    assert torch.equal(data.costs, torch.as_tensor(COSTS))
    assert data.features.abs().sum() > 0


def spoiled(array: np.ndarray[Any, Any], row: int, value: float) -> np.ndarray[Any, Any]:
    out = array.copy()
    out[row, 1] = value
    return out


@pytest.mark.parametrize(
    ("features", "costs", "message"),
    [
        (FEATURES, COSTS[:, :2], r"costs must have shape \(n, 3\), got \(6, 2\)"),
        (FEATURES, COSTS[0], r"costs must have shape \(n, 3\), got \(3,\)"),
        (FEATURES[:5], COSTS, r"features must have 6 rows as costs have, got shape \(5, 2\)"),
        (1.0, COSTS, r"features must have 6 rows as costs have, got shape \(\)"),
        (spoiled(FEATURES, 4, np.nan), COSTS, "features must be finite, got NaN or infinity in row 4"),
        (FEATURES, spoiled(COSTS, 5, np.nan), "costs must be finite, got nan at row 5, column 1"),
        (FEATURES, spoiled(COSTS, 3, -np.inf), "costs must be finite, got -inf at row 3, column 1"),
        (FEATURES, [["a", "b", "c"]] * 6, "costs must be numbers, got list"),
        (FEATURES, None, "costs must be numbers, got None"),
    ],
)
def test_wrong_data_are_named(features: Any, costs: Any, message: str) -> None:
    problem = Problem(KNAPSACK, sense="max")
    with pytest.raises(InputError, match=message):
        Dataset.solve(problem, features, costs)
    assert problem.statistics.solves == 0


def test_reversed_columns_of_a_data_frame_give_the_same_labels() -> None:
    problem = Problem(MILP(KNAPSACK.A, row_upper=7.0, names=("a", "b", "c")), sense="max")
    frame = pd.DataFrame(COSTS, columns=["a", "b", "c"])
    expected = Dataset.solve(problem, FEATURES, COSTS)
    data = Dataset.solve(problem, FEATURES, frame[["c", "b", "a"]])
    assert torch.equal(data.costs, expected.costs)
    assert torch.equal(data.solutions, expected.solutions)
    with pytest.raises(InputError, match="missing: a; unknown: d"):
        Dataset.solve(problem, FEATURES, frame.rename(columns={"a": "d"}))


@pytest.mark.parametrize("n", [5, 500])
def test_an_oracle_of_the_wrong_sense_is_refused_with_an_instance(n: int) -> None:
    costs = np.random.default_rng(1).normal(size=(n, 5))
    wrong = Problem(oracle=lambda c: c == c.min(), dimension=5, sense="max")
    message = r"instance \d+ of the batch has a solution with .* better than its label .*sense='max'.*the sense"
    with pytest.raises(SolveError, match=message) as caught:
        Dataset.solve(wrong, np.zeros((n, 1)), costs)
    assert caught.value.row in range(n)
    Dataset.solve(Problem(oracle=lambda c: c == c.max(), dimension=5, sense="max"), np.zeros((n, 1)), costs)


def test_an_oracle_that_returns_infeasible_labels_is_refused_with_an_instance() -> None:
    class Greedy:
        def solve(self, costs: torch.Tensor, instance: Any = None, *, decision: bool = False) -> Solved:
            return Solved((costs < 0).double() * (costs.sum(dim=1) < -20)[:, None])

    costs = np.array([[1.0, 1.0, 1.0], [9.0, 8.0, 7.0]])
    with pytest.raises(SolveError, match="the label of instance 1 is infeasible for the model: the oracle is wrong"):
        Dataset.solve(Problem(KNAPSACK, oracle=Greedy(), sense="max"), np.zeros((2, 1)), costs)
    family = Family([MILP([[1.0, 1.0, 1.0]], row_upper=k) for k in (3.0, 1.0)])
    with pytest.raises(SolveError, match="the label of instance 0 is infeasible"):
        Dataset.solve(Problem(family, oracle=Greedy(), sense="max"), np.zeros((2, 1)), costs[::-1], instance=[1, 0])


def test_labels_of_a_family_are_compared_only_where_they_are_feasible() -> None:
    family = Family([MILP([[1.0, 1.0]], row_upper=k) for k in (1.0, 2.0)])
    Dataset.solve(Problem(family, sense="max"), np.zeros((2, 1)), [[1.0, 1.0], [1.0, 1.0]], instance=[0, 1])
    wrong = Problem(family, sense="max", oracle=lambda c, i: [0.0, 0.0] if c[0] > 5 else [1.0, 0.0])
    with pytest.raises(SolveError, match=r"instance 1 of the batch \(family member 1\) has a solution"):
        Dataset.solve(wrong, np.zeros((2, 1)), [[1.0, 1.0], [9.0, 1.0]], instance=[0, 1])


def test_a_bad_cost_far_down_is_named_by_its_row_in_the_data() -> None:
    costs = np.ones((100, 3))
    costs[77, 2] = np.nan
    with pytest.raises(InputError, match="row 77, column 2"):
        Dataset.solve(Problem(KNAPSACK), np.zeros((100, 1)), costs)


FAMILY = Family([MILP([[1.0, 1.0]], row_lower=low) for low in (3.0, 1.0)])
MEMBERS = [1, 0, 1, 1, 0]
X, C = torch.arange(5.0)[:, None], np.arange(10.0).reshape(5, 2) + 1


def test_a_family_needs_ids_that_fit() -> None:
    problem = Problem(FAMILY)
    for instance, message in (
        (None, "pass instance="),
        ([1, 1], "must have shape"),
        ([1, 1, 1, 1, 2], "between 0 and 1"),
    ):
        with pytest.raises(InputError, match=message):
            Dataset.solve(problem, X, C, instance=instance)
    data = Dataset.solve(problem, X, C, instance=[1] * 5)
    assert data.instance is not None
    assert data.instance.tolist() == [1] * 5
    assert data.solutions.sum(dim=1).tolist() == [1.0] * 5


def test_an_instance_without_a_solution_raises() -> None:
    with pytest.raises(SolveError, match=r"instance 1 of the batch \(family member 0\): infeasible\. "):
        Dataset.solve(Problem(FAMILY), X, C, instance=MEMBERS)


@pytest.mark.parametrize("on_failure", ["skip", "cache"])
def test_an_instance_without_a_solution_is_left_out_with_a_warning(on_failure: Any) -> None:
    problem = Problem(FAMILY, on_failure=on_failure)
    with pytest.warns(RegretlessWarning, match=r"2 of 5 instances have no solution and are left out: rows \[1, 4\]"):
        data = Dataset.solve(problem, X, C, instance=MEMBERS)
    assert data.features[:, 0].tolist() == [0.0, 2.0, 3.0]
    assert data.instance is not None
    assert data.instance.tolist() == [1, 1, 1]
    assert data.status == (Status.OPTIMAL,) * 3
    assert data.not_optimal == 0
    assert not torch.isnan(data.solutions).any()


class Hurried:
    """Runs into its time limit on every other instance, with a solution in hand."""

    def solve(self, costs: torch.Tensor, instance: Any = None, *, decision: bool = False) -> Solved:
        status = [Status.TIME_LIMIT if k % 2 else Status.OPTIMAL for k in range(len(costs))]
        return Solved(torch.ones_like(costs), status, gap=torch.full((len(costs),), 0.1))


def test_labels_of_a_time_limit_are_kept_and_flagged() -> None:
    data = Dataset.solve(Problem(oracle=Hurried(), dimension=3), FEATURES, COSTS)
    assert data.status == (Status.OPTIMAL, Status.TIME_LIMIT) * 3
    assert data.not_optimal == 3
    assert data[[1, 2]].status == (Status.TIME_LIMIT, Status.OPTIMAL)
    assert data[::2].not_optimal == 0


def test_labels_of_a_time_limit_may_be_beaten() -> None:
    class Late(Hurried):
        def solve(self, costs: torch.Tensor, instance: Any = None, *, decision: bool = False) -> Solved:
            return Solved(torch.rand(costs.shape), [Status.TIME_LIMIT] * len(costs))

    assert Dataset.solve(Problem(oracle=Late(), dimension=3), FEATURES, COSTS).not_optimal == 6


def test_labels_of_a_time_limit_are_solved_again_the_next_time(tmp_path: Path) -> None:
    problem = Problem(oracle=Hurried(), dimension=3, name="hurried")
    for solves in (6, 9):
        Dataset.solve(problem, FEATURES, COSTS, store=tmp_path)
        assert problem.statistics.solves == solves


def test_a_store_serves_the_second_run_and_damage_is_named(tmp_path: Path) -> None:
    first = Dataset.solve(Problem(KNAPSACK), FEATURES, COSTS, store=tmp_path)
    problem = Problem(KNAPSACK)
    second = Dataset.solve(problem, FEATURES, COSTS, store=tmp_path)
    assert problem.statistics.solves == 0
    assert torch.equal(first.solutions, second.solutions)
    (path,) = tmp_path.iterdir()
    path.write_bytes(b"garbage")
    with pytest.raises(FileError, match=path.name):
        Dataset.solve(problem, FEATURES, COSTS, store=tmp_path)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (2, [2]),
        (-1, [5]),
        (slice(1, 4), [1, 2, 3]),
        (slice(None, None, 2), [0, 2, 4]),
        ([4, 0, 0], [4, 0, 0]),
        (np.array([3, 1]), [3, 1]),
        (torch.tensor([5, 2]), [5, 2]),
        (torch.tensor(3), [3]),
        ([True, False, False, True, False, False], [0, 3]),
        (np.arange(6) > 3, [4, 5]),
        (torch.arange(6) < 2, [0, 1]),
        ([], []),
    ],
)
def test_rows_are_selected_by_number_slice_ids_and_mask(index: Any, expected: list[int]) -> None:
    status = tuple(Status.OPTIMAL if k % 2 else Status.TIME_LIMIT for k in range(6))
    data = numbered(6, instance=torch.arange(6), status=status, names=tuple("abcdef"))
    part = data[index]
    assert numbers(part) == expected
    assert part.instance is not None
    assert part.instance.tolist() == expected
    assert part.status == tuple(status[k] for k in expected)
    assert part.names == tuple("abcdef"[k] for k in expected)


def test_going_through_the_rows_ends() -> None:
    assert [numbers(row) for row in numbered(3)] == [[0], [1], [2]]
    with pytest.raises(IndexError):
        numbered(3)[3]


def test_parts_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="features has 3, costs has 2, solutions has 3"):
        Dataset(torch.zeros(3, 1), torch.zeros(2, 1), torch.zeros(3, 1))
    with pytest.raises(InputError, match="instance has 2"):
        numbered(3, instance=torch.zeros(2))


def test_a_data_set_converts_arrays_and_lists() -> None:
    solutions = np.zeros((6, 3), dtype=np.int64)
    data = Dataset(FEATURES, COSTS.tolist(), solutions, np.arange(6))  # type: ignore[arg-type]
    assert (data.features.dtype, data.costs.dtype, data.solutions.dtype) == (torch.float32, *[torch.float64] * 2)
    assert data.instance is not None
    assert data.instance.tolist() == list(range(6))
    assert len(data[2:4]) == 2
    assert numbered(3).costs.dtype == torch.float32, "tensors of floating-point numbers stay as they are"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((1.0, COSTS, COSTS), r"features must have shape \(n, ...\), got one number"),
        (("text", COSTS, COSTS), "features must be numbers, got str"),
        ((FEATURES, COSTS[0], COSTS), r"costs must have shape \(n, d\), got \(3,\)"),
        ((FEATURES, COSTS, COSTS[:, 0]), r"solutions must have shape \(n, d\), got \(6,\)"),
        ((FEATURES, COSTS, COSTS[:, :2]), r"a value for each of the 3 costs, got shape \(6, 2\)"),
        ((FEATURES, COSTS, COSTS, [[0]] * 6), r"instance must have shape \(n,\), got \(6, 1\)"),
        ((FEATURES, COSTS, COSTS, [0.5] * 6), "instance must be integers"),
    ],
)
def test_wrong_parts_of_a_data_set_are_named(parts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Dataset(*parts)


shares = st.lists(st.integers(1, 9), min_size=1, max_size=4).flatmap(
    lambda parts: st.integers(0, 9).map(lambda rest: [part / (sum(parts) + rest) for part in parts])
)


@given(n=st.integers(1, 200), shares=shares, seed=st.none() | st.integers(0, 9))
def test_a_split_is_a_partition_of_the_right_sizes(n: int, shares: list[float], seed: int | None) -> None:
    data = numbered(n)
    try:
        parts = data.split(*shares, seed=seed)
    except InputError as error:
        assert "empty" in str(error)  # noqa: PT017
        whole = [*shares, 1 - sum(shares)] if sum(shares) < 1 - 1e-9 else shares
        assert min(whole) * n <= 1.0  # ends are rounded, so a part of one row may have none
        return
    assert len(parts) == len(shares) + (sum(shares) < 1 - 1e-9)
    rows = [number for part in parts for number in numbers(part)]
    assert sorted(rows) == list(range(n))
    if seed is None:
        assert rows == list(range(n))
    for part, share in zip(parts, shares, strict=False):
        assert abs(len(part) - share * n) <= 1.0


def test_a_split_depends_on_its_seed_alone() -> None:
    data = numbered(50)
    before = torch.random.get_rng_state()
    one, again, other = (numbers(data.split(0.5, seed=seed)[0]) for seed in (1, np.int64(1), 2))
    assert one == again != other
    assert torch.equal(torch.random.get_rng_state(), before), "the global generator is not touched"


@pytest.mark.parametrize("shares", [(), (0.0, 0.5), (-0.5,), (0.8, 0.3), (float("nan"),)])
def test_shares_that_are_no_shares_are_refused(shares: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="shares must be positive numbers that sum to at most 1"):
        numbered(10).split(*shares)


def test_a_part_that_would_be_empty_is_refused() -> None:
    for wanted in ((0.999,), (0.01, 0.5), (0.5, 0.499)):
        with pytest.raises(InputError, match="leave a part of 10 instances empty"):
            numbered(10).split(*wanted)
    with pytest.raises(InputError, match=r"the shares 0\.001, 0\.999 leave"):
        numbered(10).split(1 - 0.999, 0.999)


def test_shares_that_sum_to_one_in_floating_point_leave_nothing_over() -> None:
    assert [len(part) for part in numbered(10).split(0.7, 0.1, 0.2)] == [7, 1, 2]
    assert [len(part) for part in numbered(30).split(*[1 / 3] * 3)] == [10, 10, 10]
    assert [len(part) for part in numbered(10).split(1.0)] == [10]


def test_no_instances_have_no_labels():
    problem = Problem(oracle=lambda costs: costs, dimension=2)
    data = Dataset.solve(problem, torch.zeros(0, 1), torch.ones(0, 2))
    assert data.solutions.shape == (0, 2)


def test_a_model_in_place_of_a_problem_is_named():
    milp = MILP([[1.0, 1.0]], row_upper=1.0)
    with pytest.raises(InputError, match=r"problem must be a Problem, got MILP: build it with Problem\(model\)"):
        Dataset.solve(milp, torch.zeros(1, 1), torch.zeros(1, 2))


def test_the_text_of_data_has_shapes_and_no_numbers() -> None:
    assert repr(numbered(300)) == "Dataset(features (300, 1), costs (300, 1), solutions (300, 1))"
    family = numbered(2, instance=[0, 1], status=(Status.OPTIMAL, Status.TIME_LIMIT))
    assert repr(family).endswith("solutions (2, 1), with ids of instances, 1 labels not optimal)")


def test_data_are_compared_and_hashed_as_objects() -> None:
    data = numbered(3)
    assert data == data
    assert data != numbered(3)
    assert len({data, data, numbered(3)}) == 2


@pytest.mark.parametrize(
    "index",
    [
        [3, 1], (3, 1), np.array([3, 1]), torch.tensor([3, 1]), range(3, 0, -2), [-1, 1],
        np.array([3, 1], dtype=np.uint8), np.array([3, 1], dtype=np.uint16),
    ],
    ids=repr,
)  # fmt: skip
def test_instances_are_selected_by_ids_of_any_kind(index: Any) -> None:
    assert numbers(numbered(4)[index]) == [3, 1]


def test_a_list_of_booleans_is_a_mask_and_an_empty_list_selects_nothing() -> None:
    assert numbers(numbered(3)[[True, False, True]]) == [0, 2]
    assert numbers(numbered(3)[[]]) == []


@pytest.mark.parametrize(
    ("index", "got"),
    [("a", "got str"), ([1.5], r"got tensor\(\[1.5"), (None, "got NoneType"), (slice(None, None, -1), "step")],
)
def test_what_selects_no_instances_is_refused(index: Any, got: str) -> None:
    with pytest.raises(InputError, match=f"selected by a slice, a mask or ids, which are integers: .*{got}"):
        numbered(3)[index]


@pytest.mark.parametrize("shares", [("a",), ([0.5, 0.5],)])
def test_shares_that_are_no_numbers_and_seeds_that_are_none_are_refused(shares: Any) -> None:
    with pytest.raises(InputError, match="shares must be positive numbers"):
        numbered(4).split(*shares)
    with pytest.raises(InputError, match="seed must be an integer from 0"):
        numbered(4).split(0.5, seed="a")  # type: ignore[arg-type]


def test_a_status_by_its_name_is_a_status():
    parts = torch.zeros(2, 1), torch.zeros(2, 2), torch.zeros(2, 2)
    data = Dataset(*parts, status=["optimal", "time limit"], names=["a", "b"])
    assert (data.status, data.names) == ((Status.OPTIMAL, Status.TIME_LIMIT), ("a", "b"))
    assert data.not_optimal == 1
    with pytest.raises(InputError, match=r"status must have one of 'optimal', .* per row, got 'solved'"):
        Dataset(*parts, status=["optimal", "solved"])
