from __future__ import annotations

import errno
import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.errors import FileError
from regretless.modeling import read
from regretless.problems import load
from regretless.report import write as write_report
from regretless.runs import Spec, run
from regretless.runs.results import read_results, register
from regretless.storage import load_state, read_json, save_state, write_json
from tests import forked

from . import small

ROOT = Path(__file__).parents[2]
SPEC = Spec("synthetic-knapsack-60", "map-dc", epochs=2, options={"days": 20})


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every flush to disk fail as on a full one: by then half of the file is there."""

    def fails(descriptor: int) -> None:
        os.ftruncate(descriptor, 10)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fails)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != ".lock"}


def test_a_full_disk_is_named_and_what_was_there_stays(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    given, problem = small.data(), small.problem()
    cache = SolutionCache(problem, given.solutions)
    cache.save(tmp_path / "cache")
    small.train("map-dc", problem, given, epochs=1, checkpoint=tmp_path / "checkpoint")
    write_json(tmp_path / "grid.json", {})
    write_json(tmp_path / "started" / "spec.json", SPEC.as_dict())
    before = _files(tmp_path)
    request.getfixturevalue("full_disk")
    cache.add(torch.zeros(1, 5))
    writers = [
        lambda: cache.save(tmp_path / "cache"),
        lambda: small.train("map-dc", small.problem(), given, epochs=2, checkpoint=tmp_path / "checkpoint"),
        lambda: register(tmp_path, [SPEC]),
        lambda: write_report(tmp_path, tmp_path / "report.html"),
        lambda: run(SPEC, tmp_path / "run"),
    ]
    for write in writers:
        with pytest.raises(FileError, match=r"cannot write .*No space left on device"):
            write()
    after = {name: content for name, content in _files(tmp_path).items() if not name.startswith(".locks")}
    assert after == before, "nothing is changed, and no half of a file is left behind"


def test_a_really_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no small file system to be had here: {mounted.stderr.decode().strip()}")
    try:
        save_state(place / "state", {"x": torch.zeros(1000)}, kind="test")
        with pytest.raises(FileError, match="No space left on device; what was there before is unchanged"):
            save_state(place / "state", {"x": torch.zeros(1_000_000)}, kind="test")
        assert len(load_state(place / "state", kind="test")["x"]) == 1000
        assert os.listdir(place) == ["state"]
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    place = tmp_path / "locked"
    place.mkdir(mode=0o500)
    if os.access(place, os.W_OK):  # root may write anywhere, but not on what is mounted read-only
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", place], capture_output=True, check=False)
        if mounted.returncode:
            pytest.skip(f"no read-only folder to be had here: {mounted.stderr.decode().strip()}")
    try:
        for write in (lambda: write_json(place / "a.json", 1), lambda: run(SPEC, place / "run")):
            with pytest.raises(FileError, match=r"locked.*writable"):
                write()
        assert os.listdir(place) == []
    finally:
        subprocess.run(["umount", place], capture_output=True, check=False)


def test_a_model_file_that_cannot_be_copied_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.lp").write_text("Minimize\n obj: x\nSubject To\n c: x >= 1\nEnd\n")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(FileError, match=r"cannot make a temporary copy of .*m\.lp.*set TMPDIR"):
        read(tmp_path / "m.lp")


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for write in (lambda: write_json(tmp_path / "taken" / "a.json", 1), lambda: run(SPEC, tmp_path / "taken" / "run")):
        with pytest.raises(FileError, match="taken"):
            write()
    assert (tmp_path / "taken").read_text() == "mine"


def test_two_processes_that_register_runs_lose_none(tmp_path: Path) -> None:
    code = (
        "import sys; from regretless.runs import Spec; from regretless.runs.results import register\n"
        "for seed in range(int(sys.argv[2]), 24, 2):\n"
        "    register(sys.argv[1], [Spec('knapsack-60', 'spo', seed=seed)])\n"
    )
    both = [forked.start(code, tmp_path, k) for k in (0, 1)]
    for process in both:
        process.join(120)
    assert [process.exitcode for process in both] == [0, 0]
    assert sorted(result.spec.seed for result in read_results(tmp_path)) == list(range(24))


def test_a_reader_beside_a_writer_sees_whole_files_only(tmp_path: Path) -> None:
    stop = threading.Event()

    def writer() -> None:
        k = 0
        while not stop.is_set():
            write_json(tmp_path / "a.json", [k] * 2000)
            k += 1

    write_json(tmp_path / "a.json", [0] * 2000)
    thread = threading.Thread(target=writer)
    thread.start()
    try:
        for _ in range(100):
            assert len(set(read_json(tmp_path / "a.json"))) == 1
    finally:
        stop.set()
        thread.join()


def test_every_file_of_a_run_goes_through_the_atomic_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load("synthetic-knapsack-60", days=20)
    renamed: list[str] = []
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (renamed.append(str(b)), replace(a, b)))
    run(SPEC, tmp_path / "run", loaded=loaded)
    write_report(tmp_path / "run", tmp_path / "run" / "report.html")
    written = {str(path) for path in (tmp_path / "run").iterdir() if path.name != ".lock"}
    assert written <= set(renamed)
    assert {Path(name).name for name in written} >= {"spec.json", "metrics.json", "history.csv", "report.html"}
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["status"] == "done"
