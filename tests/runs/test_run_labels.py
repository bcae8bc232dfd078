from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.runs import run_labels
from regretless.runs.run_labels import has_labels, own_labels, remove_labels


def ended_by(error: BaseException, folder: Path) -> None:
    """Write a label and fail."""
    with own_labels(folder) as store:
        store.mkdir(exist_ok=True)
        (store / f"begun-{'0' * 32}.safetensors").touch()
        raise error


def test_labels_stay_when_work_is_interrupted_and_the_message_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_labels, "WORTH", 0.0)
    with pytest.raises(KeyboardInterrupt, match=f"{tmp_path} keeps the labels"):
        ended_by(KeyboardInterrupt(), tmp_path)
    assert has_labels(tmp_path)


@pytest.mark.parametrize("error", [KeyboardInterrupt("after epoch 3"), ValueError("wrong"), ValueError()])
def test_what_an_error_says_stays(error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_labels, "WORTH", 0.0)
    with pytest.raises(type(error), match=f"^{error}$"):
        ended_by(error, tmp_path)
    assert has_labels(tmp_path)


def test_nothing_stays_of_a_moment_of_work(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        ended_by(KeyboardInterrupt(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_labels_of_earlier_work_stay_whatever_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_labels, "WORTH", 0.0)
    with pytest.raises(ValueError, match="first"):
        ended_by(ValueError("first"), tmp_path)
    monkeypatch.setattr(run_labels, "WORTH", 60.0)
    with pytest.raises(ValueError, match="second"):
        ended_by(ValueError("second"), tmp_path)
    assert has_labels(tmp_path)
    remove_labels(tmp_path)
    remove_labels(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill() -> None:
        with own_labels(tmp_path) as store:
            store.mkdir()
            raise FileError("the disk is full")

    monkeypatch.setattr(run_labels, "WORTH", 0.0)
    with pytest.raises(FileError):
        fill()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [None, ValueError("wrong")])
def test_a_folder_of_the_users_own_with_the_same_name_stays(error: BaseException | None, tmp_path: Path) -> None:
    mine = tmp_path / "labels" / "mine.safetensors"
    mine.parent.mkdir()
    mine.touch()
    assert not has_labels(tmp_path)
    if error is not None:
        with pytest.raises(ValueError, match="wrong"):
            ended_by(error, tmp_path)
    remove_labels(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [mine]
