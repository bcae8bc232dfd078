from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regretless.data import Dataset
from regretless.errors import FileError, InputError, RegretlessWarning, SolveError
from regretless.family import Family
from regretless.label_memory import LabelMemory
from regretless.labels import (
    COMPARED,
    LABEL_BATCH,
    begun_labels,
    infeasible_label,
    refuse_wrong_labels,
    solve_labels,
    some_solved,
)
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.top_k import TopKOracle
from regretless.solvers.found_decisions import FoundDecisions
from regretless.storage import load_state, save_state
from regretless.types import Solved, Status
from tests import forked

KNAPSACK = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
COSTS = torch.arange(1.0, 13.0, dtype=torch.float64).reshape(4, 3)
# members 0 and 2 have no solution
FAMILY = Family([MILP([[1.0, 1.0]], row_lower=low) for low in (3.0, 1.0, 5.0, 0.0)])


def test_labels_are_optimal_and_in_order() -> None:
    problem = Problem(KNAPSACK, sense="max")
    costs = torch.as_tensor(np.random.default_rng(0).integers(1, 9, (LABEL_BATCH * 2 + 3, 3)).astype(float))
    solutions, status = solve_labels(problem, costs)
    assert torch.equal(solutions, problem.solve(costs).solution)
    assert status == [Status.OPTIMAL] * len(costs)
    assert problem.statistics.solves == 2 * len(costs)
    assert problem.statistics.by_purpose["labels"].solves == len(costs)


def test_workers_do_not_change_labels() -> None:
    costs = torch.as_tensor(np.random.default_rng(0).integers(1, 4, (50, 3)).astype(float))
    one, two = (solve_labels(Problem(KNAPSACK, sense="max", workers=k), costs)[0] for k in (1, 2))
    assert torch.equal(one, two)


def test_no_costs_give_no_labels() -> None:
    solutions, status = solve_labels(Problem(KNAPSACK), torch.zeros(0, 3, dtype=torch.float64))
    assert solutions.shape == (0, 3)
    assert status == []


def test_the_second_time_nothing_is_solved(tmp_path: Path) -> None:
    first, _ = solve_labels(Problem(KNAPSACK, sense="max"), COSTS, store=tmp_path / "new" / "folder")
    problem = Problem(KNAPSACK, sense="max", workers=2, on_failure="skip", time_limit=7.0, name="another name")
    second, status = solve_labels(problem, COSTS, store=tmp_path / "new" / "folder")
    assert problem.statistics.solves == 0
    assert torch.equal(first, second)
    assert status == [Status.OPTIMAL] * 4


@pytest.mark.parametrize(
    ("problem", "costs"),
    [
        (Problem(KNAPSACK, sense="max"), COSTS + 1e-12),
        (Problem(KNAPSACK, sense="max"), COSTS[:3]),
        (Problem(KNAPSACK, sense="min"), COSTS),
        (Problem(KNAPSACK.relax(), sense="max"), COSTS),
        (Problem(KNAPSACK, sense="max", mip_rel_gap=0.5), COSTS),
        (Problem(KNAPSACK, sense="max", oracle=lambda c: [0.0, 0.0, 1.0]), COSTS),
    ],
)
def test_whatever_labels_depend_on_is_solved_anew(tmp_path: Path, problem: Problem, costs: torch.Tensor) -> None:
    solve_labels(Problem(KNAPSACK, sense="max"), COSTS, store=tmp_path)
    solve_labels(problem, costs, store=tmp_path)
    assert problem.statistics.solves == len(costs)


def test_members_of_a_family_are_told_apart(tmp_path: Path) -> None:
    problem = Problem(FAMILY)
    costs = torch.ones(2, 2, dtype=torch.float64)
    one, _ = solve_labels(problem, costs, torch.tensor([1, 3]), store=tmp_path)
    two, _ = solve_labels(problem, costs, torch.tensor([3, 1]), store=tmp_path)
    assert problem.statistics.solves == 4
    assert torch.equal(one, two.flip(0))


def test_a_failure_is_named_by_its_row_in_the_data_fresh_or_stored(tmp_path: Path) -> None:
    members = torch.tensor([1] * (LABEL_BATCH + 2) + [2])
    costs = torch.ones(len(members), 2, dtype=torch.float64)
    message = rf"instance {LABEL_BATCH + 2} of the batch \(family member 2\): infeasible"
    with pytest.raises(SolveError, match=message):
        solve_labels(Problem(FAMILY), costs, members, store=tmp_path)
    solve_labels(Problem(FAMILY, on_failure="skip"), costs, members, store=tmp_path)
    problem = Problem(FAMILY)
    with pytest.raises(SolveError, match=message):
        solve_labels(problem, costs, members, store=tmp_path)
    assert problem.statistics.solves == 0


def test_a_failure_in_memory_is_a_failure() -> None:
    memory, costs, members = LabelMemory(), torch.ones(2, 2, dtype=torch.float64), torch.tensor([1, 2])
    solve_labels(Problem(FAMILY, on_failure="skip"), costs, members, memory=memory)
    problem = Problem(FAMILY)
    with pytest.raises(SolveError, match=r"instance 1 of the batch \(family member 2\): infeasible"):
        solve_labels(problem, costs, members, memory=memory)
    assert problem.statistics.solves == 0


def test_a_failure_ends_the_solves() -> None:
    problem, members = Problem(FAMILY), torch.tensor([2] + [1] * 9)
    with pytest.raises(SolveError, match="instance 0 of the batch"):
        solve_labels(problem, torch.ones(10, 2, dtype=torch.float64), members)
    assert problem.statistics.solves == 1


def test_what_cannot_be_solved_at_all_is_stored_with_its_status(tmp_path: Path) -> None:
    costs, members = torch.ones(3, 2, dtype=torch.float64), torch.tensor([1, 0, 3])
    for solves in (3, 0):
        problem = Problem(FAMILY, on_failure="skip")
        solutions, status = solve_labels(problem, costs, members, store=tmp_path)
        assert problem.statistics.solves == solves
        assert status == [Status.OPTIMAL, Status.INFEASIBLE, Status.OPTIMAL]
        assert torch.isnan(solutions).all(dim=1).tolist() == [False, True, False]


def test_what_a_fault_spoiled_is_not_stored(tmp_path: Path) -> None:
    def flaky(costs: Any) -> Any:
        raise RuntimeError("out of licenses")

    _, status = solve_labels(Problem(KNAPSACK, oracle=flaky, on_failure="skip"), COSTS, store=tmp_path)
    assert status == [Status.ERROR] * 4
    assert list(tmp_path.iterdir()) == []


def test_without_a_model_a_name_must_tell_problems_apart(tmp_path: Path) -> None:
    nameless = Problem(oracle=lambda c: c == c.min(), dimension=3)
    with pytest.raises(InputError, match=r"stored labels are told apart by the model; without one, .*name="):
        solve_labels(nameless, COSTS, store=tmp_path)
    solve_labels(nameless, COSTS)
    for solves in (4, 0):
        named = Problem(oracle=lambda c: c == c.min(), dimension=3, name="mine")
        solve_labels(named, COSTS, store=tmp_path)
        assert named.statistics.solves == solves


def choosing(column: int) -> Any:
    """An oracle of a factory: all of them have one name."""
    return lambda costs: [float(k == column) for k in range(3)]


def test_oracles_of_one_factory_are_told_apart_with_a_model_and_without(tmp_path: Path) -> None:
    memory = LabelMemory()
    for model in ({"model": KNAPSACK}, {"dimension": 3, "name": "mine"}):
        for column, solves in ((0, 4), (1, 4), (0, 0), (1, 0)):
            for kept in ({"store": tmp_path}, {"memory": memory}):
                problem = Problem(oracle=choosing(column), **model)
                solutions, _ = solve_labels(problem, COSTS, **kept)
                assert problem.statistics.solves == solves
                assert solutions[:, column].tolist() == [1.0] * 4


class Scaled:
    """An oracle with a solver's own object, which has no hash."""

    def __init__(self, own: Any = None) -> None:
        self.own = own

    def solve(self, costs: torch.Tensor, instance: Any = None, *, decision: bool = False) -> Solved:
        return Solved((costs == costs.amin(dim=1, keepdim=True)).double())


def test_an_oracle_of_this_library_without_a_model_is_known_by_its_values(tmp_path: Path) -> None:
    for k in (1, 2):
        problem = Problem(oracle=TopKOracle(k), dimension=3, sense="max", name="best")
        solutions, _ = solve_labels(problem, COSTS, store=tmp_path)
        assert solutions.sum(dim=1).tolist() == [k] * 4
        assert problem.statistics.solves == 4


def test_labels_of_an_oracle_that_cannot_be_told_from_others_are_not_kept(tmp_path: Path) -> None:
    memory, problem = LabelMemory(), Problem(KNAPSACK, oracle=Scaled(threading.Lock()))
    with pytest.warns(
        RegretlessWarning, match=r"not stored: the oracle uses a value of type lock.* fingerprint to a s"
    ):
        solve_labels(problem, COSTS, store=tmp_path, memory=memory)
    assert (list(tmp_path.iterdir()), len(memory)) == ([], 0)
    oracle = Scaled(threading.Lock())
    oracle.fingerprint = "scaled, version 1"  # type: ignore[attr-defined]
    solve_labels(Problem(KNAPSACK, oracle=oracle), COSTS, store=tmp_path, memory=memory)
    assert (len(list(tmp_path.iterdir())), len(memory)) == (1, 4)


def test_wrong_labels_are_neither_stored_nor_remembered(tmp_path: Path) -> None:
    def wrong(costs: Any) -> Any:
        return [0.0, 0.0, 1.0] if costs[0] < 5 else [0.0, 0.0, 0.0]

    memory = LabelMemory()
    for _ in range(2):
        problem = Problem(KNAPSACK, oracle=wrong, sense="max")
        with pytest.raises(SolveError, match="instance 2 of the batch has a solution with objective 9"):
            solve_labels(problem, COSTS, store=tmp_path, memory=memory)
        assert problem.statistics.solves == 4
    assert (list(tmp_path.iterdir()), len(memory)) == ([], 0)


def test_a_repaired_oracle_is_asked_again(tmp_path: Path) -> None:
    repaired = False

    def oracle(costs: Any) -> Any:
        return [1.0, 1.0, 0.0] if repaired or costs[0] < 5 else [0.0, 0.0, 0.0]

    memory = LabelMemory()
    for kept in ({"store": tmp_path}, {"memory": memory}):
        repaired = False
        with pytest.raises(SolveError, match="is wrong"):
            solve_labels(Problem(KNAPSACK, oracle=oracle, sense="max"), COSTS, **kept)
        repaired = True
        problem = Problem(KNAPSACK, oracle=oracle, sense="max")
        solve_labels(problem, COSTS, **kept)
        assert problem.statistics.solves == 4


def test_stored_labels_of_a_function_serve_other_processes(tmp_path: Path) -> None:
    script = """
import sys
import torch
from regretless import MILP, Problem
from regretless.labels import solve_labels

def factory(weights):
    return lambda costs: [float(w == min(weights)) for w in weights]

problem = Problem(MILP([[3.0, 4.0, 5.0]], row_upper=7.0), oracle=factory((3.0, 4.0, 5.0)))
solve_labels(problem, torch.ones(2, 3, dtype=torch.float64), store=sys.argv[1])
print(problem.statistics.solves)
"""
    for count in ("2", "0"):
        said = tmp_path / f"{count}.txt"
        forked.start(script, tmp_path / "labels", output=said).join()
        assert said.read_text() == f"{count}\n"


def test_labels_of_this_librarys_oracles_keep_their_file_name() -> None:
    problem = knapsack_problem([3.0, 4.0, 5.0], 7.0)
    assert problem.label_solver == problem.solver == "KnapsackOracle"
    assert Problem(KNAPSACK, mip_rel_gap=0.5).label_solver == "highs(mip_rel_gap=0.5)"


def test_a_damaged_store_is_named_and_left_alone(tmp_path: Path) -> None:
    problem = Problem(KNAPSACK)
    solve_labels(problem, COSTS, store=tmp_path)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-3])
    with pytest.raises(FileError, match=path.name):
        solve_labels(problem, COSTS, store=tmp_path)
    assert path.read_bytes() == content[:-3]


def test_stored_labels_without_decisions_serve_a_problem_that_keeps_them(tmp_path: Path) -> None:
    first, _ = solve_labels(Problem(KNAPSACK), COSTS, store=tmp_path)
    problem = Problem(KNAPSACK)
    problem.found = FoundDecisions(3)
    assert torch.equal(solve_labels(problem, COSTS, store=tmp_path)[0], first)
    assert problem.statistics.solves == 0


@pytest.mark.parametrize(
    "change",
    [
        {"solutions": torch.zeros(3, 3, dtype=torch.float64)}, {"solutions": torch.zeros(4, 3, dtype=torch.int32)},
        {"solutions": None}, {"status": ["optimal"] * 3}, {"status": ["fine"] * 4},
    ],
)  # fmt: skip
def test_a_stored_file_with_other_content_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    problem = Problem(KNAPSACK)
    solve_labels(problem, COSTS, store=tmp_path)
    (path,) = tmp_path.iterdir()
    save_state(path, load_state(path, kind="labels") | change, kind="labels")
    with pytest.raises(FileError, match=f"{path.name}: field"):
        solve_labels(problem, COSTS, store=tmp_path)


def test_stored_labels_that_are_wrong_are_refused(tmp_path: Path) -> None:
    problem = Problem(KNAPSACK, sense="max")
    solutions, _ = solve_labels(problem, COSTS, store=tmp_path)
    (path,) = tmp_path.iterdir()
    save_state(path, load_state(path, kind="labels") | {"solutions": torch.ones_like(solutions)}, kind="labels")
    with pytest.raises(SolveError, match="the label of instance 0 is infeasible"):
        solve_labels(problem, COSTS, store=tmp_path)


def test_whether_a_store_has_some_of_the_labels(tmp_path: Path) -> None:
    problem, members = Problem(FAMILY), torch.tensor([1, 3])
    costs = torch.ones(2, 2, dtype=torch.float64)
    assert not some_solved(problem, costs, members, None)
    assert not some_solved(problem, costs, members, tmp_path)
    begun = begun_labels(tmp_path, problem)
    begun.add(problem, begun.keys(problem, costs[:1], members[:1]) or [], costs[:1], [Status.OPTIMAL])
    begun.write()
    assert some_solved(problem, costs, members, tmp_path)
    assert not some_solved(problem, costs[:1], members[1:], tmp_path)
    begun.remove()
    solve_labels(problem, costs, members, store=tmp_path)
    assert some_solved(problem, costs, members, tmp_path)
    with pytest.warns(RegretlessWarning, match="not stored"):
        assert not some_solved(Problem(KNAPSACK, oracle=Scaled(threading.Lock())), COSTS, None, tmp_path)


def test_an_infeasible_label_is_named_by_its_row() -> None:
    labels = torch.tensor([[torch.nan] * 3, [1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    with pytest.raises(SolveError, match="label of instance 2 is infeasible for the model") as failed:
        refuse_wrong_labels(Problem(KNAPSACK, sense="max"), COSTS, labels, None, [Status.OPTIMAL] * 4)
    assert failed.value.row == 2


def test_labels_of_a_family_are_checked_as_decisions_whatever_the_cost_map_is() -> None:
    swapped = MILP([[1.0, 2.0]], row_upper=1.0, cost_map=[[0.0, 1.0], [1.0, 0.0]])
    labels = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)  # the second variable comes first
    assert infeasible_label(Problem(Family([swapped])), labels, torch.tensor([0, 0])) == 1


def test_a_label_that_is_beaten_is_named_by_its_row_unless_it_is_not_optimal() -> None:
    problem, status = Problem(KNAPSACK, sense="max"), [Status.INFEASIBLE, Status.OPTIMAL, Status.OPTIMAL]
    labels = torch.tensor([[torch.nan] * 3, [0.0] * 3, [1.0, 1.0, 0.0]], dtype=torch.float64)
    with pytest.raises(SolveError, match="instance 1 of the batch has a solution with objective 9"):
        refuse_wrong_labels(problem, COSTS[:3], labels, None, status)
    refuse_wrong_labels(problem, COSTS[:3], labels, None, [Status.INFEASIBLE, Status.TIME_LIMIT, Status.OPTIMAL])


class FirstItem:
    """A heuristic for the best of two items: it takes the first one unless that is worth nothing."""

    def __init__(self, status: Status) -> None:
        self.status = status

    def solve(self, costs: torch.Tensor, instance: torch.Tensor | None = None, *, decision: bool = False) -> Solved:
        first = (costs[:, 0] < 0).to(costs.dtype)
        return Solved(torch.stack([first, 1 - first], dim=1), status=[self.status] * len(costs))


def test_labels_of_a_heuristic_may_be_beaten_where_it_says_that_they_are_not_optimal() -> None:
    costs = torch.tensor([[0.0, 1.0], [1.0, 3.0]], dtype=torch.float64)
    with pytest.raises(SolveError, match=r"a heuristic has to return Status\.FEASIBLE"):
        solve_labels(Problem(oracle=FirstItem(Status.OPTIMAL), dimension=2, sense="max"), costs)
    solutions, status = solve_labels(Problem(oracle=FirstItem(Status.FEASIBLE), dimension=2, sense="max"), costs)
    assert solutions.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert status == [Status.FEASIBLE] * 2


@pytest.mark.parametrize(
    ("problem", "members", "other", "wrong"),
    [
        (Problem(FAMILY), [1, 3], [1.0, 0.0], True),
        (Problem(FAMILY), [1, 3], [0.0, 0.0], False),
        (Problem(oracle=lambda c, i: [1.0, 1.0], dimension=2, instances=2), [1, 1], [1.0, 0.0], True),
        (Problem(oracle=lambda c, i: [1.0, 1.0], dimension=2, instances=2), [1, 0], [1.0, 0.0], False),
    ],
    ids=["feasible for both", "feasible for one", "one instance of a function", "two instances of a function"],
)
def test_labels_of_a_family_are_compared_where_they_are_feasible(
    problem: Problem, members: list[int], other: list[float], wrong: bool
) -> None:
    costs, labels = torch.ones(2, 2, dtype=torch.float64), torch.tensor([[1.0, 1.0], other], dtype=torch.float64)
    raises: Any = pytest.raises(SolveError, match="instance 0 of the batch") if wrong else contextlib.nullcontext()
    with raises:
        refuse_wrong_labels(problem, costs, labels, torch.tensor(members), [Status.OPTIMAL] * 2)


def test_a_label_is_compared_whatever_the_number_of_labels_is() -> None:
    costs = torch.ones(COMPARED + 1, 3, dtype=torch.float64)
    labels = torch.tensor([[1.0, 1.0, 0.0]], dtype=torch.float64).repeat(len(costs), 1)
    labels[::2] = 0.0
    with pytest.raises(SolveError, match="is wrong"):
        refuse_wrong_labels(Problem(KNAPSACK, sense="max"), costs, labels, None, [Status.OPTIMAL] * len(costs))


@pytest.mark.parametrize(("store", "message"), [("file", "store must be a folder, and .* is a file"), (5, "got int")])
def test_a_store_that_is_no_folder_is_refused_before_anything_is_solved(
    tmp_path: Path, store: Any, message: str
) -> None:
    (tmp_path / "file").touch()
    problem = Problem(KNAPSACK)
    with pytest.raises(InputError, match=message):
        solve_labels(problem, COSTS, store=tmp_path / store if isinstance(store, str) else store)
    assert problem.statistics.solves == 0


def test_labels_of_members_with_nearly_equal_capacities_are_not_mixed_up() -> None:
    bag = MILP([[3_000_000.0, 2_000_003.0, 1_000_000.0]], row_names=["capacity"])
    family = Family.vary(bag, row_upper={"capacity": [5_000_003.0, 5_000_000.0]})
    costs = [[5.0, 5.0, 1.0]] * 2
    data = Dataset.solve(Problem(family, sense="max"), [[0.0], [0.0]], costs, instance=[0, 1])
    assert data.solutions.sum(dim=1).tolist() == [2.0, 2.0]
    assert family.feasible([[1.0, 1.0, 0.0]]).tolist() == [[True], [False]]
