from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regretless import begun_solves
from regretless.begun_solves import KIND, BegunSolves, beside, kept_until_done, solve_rows
from regretless.data import Dataset
from regretless.errors import FileError, RegretlessWarning, SolveError
from regretless.family import Family
from regretless.label_memory import LabelMemory
from regretless.labels import solve_labels
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.found_decisions import FoundDecisions
from regretless.storage import load_state, save_state
from regretless.types import Solved, Status

BAG = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
COSTS = torch.as_tensor(np.random.default_rng(0).uniform(1, 9, (20, 3)))


@pytest.fixture(autouse=True)
def all_work_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begun_solves, "WORTH", 0.0)


class Stops:
    """Stands in for the backend of a problem: the ``at``-th batch raises."""

    def __init__(self, problem: Problem, at: int, error: BaseException) -> None:
        self.solve, self.left, self.error = problem.backend.solve, at, error

    def __call__(self, *given: Any, **how: Any) -> Solved:
        self.left -= 1
        if self.left < 0:
            raise self.error
        return self.solve(*given, **how)


def interrupted(
    store: Path, monkeypatch: pytest.MonkeyPatch, costs: Tensor = COSTS, *, problem: Problem | None = None, at: int = 3
) -> int:
    """Label until the ``at``-th batch, which is interrupted; return how many instances were solved."""
    problem = problem or Problem(BAG, sense="max")
    with monkeypatch.context() as patch:
        patch.setattr(problem.backend, "solve", Stops(problem, at, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            solve_labels(problem, costs, store=store, progress=False)
    return problem.statistics.solves


def test_what_was_solved_before_an_interruption_is_not_solved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = interrupted(tmp_path, monkeypatch)
    assert before == 1 + 2 + 4
    problem = Problem(BAG, sense="max")
    solutions, status = solve_labels(problem, COSTS, store=tmp_path, progress=False)
    assert problem.statistics.count("labels") == len(COSTS) - before
    assert torch.equal(solutions, solve_labels(Problem(BAG, sense="max"), COSTS)[0])
    assert status == [Status.OPTIMAL] * len(COSTS)
    assert [path.name.partition("-")[0] for path in tmp_path.iterdir()] == ["labels"], "the finished file takes over"


def test_rows_that_were_in_memory_are_kept_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, stopped, resumed = LabelMemory(), Problem(BAG, sense="max"), Problem(BAG, sense="max")
    solve_labels(Problem(BAG, sense="max"), COSTS[:5], memory=memory)
    with monkeypatch.context() as patch:
        patch.setattr(stopped.backend, "solve", Stops(stopped, 1, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            solve_labels(stopped, COSTS, store=tmp_path, memory=memory, progress=False)
    solve_labels(resumed, COSTS, store=tmp_path, progress=False)
    assert (stopped.statistics.solves, resumed.statistics.solves) == (1, len(COSTS) - 5 - 1)


def test_interruptions_add_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = interrupted(tmp_path, monkeypatch, at=2) + interrupted(tmp_path, monkeypatch, at=2)
    problem = Problem(BAG, sense="max")
    solve_labels(problem, COSTS, store=tmp_path, progress=False)
    assert (done, problem.statistics.solves) == (6, 14)


def test_rows_of_a_corrected_table_are_found_by_their_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path, monkeypatch)  # rows 0 to 6
    corrected = COSTS[1:].clone().flip(0)
    corrected[-1] += 1.0  # row 1
    problem = Problem(BAG, sense="max")
    solve_labels(problem, corrected, store=tmp_path, progress=False)
    assert problem.statistics.solves == len(corrected) - 5


@pytest.mark.parametrize(
    "other",
    [
        Problem(BAG, sense="min"),
        Problem(MILP([[3.0, 4.0, 5.0]], row_upper=8.0), sense="max"),
        Problem(BAG, sense="max", mip_rel_gap=0.5),
        Problem(BAG, sense="max", oracle=lambda c: [0.0, 0.0, 1.0]),
    ],
)
def test_another_problem_finds_nothing(other: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path, monkeypatch)
    solve_labels(other, COSTS[:3], store=tmp_path, progress=False)
    assert other.statistics.solves == 3


def test_members_of_a_family_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def problem() -> Problem:
        return Problem(Family([MILP([[1.0, 1.0]], row_lower=low) for low in (1.0, 2.0)]))

    costs = torch.ones(6, 2, dtype=torch.float64)
    members = torch.tensor([0, 0, 0, 0, 1, 1])
    first = problem()
    with monkeypatch.context() as patch:
        patch.setattr(first.backend, "solve", Stops(first, 2, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            solve_labels(first, costs, members, store=tmp_path)
    second = problem()
    solutions, _ = solve_labels(second, costs, members, store=tmp_path)
    assert solutions.sum(dim=1).tolist() == [1, 1, 1, 1, 2, 2]
    assert second.statistics.solves == 2, "the rows of member 0 are equal, and known"


def test_the_rows_beside_one_without_a_solution_are_kept(tmp_path: Path) -> None:
    family = [MILP([[1.0, 1.0]], row_lower=low) for low in [1.0] * 7 + [9.0] + [1.0] * 4]
    costs = torch.as_tensor(np.random.default_rng(1).uniform(1, 9, (12, 2)))
    ids = torch.arange(12)
    with pytest.raises(SolveError, match="instance 7 of the batch"):
        solve_labels(Problem(Family(family)), costs, ids, store=tmp_path)
    family[7] = family[0]
    problem = Problem(Family(family))
    solve_labels(problem, costs, ids, store=tmp_path)
    assert problem.statistics.solves == 1, "the row that was corrected"


class Late:
    """Ends every second solve by the clock, each time with another solution, or with none."""

    workers = 1

    def __init__(self, time_limit: float | None, *, found: bool = True) -> None:
        self.time_limit, self.found, self.calls = time_limit, found, 0

    def solve(self, costs: Tensor, instance: Any = None, *, decision: bool = False) -> Solved:
        self.calls += 1
        late = torch.arange(len(costs)) % 2 == 1
        solution = torch.full_like(costs, self.calls)
        if not self.found:
            solution[late] = torch.nan
        return Solved(solution, [Status.TIME_LIMIT if one else Status.OPTIMAL for one in late.tolist()])


def late(time_limit: float | None, **settings: Any) -> Problem:
    found = settings.pop("found", True)
    problem = Problem(BAG, sense="max", time_limit=time_limit, **settings)
    problem.backend = Late(time_limit, found=found)
    return problem


@pytest.mark.parametrize(
    ("before", "after", "solves"),
    [
        (late(2.0), late(2.0), 0),
        (late(2.0), late(3.0), 3),
        (late(2.0), late(None), 3),
        (late(None), late(None), 3),
        (late(2.0, found=False, on_failure="skip"), late(2.0, on_failure="skip"), 0),
        (late(2.0, found=False, on_failure="skip"), late(2.0, on_failure="raise"), 3),
    ],
    ids=["same limit", "longer limit", "limit to none", "none known", "left out", "not left out"],
)
def test_what_ended_by_the_clock_is_solved_again_unless_the_limit_is_the_same(
    before: Problem, after: Problem, solves: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regretless.labels.refuse_wrong_labels", lambda *_: None)
    first = solve_labels(before, COSTS[:6], store=tmp_path, progress=False)
    second = solve_labels(after, COSTS[:6], store=tmp_path, progress=False)
    assert after.statistics.solves == solves
    if solves == 0:  # otherwise a checkpoint would not fit its data
        assert torch.equal(first[0].nan_to_num(-1.0), second[0].nan_to_num(-1.0))
        assert first[1] == second[1]


def test_what_a_fault_ended_is_solved_again_with_the_same_limit_too(tmp_path: Path) -> None:
    problem, begun = late(2.0, on_failure="skip"), BegunSolves(tmp_path / "begun.safetensors")
    begun.add(problem, [b"a" * 32, b"b" * 32], torch.full((2, 3), torch.nan), [Status.ERROR, Status.TIME_LIMIT])
    assert list(begun.find(problem, [b"a" * 32, b"b" * 32])) == [1]


def test_decisions_are_kept_with_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def problem() -> Problem:
        made = Problem(BAG, sense="max")
        made.found = FoundDecisions(3)
        return made

    whole, resumed, stored = problem(), problem(), problem()
    solve_labels(whole, COSTS)
    first = problem()
    interrupted(tmp_path, monkeypatch, problem=first)
    solve_labels(resumed, COSTS[:1], store=tmp_path)  # which is known, so that all decisions come from the file
    assert resumed.statistics.solves == 0
    assert np.array_equal(resumed.found.rows, first.found.rows)  # type: ignore[union-attr]
    for one in (resumed, stored):  # the second one reads the finished file
        solve_labels(one, COSTS, store=tmp_path)
        assert np.array_equal(one.found.rows, whole.found.rows)  # type: ignore[union-attr]
    assert stored.statistics.solves == 0


def test_nothing_is_written_for_a_moment_of_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begun_solves, "WORTH", 60.0)
    interrupted(tmp_path, monkeypatch)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_loses_the_last_seconds_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begun_solves, "INTERVAL", 0.0)
    monkeypatch.setattr(begun_solves, "SHARE", 1e9)
    problem, path = Problem(BAG, sense="max"), tmp_path / "begun.safetensors"
    begun = BegunSolves(path)
    begun.add(problem, [b"a" * 32], torch.ones(1, 3), [Status.OPTIMAL])
    assert list(BegunSolves(path).find(problem, [b"a" * 32])) == [0], "it was written while work went on"
    monkeypatch.setattr(begun_solves, "SHARE", 1e-9)
    for key in (b"b", b"c"):
        begun.add(problem, [key * 32], torch.ones(1, 3), [Status.OPTIMAL])
    assert list(BegunSolves(path).find(problem, [b"b" * 32, b"c" * 32])) == [0], "writing takes a small share"


def test_jobs_that_share_a_file_keep_each_other_s_rows(tmp_path: Path) -> None:
    problem, path = Problem(BAG, sense="max"), tmp_path / "begun.safetensors"
    jobs = {key: BegunSolves(path) for key in (b"a", b"b")}
    for key, job in jobs.items():
        assert job.find(problem, [key * 32]) == {}
        job.add(problem, [key * 32], torch.ones(1, 3), [Status.OPTIMAL])
    for job in jobs.values():
        job.write()
    keys = [b"a" * 32, b"b" * 32]
    assert list(BegunSolves(path).find(problem, keys)) == [0, 1]
    late = BegunSolves(path)
    assert late.find(problem, [b"c" * 32]) == {}  # it has read all rows
    jobs[b"a"].remove()
    assert list(BegunSolves(path).find(problem, keys)) == [1]
    late.add(problem, [b"c" * 32], torch.ones(1, 3), [Status.OPTIMAL])
    late.write()
    assert list(BegunSolves(path).find(problem, [*keys, b"c" * 32])) == [1, 2], "what was removed stays removed"
    late.remove()
    jobs[b"b"].remove()
    assert list(tmp_path.iterdir()) == []


def test_labels_of_another_table_stay_until_they_are_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = interrupted(tmp_path, monkeypatch)
    solve_labels(Problem(BAG, sense="max"), COSTS[3:5], store=tmp_path)
    problem = Problem(BAG, sense="max")
    solve_labels(problem, COSTS, store=tmp_path)
    assert problem.statistics.solves == len(COSTS) - (before - 2), "the rows of the small table went to its own file"


def test_decisions_of_a_model_with_other_variables_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Problem(BAG, sense="max")
    first.found = FoundDecisions(3)
    interrupted(tmp_path, monkeypatch, problem=first)
    changed = Problem(BAG, sense="max")
    changed.found = FoundDecisions(4)
    (path,) = tmp_path.iterdir()
    BegunSolves(path, changed.found).find(changed, [b"a" * 32])
    assert len(changed.found) == 0


@pytest.mark.parametrize(("before", "after"), [(FoundDecisions(3), None), (None, FoundDecisions(3))])
def test_rows_serve_jobs_that_keep_decisions_and_others(
    before: FoundDecisions | None, after: FoundDecisions | None, tmp_path: Path
) -> None:
    problem, path = Problem(BAG, sense="max"), tmp_path / "begun.safetensors"
    begun = BegunSolves(path, before)
    begun.add(problem, [b"a" * 32], torch.ones(1, 3), [Status.OPTIMAL])
    begun.write()
    assert list(BegunSolves(path, after).find(problem, [b"a" * 32])) == [0]


def test_problems_of_several_sizes_share_a_file(tmp_path: Path) -> None:
    path, problems = tmp_path / "begun.safetensors", [Problem(MILP([[1.0] * width], row_upper=1.0)) for width in (3, 2)]
    keys = [(BegunSolves(path).keys(problem, COSTS[:1, : problem.width], None) or []) for problem in problems]
    for problem, key in zip(problems, keys, strict=True):
        begun = BegunSolves(path)
        assert begun.find(problem, key) == {}
        begun.add(problem, key, torch.ones(1, problem.width), [Status.OPTIMAL])
        begun.write()
    for problem, key in zip(problems, keys, strict=True):
        assert torch.equal(BegunSolves(path).find(problem, key)[0][0], torch.ones(problem.width))


@pytest.mark.parametrize("field", ["keys", "solutions", "widths", "status"])
def test_a_spoiled_file_is_named(field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path, monkeypatch)
    (path,) = tmp_path.iterdir()
    state = load_state(path, kind=KIND)
    save_state(path, state | {field: state[field][:2] if field != "solutions" else torch.zeros(7, 2)}, kind=KIND)
    with pytest.raises(FileError, match=f"{path.name}: field 'state' holds no solutions: .*; remove the file"):
        solve_labels(Problem(BAG, sense="max"), COSTS, store=tmp_path)


def test_a_data_set_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = interrupted(tmp_path, monkeypatch)
    problem = Problem(BAG, sense="max")
    data = Dataset.solve(problem, COSTS, COSTS, store=tmp_path, progress=False)
    assert len(data) == len(COSTS)
    assert problem.statistics.solves == len(COSTS) - before


def rows_of(problem: Problem, begun: BegunSolves) -> tuple[list[int], Tensor, list[Status]]:
    """All positions in the order in which they came, solutions by position, and statuses in that order."""
    order, solutions, status = list[int](), torch.zeros(len(COSTS), 3, dtype=torch.float64), list[Status]()
    for part, solved in solve_rows(problem, COSTS, None, begun, purpose="scoring", size=2, label="", progress=False):
        order += part
        status += solved.statuses
        solutions[part] = solved.solution
    return order, solutions, status


def test_begun_rows_come_first_and_the_others_are_solved_and_kept(tmp_path: Path) -> None:
    whole = Problem(BAG, sense="max")
    order, solutions, status = rows_of(whole, BegunSolves(None))
    assert order == list(range(20))
    assert whole.statistics.count("scoring") == 20
    path = beside(tmp_path / "checkpoint.safetensors")
    first = Problem(BAG, sense="max")
    for part, _ in solve_rows(
        first, COSTS, None, BegunSolves(path), purpose="scoring", size=2, label="", progress=False
    ):
        if part[-1] == 6:
            break  # as an error in the body of the loop would end it
    assert list(tmp_path.iterdir()) == [path]
    second = Problem(BAG, sense="max")
    resumed = rows_of(second, BegunSolves(path))
    assert second.statistics.solves == 20 - 7
    assert (resumed[0], resumed[2]) == (order, status)
    assert torch.equal(resumed[1], solutions)


def solve_and_fail(path: Path, error: BaseException) -> None:
    """Solve all rows as a job that fails after that."""
    with kept_until_done(path) as begun:
        rows_of(Problem(BAG, sense="max"), begun)
        raise error


def test_a_job_that_is_done_leaves_no_file_and_an_interrupted_one_names_it(tmp_path: Path) -> None:
    path = tmp_path / "job-solves.safetensors"
    with pytest.raises(KeyboardInterrupt, match=r"interrupted: .*job-solves\.safetensors keeps the exact solves"):
        solve_and_fail(path, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt, match=r"^mine$"):
        solve_and_fail(path, KeyboardInterrupt("mine"))
    with pytest.raises(SolveError):
        solve_and_fail(path, SolveError("failed"))
    problem = Problem(BAG, sense="max")
    with kept_until_done(path) as begun:
        rows_of(problem, begun)
    assert problem.statistics.solves == 0
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt, match=r"^$"), kept_until_done(path):  # before the first solve
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_rows_of_another_job_stay_when_a_job_is_done(tmp_path: Path) -> None:
    path = tmp_path / "job-solves.safetensors"
    with pytest.raises(SolveError):
        solve_and_fail(path, SolveError("failed"))
    other = Problem(BAG, sense="min")
    with kept_until_done(path) as begun:
        rows_of(other, begun)
    problem = Problem(BAG, sense="max")
    rows_of(problem, BegunSolves(path))
    assert problem.statistics.solves == 0


def test_a_job_goes_on_where_its_file_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, path = Problem(BAG, sense="max"), tmp_path / "job-solves.safetensors"
    path.mkdir()  # a file that can be neither read nor written
    with (
        pytest.warns(RegretlessWarning, match=r"exact solves are not kept .*: cannot read .*job-solves"),
        kept_until_done(path) as begun,
    ):
        rows_of(problem, begun)
    assert problem.statistics.solves == 20
    path.rmdir()
    monkeypatch.setattr("os.access", lambda *_: False)  # a read-only folder, without a warning
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        solve_and_fail(path, KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("required", [True, False])
def test_a_full_disk_is_an_error_or_a_warning(required: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: Any, **how: Any) -> None:
        raise FileError("cannot write begun: No space left on device")

    begun = BegunSolves(tmp_path / "begun.safetensors", required=required)
    begun.add(Problem(BAG), [b"a" * 32], torch.ones(1, 3), [Status.OPTIMAL])
    monkeypatch.setattr(begun_solves, "save_state", full)
    if required:
        with pytest.raises(FileError, match="No space left"):
            begun.write()
    else:
        with pytest.warns(RegretlessWarning, match="exact solves are not kept .* No space left"):
            begun.write()
        begun.add(Problem(BAG), [b"b" * 32], torch.ones(1, 3), [Status.OPTIMAL])
        begun.write()  # says nothing more
