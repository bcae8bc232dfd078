from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regretless.cache import SolutionCache
from regretless.errors import FileError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.runs.known_files import cached_solutions, found_before, known_for, read_known, write_known
from regretless.runs.run_folder import CACHE
from regretless.solvers.found_decisions import FoundDecisions
from regretless.tables.saved_problem import SavedProblem, save_problem


def test_decisions_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = FoundDecisions(3)
    found.add(np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 2.0]]))
    write_known(tmp_path, found)
    known = read_known(tmp_path, 3)
    assert known is not None
    assert known.tolist() == [[1.0, 0.5, 0.0], [0.0, 0.0, 2.0]]
    assert len(found_before(tmp_path, 3)) == 2
    with pytest.raises(FileError, match="must have 4 columns"):
        read_known(tmp_path, 4)


def test_a_run_without_decisions_has_none(tmp_path: Path) -> None:
    assert read_known(tmp_path, 3) is None
    assert len(found_before(tmp_path, 3)) == 0


def test_decisions_are_matched_to_the_variables_of_another_model(tmp_path: Path) -> None:
    own = MILP([[1.0, 1.0]], row_upper=1.0, names=["a", "b"])
    save_problem(tmp_path, SavedProblem(own, "min", ("a",), None, (2,)).state())
    assert known_for(tmp_path, own) is None
    found = FoundDecisions(2)
    found.add(np.array([[1.0, 0.0], [0.0, 2.0]]))
    write_known(tmp_path, found)
    other = MILP([[1.0, 1.0, 1.0]], row_upper=1.0, lower=[0, 3, 0], upper=9.0, names=["b", "new", "a"])
    for milp, rows in ((own, [[1, 0], [0, 2]]), (other, [[0, 3, 1], [2, 3, 0]])):
        known = known_for(tmp_path, milp)
        assert known is not None
        assert known.tolist() == rows
    nameless = MILP([[1.0, 1.0]], row_upper=1.0)
    save_problem(tmp_path, SavedProblem(nameless, "min", ("a",), None, (2,)).state())
    assert known_for(tmp_path, nameless).tolist() == [[1, 0], [0, 2]]  # type: ignore[union-attr]


BAG = MILP([[1.0, 1.0]], row_upper=1.0)


def test_the_solutions_of_a_family_come_with_a_member_that_each_serves(tmp_path: Path) -> None:
    family = Family.vary(BAG, row_upper=[[1.0], [2.0]])
    problem = Problem(family)
    SolutionCache(problem, [[1.0, 0.0], [1.0, 1.0]], instance=[0, 1]).save(tmp_path / CACHE)
    family.add(row_upper=[[5.0]])  # a family that has grown since
    found = cached_solutions(tmp_path, problem)
    assert found is not None
    assert found[0].tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert found[1] is not None
    assert found[1].tolist() == [0, 1]


def test_a_cache_of_another_problem_is_refused_and_none_is_none(tmp_path: Path) -> None:
    assert cached_solutions(tmp_path, Problem(BAG)) is None
    SolutionCache(Problem(BAG), [[1.0, 0.0]]).save(tmp_path / CACHE)
    assert cached_solutions(tmp_path, Problem(BAG)) is not None
    with pytest.raises(FileError, match=r"cache\.safetensors cannot be used: it belongs to another problem"):
        cached_solutions(tmp_path, Problem(MILP([[1.0, 1.0]], row_upper=2.0)))
