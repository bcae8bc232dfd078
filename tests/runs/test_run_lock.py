from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from regretless.errors import FileError
from regretless.runs.run_lock import claim

HOLD = (
    "import sys, time; from regretless.runs.run_lock import claim\n"
    "with claim(sys.argv[1]) as mine: print(mine, flush=True); time.sleep(60)"
)


def test_a_claim_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    with claim(tmp_path / "a") as first, claim(tmp_path / "a") as second, claim(tmp_path / "b") as other:
        assert (first, second, other) == (True, False, True)
    with claim(tmp_path / "a") as again:
        assert again


def test_a_claim_can_be_waited_for(tmp_path: Path) -> None:
    with claim(tmp_path / "a"):
        got: list[bool] = []

        def wait() -> None:
            with claim(tmp_path / "a", wait=20.0) as mine:
                got.append(mine)

        thread = threading.Thread(target=wait)
        thread.start()
    thread.join()
    assert got == [True]


def test_a_claim_ends_with_its_process_even_by_kill(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "a")], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "True"
    with claim(tmp_path / "a") as mine:
        assert not mine
    holder.kill()
    holder.communicate()
    with claim(tmp_path / "a") as mine:
        assert mine


def test_a_place_that_cannot_be_written_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file"), claim(tmp_path / "file" / "lock"):
        pass
