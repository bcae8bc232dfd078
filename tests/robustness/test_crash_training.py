from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest
import torch

from regretless.storage import load_state

from .killing import Nursery

EPOCHS = 25
CLI = ("train", "synthetic-knapsack-60", "--method", "map-dc", "--option", "days=60", "--epochs", "40", "--seed", "3")


def same(one, other) -> bool:
    """Whether two nested states are equal bit for bit."""
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def killed_and_resumed(victims: Nursery, folder: Path, moments: int, seed: int) -> dict[str, int]:
    """Kill at random moments, resume each to the end, and count what came of it."""
    folder.mkdir()
    seconds = victims.run("train", folder / "undisturbed.ck", folder / "undisturbed", EPOCHS)
    expected = load_state(folder / "undisturbed", kind="end")
    chance = random.Random(seed)
    counts = {"killed": 0, "with a checkpoint": 0, "equal": 0}
    while counts["killed"] < moments:
        checkpoint, out = folder / f"{counts['killed']}.ck", folder / f"{counts['killed']}"
        if victims.kill("train", checkpoint, out, EPOCHS, after=chance.uniform(0.05, 0.95) * seconds) == 0:
            checkpoint.unlink()  # it was done before the signal came
            continue
        counts["killed"] += 1
        counts["with a checkpoint"] += checkpoint.exists()
        victims.run("train", checkpoint, out, EPOCHS)
        counts["equal"] += same(load_state(out, kind="end"), expected)
    return counts


def test_killed_at_random_moments_a_run_ends_as_if_undisturbed(victims: Nursery, tmp_path: Path) -> None:
    counts = killed_and_resumed(victims, tmp_path / "runs", 2, seed=0)
    assert counts["equal"] == counts["killed"] == 2


@pytest.mark.slow
def test_killed_at_thirty_moments_a_run_ends_as_if_undisturbed(victims: Nursery, tmp_path: Path) -> None:
    counts = killed_and_resumed(victims, tmp_path / "runs", 30, seed=1)
    print(counts)
    assert counts["equal"] == counts["killed"] == 30
    assert counts["with a checkpoint"] > 10, "most kills must hit a run that has something to lose"


def test_the_command_line_goes_on_after_signals_and_kills(victims: Nursery, tmp_path: Path) -> None:
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    words = ("cli", *CLI, "--out", tmp_path / "run")
    ended = victims.kill(*words, after=checkpoint.exists, number=signal.SIGTERM)
    assert ended == 130
    assert "SIGTERM: training ended after epoch" in victims.errors.read_text()
    assert "the same call continues it (train, retrain: with --resume)" in victims.errors.read_text().replace("\n", " ")
    before = checkpoint.read_bytes()
    assert victims.kill(*words, after=0.0, number=signal.SIGCONT) == 2
    assert "add --resume to continue it" in victims.errors.read_text()
    assert checkpoint.read_bytes() == before, "a refused command leaves the run as it is"
    ended = victims.kill(*words, "--resume", after=lambda: checkpoint.read_bytes() != before)
    assert ended == -signal.SIGKILL
    ended = victims.kill(*words, "--resume", after=0.0, number=signal.SIGCONT)
    assert ended == 0, victims.errors.read_text()
    victims.run("cli", *CLI, "--out", tmp_path / "undisturbed")
    weights = [load_state(tmp_path / name / "weights.safetensors", kind="weights") for name in ("run", "undisturbed")]
    assert same(*weights)
    assert not checkpoint.exists()
