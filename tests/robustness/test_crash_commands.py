"""Every command, ended by every signal at random moments: files stay sound, and the same command then ends well."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from regretless.runs import Spec, run
from regretless.runs.run_folder import has_epochs
from regretless.solvers import available
from regretless.storage import load_state
from tests.cli.files import Files, make_files

from .killing import Nursery
from .test_crash_training import same

pytestmark = pytest.mark.slow
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
ENGINES = [name for name in ("highs", "scip", "cpsat", "gurobi") if available()[name]]
KILLS = 3


def words_of(command: str, files: Files, out: Path, engine: str = "highs") -> list[object]:
    data = ["--cost-variables", "x_*", "--features", files.x, "--costs", files.c, "--test", 0.2, "--engine", engine]
    return {
        "train": ["train", files.model, *data, "--method", "map-dc", "--p-solve", 0.5, "--epochs", 60, "--out", out],
        "auto": ["train", files.model, *data, "--epochs", 30, "--out", out],
        "tune": ["tune", files.model, *data, "--validation", 0.2, "--method", "spo-cache", "--trials", 6,
                 "--most-epochs", 4, "--out", out],
        "demo": ["demo", "--problem", "knapsack", "--out", out],
        "decide": ["decide", files.folder / "run", "--features", files.x, "--engine", engine, "--out", out / "d.csv"],
        "reproduce": ["reproduce", "smoke", "--methods", "two-stage,map-dc", "--seeds", 1, "--epochs", 2, "--out", out],
    }[command]  # fmt: skip


def outcome(command: str, out: Path) -> Any:
    """What must not depend on interruptions."""
    if command in ("train", "auto"):
        return load_state(out / "weights.safetensors", kind="weights")
    if command == "tune":
        return json.loads((out / "best.json").read_text())
    if command == "decide":
        return (out / "d.csv").read_text()
    found = [json.loads(path.read_text()) for path in sorted(out.glob("runs/*/metrics.json"))]
    return [figures["regret"] for figures in found]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    made = make_files(tmp_path_factory.mktemp("crash"), n=60)
    options = {"features": str(made.x), "costs": str(made.c), "cost_variables": ["x_*"], "test": 0.2}
    run(Spec(str(made.model), "map-dc", epochs=1, options=options), made.folder / "run", progress=False)
    return made


def disturbed(
    victims: Nursery, command: str, files: Files, out: Path, number: int, engine: str, seconds: float, chance: Any
) -> None:
    """End a command several times at random moments, then let it come to its end."""
    words = words_of(command, files, out, engine)
    again = [*words, "--resume"] if words[0] == "train" else words
    for _ in range(KILLS):
        use = again if has_epochs(out) else words  # the signal may also come after the last file
        ended = victims.kill("cli", *use, after=chance.uniform(0.02, 0.9) * seconds, number=number)
        said = victims.errors.read_text()
        assert ended in (0, 130, -number), (ended, said)
        assert "Error" not in said, said
        if ended == 0:
            return
    victims.run("cli", *(again if has_epochs(out) else words))


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize(
    ("command", "engine"),
    [*(("train", engine) for engine in ENGINES), *(("decide", engine) for engine in ENGINES), ("auto", "highs"),
     *(("tune", engine) for engine in ENGINES if engine in ("highs", "scip")), ("demo", "highs"),
     ("reproduce", "highs")],
)  # fmt: skip
def test_a_command_that_was_ended_at_random_moments_ends_as_if_undisturbed(
    command: str, engine: str, number: signal.Signals, victims: Nursery, files: Files, tmp_path: Path
) -> None:
    chance = random.Random(f"{command} {engine} {number}")
    seconds = victims.run("cli", *words_of(command, files, tmp_path / "undisturbed", engine))
    disturbed(victims, command, files, tmp_path / "run", number, engine, seconds, chance)
    assert same(outcome(command, tmp_path / "run"), outcome(command, tmp_path / "undisturbed"))
    if number != signal.SIGKILL:  # which leaves no time to clean up
        assert not list((tmp_path / "run").rglob("*.tmp"))


@pytest.mark.parametrize("command", ["train", "tune", "demo", "decide", "reproduce"])
def test_two_processes_on_one_folder(command: str, files: Files, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "regretless", *map(str, words_of(command, files, tmp_path / "both"))]

    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    both = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    said_by = [process.communicate(timeout=600)[1] for process in both]
    ends = [(process.returncode, said) for process, said in zip(both, said_by, strict=True)]
    assert 0 in [code for code, _ in ends], ends
    for code, said in ends:
        assert code in (0, 1, 2), said
        assert "Traceback" not in said
        if code:
            assert "another process is at work" in said or "there is a run in" in said, said
    assert outcome(command, tmp_path / "both")
