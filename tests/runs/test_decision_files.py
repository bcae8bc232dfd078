from __future__ import annotations

import csv
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from regretless.errors import FileError, InputError
from regretless.runs import decision_files
from regretless.runs.decision_files import check_decision_file, write_decisions
from regretless.types import Decisions, Status

NAN = float("nan")
DECISIONS = Decisions(
    solution=torch.zeros(2, 1),
    decision=torch.tensor([[1.0, 0.25], [NAN, NAN]], dtype=torch.float64),
    objective=torch.tensor([1.5, NAN], dtype=torch.float64),
    status=[Status.OPTIMAL, Status.INFEASIBLE],
    gap=torch.zeros(2),
    message={},
)
NAMES = {"cost_names": ("a,b",), "variable_names": ("a,b", "status")}
PREDICTED = torch.tensor([[0.1], [2.0]], dtype=torch.float64)


def test_cells_of_an_instance_without_a_solution_are_empty(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    write_decisions(path, PREDICTED, DECISIONS, instance=("p", "q"), **NAMES)
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "instance": "p", "status": "optimal", "objective": "1.5", "predicted:a,b": "0.1", "decision:a,b": "1",
        "decision:status": "0.25",
    }  # fmt: skip
    assert rows[1]["status"] == "infeasible"
    assert rows[1]["decision:status"] == rows[1]["objective"] == ""


def test_arrays_keep_their_shapes_and_need_no_pickle(tmp_path: Path) -> None:
    write_decisions(tmp_path / "d.npz", PREDICTED, DECISIONS, **NAMES)
    with np.load(tmp_path / "d.npz", allow_pickle=False) as arrays:
        assert arrays["decision"].shape == (2, 2)
        assert arrays["instance"].tolist() == ["0", "1"]
        assert arrays["status"].tolist() == ["optimal", "infeasible"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_a_file_that_holds_something_else_is_not_replaced(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"d.{ending}"
    check_decision_file(path)
    path.touch()  # as mktemp makes it
    check_decision_file(path)
    write_decisions(path, PREDICTED, DECISIONS, **NAMES)
    check_decision_file(path)
    others: list[bytes] = [b"instance,a\nmonday,1\n", b"\xff\xfe\x00\n"]
    if ending == "npz":
        np.savez(path, costs=np.zeros(2))
        others.append(path.read_bytes())
    if ending == "parquet":
        pd.DataFrame({"instance": [1]}).to_parquet(path)
        others.append(path.read_bytes())
    for content in others:
        path.write_bytes(content)
        with pytest.raises(FileError, match=rf"d\.{ending} holds no decisions .*: choose another file"):
            check_decision_file(path)


def test_the_old_file_stays_where_the_new_one_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(FileError, match="cannot write"):
        write_decisions(tmp_path / "d.csv", PREDICTED, DECISIONS, **NAMES)
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]
    with pytest.raises(InputError, match="must end in"):
        write_decisions(tmp_path / "d.txt", PREDICTED, DECISIONS, **NAMES)


def test_writing_takes_little_memory_beside_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_files, "CHUNK", decision_files.CHUNK // 8)
    n, d = 300, 160
    values = torch.rand(n, d, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    decisions = Decisions(values, values, values[:, 0], [Status.OPTIMAL] * n, values[:, 0], {})
    names = tuple(f"x_{j}" for j in range(d))
    tracemalloc.start()
    write_decisions(tmp_path / "d.csv", values, decisions, cost_names=names, variable_names=names)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12 * decision_files.CHUNK < (tmp_path / "d.csv").stat().st_size


def test_a_number_beyond_all_integers_of_float64_keeps_its_exponent(tmp_path: Path) -> None:
    write_decisions(tmp_path / "d.csv", PREDICTED * 1e300, DECISIONS, **NAMES)
    assert "1e+299," in (tmp_path / "d.csv").read_text()


def test_a_file_that_is_written_in_parts_is_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, chunk in (("whole.csv", decision_files.CHUNK), ("parts.csv", 10)):
        monkeypatch.setattr(decision_files, "CHUNK", chunk)
        write_decisions(tmp_path / name, PREDICTED, DECISIONS, **NAMES)
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize("ending", ["csv", "parquet", "npz"])
def test_how_a_decision_was_found_and_its_gap_are_kept_where_they_are_known(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"d.{ending}"
    decisions = replace(DECISIONS, gap=torch.tensor([0.125, NAN], dtype=torch.float64))
    write_decisions(path, PREDICTED, decisions, instance=("p", "q"), found=["solved", "known"], **NAMES)
    if ending == "npz":
        with np.load(path) as arrays:
            assert (arrays["found"].tolist(), arrays["gap"][0]) == (["solved", "known"], 0.125)
        return
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(path) if ending == "csv" else pandas.read_parquet(path)
    first = ["instance", "status", "found", "gap", "objective", "predicted:a,b", "decision:a,b", "decision:status"]
    assert list(table.columns) == first
    assert table.iloc[0].tolist() == ["p", "optimal", "solved", 0.125, 1.5, 0.1, 1.0, 0.25]
    assert table.iloc[1].isna().tolist() == [False] * 3 + [True, True, False, True, True]
