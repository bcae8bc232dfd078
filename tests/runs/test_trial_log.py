from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.runs.trial_log import LOG, open_trials

optuna = pytest.importorskip("optuna")


def add_trial(folder: Path) -> int:
    """Do one trial; returns how many there are."""
    with open_trials(folder) as study:
        study.tell(study.ask(), 1.0)
        return len(study.get_trials())


def test_trials_of_earlier_processes_are_there(tmp_path: Path) -> None:
    assert [add_trial(tmp_path) for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_not_written_to_its_end_is_dropped(cut: int, tmp_path: Path) -> None:
    add_trial(tmp_path)
    whole = (tmp_path / LOG).read_bytes()
    with open_trials(tmp_path) as study:
        study.ask()
    torn = (tmp_path / LOG).read_bytes()[len(whole) :].splitlines()[0]
    (tmp_path / LOG).write_bytes(whole + torn[:-cut])
    assert add_trial(tmp_path) == 2
    assert add_trial(tmp_path) == 3, "Optuna alone reads such a log once, and never again"


def test_the_mark_of_a_process_that_was_killed_while_it_wrote_blocks_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    add_trial(Path("search-").parent)
    os.symlink(f"search/{LOG}", f"{LOG}.lock")  # relative, as Optuna makes it: its target cannot be found
    assert add_trial(Path()) == 2


def test_a_file_of_someone_else_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / LOG).write_text("my own notes\nwithout an end")
    with pytest.raises(FileError, match=r"trials\.log is damaged or foreign"), open_trials(tmp_path):
        pass
    assert (tmp_path / LOG).read_text() == "my own notes\nwithout an end"


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fills_up() -> None:
        with open_trials(tmp_path) as study:
            monkeypatch.setattr(os, "fsync", full)
            study.ask()

    with pytest.raises(FileError, match=r"cannot write .*trials\.log: No space left"):
        fills_up()
    with pytest.raises(FileError, match=r"cannot keep a search in .*: No space left"), open_trials(tmp_path):
        pass
