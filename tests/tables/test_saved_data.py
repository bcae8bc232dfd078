from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from regretless.data import Dataset
from regretless.errors import FileError, InputError
from regretless.problems import load
from regretless.storage import load_state, save_state
from regretless.tables.saved_data import FILE, KIND, has_saved_data, joined, load_saved_data, save_data
from regretless.tables.saved_problem import save_problem
from regretless.types import Status

MODEL = """minimize
 cost: x_0 + x_1 + 3 y + 5
subject to
 cover: x_0 + x_1 + y >= 1
binary
 x_0 x_1 y
end
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    generator = np.random.default_rng(0)
    (tmp_path / "m.lp").write_text(MODEL)
    np.savez(tmp_path / "x.npz", features=generator.normal(size=(10, 2)))
    np.savez(tmp_path / "c.npz", costs=generator.normal(size=(10, 2)))
    rows = "\n".join(f"{1 + i % 2},{i}" for i in range(10))
    (tmp_path / "r.csv").write_text(f"row:cover,fixed:y\n{rows}\n")
    files = {name: str(tmp_path / f"{name[0]}.npz") for name in ("costs",)} | {"features": str(tmp_path / "x.npz")}
    files |= {"constraints": str(tmp_path / "r.csv"), "cost_variables": "x_*"}
    loaded = load(str(tmp_path / "m.lp"), **files, validation=0.2, test=0.3)
    assert loaded.kept is not None
    save_problem(tmp_path, loaded.kept)
    save_data(tmp_path, loaded)
    return tmp_path


def test_problem_data_and_members_are_the_same_afterwards(folder: Path) -> None:
    assert has_saved_data(folder)
    found = load_saved_data(folder)
    assert found.problem.statistics.solves == 0
    assert found.validation is not None
    assert [len(part) for part in (found.train, found.validation, found.test)] == [5, 2, 3]
    for part in (found.train, found.validation, found.test):
        solved = found.problem.solve(part.costs, part.instance)
        assert torch.allclose(solved.solution, part.solutions)
    assert len(found.problem.family) == 11, "ten lines, and the model itself"


@pytest.mark.parametrize("change", [{"train": None}, {"train": 3}, {"variations": {"upper": 1}}])
def test_other_content_is_named(folder: Path, change: dict[str, object]) -> None:
    state = load_state(folder / FILE, kind=KIND)
    save_state(folder / FILE, state | change, kind=KIND)
    with pytest.raises(FileError, match=r"data\.safetensors: field 'state' holds no data"):
        load_saved_data(folder)


def test_parts_are_joined_in_order_with_their_status() -> None:
    one = Dataset(torch.zeros(2, 1), torch.zeros(2, 2), torch.zeros(2, 2))
    two = Dataset(torch.ones(1, 1), torch.ones(1, 2), torch.ones(1, 2), status=(Status.FEASIBLE,))
    both = joined([one, two])
    assert both.costs[:, 0].tolist() == [0, 0, 1]
    assert both.status == (Status.OPTIMAL, Status.OPTIMAL, Status.FEASIBLE)
    assert both.names is None
    assert joined([replace(one, names=("a", "b")), replace(two, names=("c",))]).names == ("a", "b", "c")
    with pytest.raises(InputError, match="features of one shape"):
        joined([one, Dataset(torch.zeros(1, 3), torch.zeros(1, 2), torch.zeros(1, 2))])


def test_without_test_data_there_is_none_afterwards(folder: Path) -> None:
    kept = load_saved_data(folder)
    save_data(folder, replace(kept, test=kept.train, evaluated_on="train", validation=None))
    again = load_saved_data(folder)
    assert (again.evaluated_on, again.validation) == ("train", None)
    assert load_state(folder / FILE, kind=KIND)["test"] is None


def test_an_instance_without_a_member_is_named(folder: Path) -> None:
    state = load_state(folder / FILE, kind=KIND)
    state["train"]["instance"][0] = 99
    save_state(folder / FILE, state, kind=KIND)
    with pytest.raises((FileError, InputError), match="99"):
        load_saved_data(folder)


def test_names_statuses_workers_and_executor_come_back(folder: Path) -> None:
    kept = load_saved_data(folder)
    names = tuple(f"day {k}" for k in range(len(kept.train)))
    status = (Status.FEASIBLE,) + (Status.OPTIMAL,) * (len(kept.train) - 1)
    save_data(folder, replace(kept, train=replace(kept.train, names=names, status=status)))
    again = load_saved_data(folder, workers=3, executor="processes")
    assert (again.train.names, again.train.status) == (names, status)
    assert again.problem.workers == 3
    assert again.problem.backend._solves.name == "processes"  # type: ignore[attr-defined]
