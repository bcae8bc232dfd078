from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.runs.run_lock import try_lock
from tests import forked

HOLD = (
    "import sys, time; from regretless.runs.run_lock import try_lock\n"
    "with try_lock(sys.argv[1]) as held: print(held, flush=True); time.sleep(60)"
)


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    with try_lock(tmp_path / "a") as first, try_lock(tmp_path / "a") as second, try_lock(tmp_path / "b") as other:
        assert (first, second, other) == (True, False, True)
    with try_lock(tmp_path / "a") as again:
        assert again


def test_a_lock_can_be_waited_for(tmp_path: Path) -> None:
    with try_lock(tmp_path / "a"):
        got: list[bool] = []

        def wait() -> None:
            with try_lock(tmp_path / "a", wait=20.0) as held:
                got.append(held)

        thread = threading.Thread(target=wait)
        thread.start()
    thread.join()
    assert got == [True]


def test_a_lock_ends_with_its_process_even_by_kill(tmp_path: Path) -> None:
    said = tmp_path / "said"
    holder = forked.start(HOLD, tmp_path / "a", output=said)
    while not (said.exists() and said.read_text().endswith("\n")):
        assert holder.is_alive()
        time.sleep(0.01)
    assert said.read_text() == "True\n"
    with try_lock(tmp_path / "a") as held:
        assert not held
    holder.kill()
    holder.join()
    with try_lock(tmp_path / "a") as held:
        assert held


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file"), try_lock(tmp_path / "file" / "lock"):
        pass
