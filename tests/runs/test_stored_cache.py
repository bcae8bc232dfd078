from __future__ import annotations

from pathlib import Path

import pytest

from regretless.cache import SolutionCache
from regretless.errors import FileError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.runs.run_folder import CACHE
from regretless.runs.stored_cache import cached_solutions

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
