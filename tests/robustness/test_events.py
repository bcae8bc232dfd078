"""What happens to the command line from outside: signals, readers that leave, full disks, folders that vanish."""

from __future__ import annotations

import importlib.util
import shutil
import signal
from pathlib import Path

import pytest
import torch

from regretless.runs import Spec, load_trained, run
from regretless.runs.run_lock import try_lock
from regretless.storage import load_state
from tests.cli.files import CommandLine, make_files

from .killing import Nursery
from .test_crash_training import CLI, same

SMALL = ("train", "synthetic-knapsack-60", "--method", "map-dc", "--option", "days=30", "--epochs", "1")


def quiet(victims: Nursery) -> str:
    """What the victim wrote to standard error, which must be no traceback."""
    said = victims.errors.read_text()
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    return said


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)])
def test_a_signal_ends_training_with_a_checkpoint(number: signal.Signals, victims: Nursery, tmp_path: Path) -> None:
    """SIGTERM and SIGKILL are in ``test_crash_training``, with the resume."""
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    ended = victims.kill("cli", *CLI, "--out", tmp_path / "run", after=checkpoint.exists, number=number)
    assert ended == 130
    assert f"{number.name}: training ended after epoch" in quiet(victims)
    assert load_state(checkpoint, kind="checkpoint", version=99)


@pytest.mark.parametrize(
    ("how", "code", "said"),
    [("without reader", 1, ""), ("without output", 0, ""), ("to full disk", 1, "error: [Errno 28] No space left")],
)
def test_a_run_is_kept_where_its_figures_cannot_be_printed(
    how: str, code: int, said: str, victims: Nursery, tmp_path: Path
) -> None:
    victims.start(how, *SMALL, "--out", tmp_path / "run")
    assert victims.end() == code, victims.errors.read_text()
    assert quiet(victims).startswith(said)
    assert (tmp_path / "run" / "metrics.json").exists()


@pytest.mark.parametrize("words", [("--help",), ("data", "list"), ("data", "list", "--json")])
def test_no_command_complains_about_a_reader_that_left(words: tuple[str, ...], victims: Nursery) -> None:
    victims.start("without reader", *words)
    assert victims.end() in (0, 1)
    assert quiet(victims) == ""


def test_a_full_disk_ends_every_command_with_one_line_and_leaves_the_old_files(
    victims: Nursery, tmp_path: Path
) -> None:
    files = make_files(tmp_path)
    options = {"features": str(files.x), "costs": str(files.c), "cost_variables": ["x_*"], "validation": 0.2}
    run(Spec(str(files.model), "map-dc", epochs=1, options=options | {"test": 0.2}), tmp_path / "run", progress=False)
    (tmp_path / "d.csv").write_text("instance,status,objective\n")
    data = ("--cost-variables", "x_*", "--features", files.x, "--costs", files.c)
    tune = ("tune", files.model, *data, "--validation", "0.2", "--method", "spo-cache", "--trials", "2")
    commands = {
        "train": ("train", files.model, *data, "--method", "map-dc", "--epochs", "1", "--out", tmp_path / "new"),
        "tune": (*tune, "--most-epochs", "2", "--out", tmp_path / "search"),
        "decide": ("decide", tmp_path / "run", "--features", files.x, "--out", tmp_path / "d.csv"),
        "report": ("report", tmp_path / "run", "--out", tmp_path / "report.html"),
    }
    if importlib.util.find_spec("optuna") is None:
        del commands["tune"]
    before = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    for name, words in commands.items():
        victims.start("on full disk", 700, *words)
        assert victims.end() == 1, name
        assert "error: cannot" in quiet(victims), name
        assert "File too large" in victims.errors.read_text(), name
    after = {path: path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    assert after == before, "nothing new, nothing changed"


def test_two_processes_do_not_work_on_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with try_lock(tmp_path / "run" / ".lock"):
        error = CommandLine(capsys)(*SMALL, "--out", tmp_path / "run").error
    assert "another process is at work" in error
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]


def test_a_folder_that_vanishes_while_a_run_trains_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from regretless.training import checkpoint

    save, folder = checkpoint.save, tmp_path / "run"

    def vanishes(path: Path, *given: object) -> None:
        save(path, *given)  # type: ignore[arg-type]
        shutil.rmtree(folder, ignore_errors=True)

    spec = Spec("synthetic-knapsack-60", "map-dc", epochs=2, options={"days": 30})
    expected = run(spec, tmp_path / "undisturbed", progress=False)
    monkeypatch.setattr(checkpoint, "save", vanishes)
    assert run(spec, folder, progress=False)["regret"] == expected["regret"]
    _, _, model = load_trained(folder)
    _, _, other = load_trained(tmp_path / "undisturbed")
    assert same(dict(model.state_dict()), dict(other.state_dict()))
    assert isinstance(next(model.parameters()), torch.nn.Parameter)
