from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regretless.errors import FileError
from regretless.problem import Problem
from regretless.solvers.found_decisions import FoundDecisions
from regretless.storage import load_state, save_state
from regretless.training.direct import direct
from regretless.training.search_log import KIND, SearchLog

from . import runs


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "search"
    log = SearchLog(path, {"seed": 0})
    assert len(log) == 0
    log.append([1.0, float("inf")], {"epoch": 1, "loss": 1.0})
    again = SearchLog(path, {"seed": 0})
    assert (again.values, again.rows) == (log.values, log.rows)


def test_decisions_that_were_found_come_back(tmp_path: Path) -> None:
    first, second = (Problem(oracle=lambda c: c, dimension=2) for _ in range(2))
    first.found, second.found = FoundDecisions(2), FoundDecisions(2)
    first.found.add(np.eye(2))
    SearchLog(tmp_path / "search", {}, first).append([1.0], {})
    SearchLog(tmp_path / "search", {}, second)
    assert second.found.rows.tolist() == first.found.rows.tolist()


def test_without_a_path_nothing_is_written(tmp_path: Path) -> None:
    log = SearchLog(None, {})
    log.append([1.0], {"epoch": 1})
    assert len(log) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_search_is_refused(tmp_path: Path) -> None:
    SearchLog(tmp_path / "search", {"seed": 0, "sigma": 0.5}).append([1.0], {})
    with pytest.raises(FileError, match=r"belongs to another search: seed was 0, is 1; sigma was 0\.5, is None"):
        SearchLog(tmp_path / "search", {"seed": 1})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"values": "x"}, "field 'values' is missing or is not of type list"),
        ({"rows": [{}, {}]}, "do not fit each other"),
        ({"values": [["x"]]}, "do not fit each other"),
        ({"rows": [3]}, "do not fit each other"),
    ],
)
def test_damaged_content_is_refused(tmp_path: Path, change: dict, message: str) -> None:
    path = tmp_path / "search"
    SearchLog(path, {}).append([1.0], {})
    save_state(path, load_state(path, kind=KIND) | change, kind=KIND)
    with pytest.raises(FileError, match=message):
        SearchLog(path, {})


def test_values_that_the_search_cannot_use_are_an_error_that_names_the_file(tmp_path: Path) -> None:
    pytest.importorskip("cma", reason="direct search needs the package cma")
    path, train = tmp_path / "search", runs.data(6)
    direct(runs.model(), runs.problem(), train, generations=2, checkpoint=path)
    save_state(path, load_state(path, kind=KIND) | {"values": [[1.0], [2.0]]}, kind=KIND)
    with pytest.raises(FileError, match="generation 1 cannot be repeated"):
        direct(runs.model(), runs.problem(), train, generations=2, checkpoint=path)
