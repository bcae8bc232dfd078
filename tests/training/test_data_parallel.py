"""Training by several ranks; see ``regretless.training.batches`` and ``SolutionCache.share``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .ranks import PROGRAM, start, trained

METHODS = "nce-c,map-dc,spo-cache,soft"
GROW = ("--settings", json.dumps({"p_solve": 0.2}))


def test_two_ranks_hold_one_cache_and_one_model_after_every_step(tmp_path: Path) -> None:
    methods = "nce-c,map-dc"  # one that needs the mean over S, and one that does not
    first, second = trained(tmp_path, methods, *GROW)
    for method in methods.split(","):
        a, b = first[method], second[method]
        assert a["caches"] == b["caches"]
        assert len(set(a["caches"])) > 3  # S has grown
        assert a["weights"] == b["weights"]
        assert a["history"] == b["history"]
        # Every rank counts the solves of all, and flips its own coins.
        assert a["solves"] == b["solves"] == a["own_solves"] + b["own_solves"]
        assert a["asked"] == b["asked"] == 2 * a["instances"]
        assert 0.1 < a["solves"] / a["asked"] < 0.3
        assert sum(row["solves"] for row in a["history"]) == a["solves"]
        assert a["own_solves"] > 0
        assert b["own_solves"] > 0
    assert first["map-dc"]["lookups"] == first["map-dc"]["asked"]


@pytest.mark.slow
def test_two_ranks_step_like_one_rank_with_twice_the_batch(tmp_path: Path) -> None:
    words = ("--epochs", 1, "--settings", json.dumps({"p_solve": 0.0}))
    two = trained(tmp_path / "two", METHODS, "--batch-size", 8, *words)[0]
    one = trained(tmp_path / "one", METHODS, "--batch-size", 16, *words, ranks=1)[0]
    for method in METHODS.split(","):
        assert two[method]["values"] == pytest.approx(one[method]["values"], rel=1e-3, abs=1e-3)


@pytest.mark.slow
def test_ranks_that_are_killed_and_resumed_end_with_the_same_bits(tmp_path: Path) -> None:
    words = ("--epochs", 6, *GROW)
    plain = trained(tmp_path / "plain", "map-dc", *words)
    checkpoint = tmp_path / "run.safetensors"
    killed = start(tmp_path / "killed", "map-dc", *words, "--checkpoint", checkpoint)
    while not checkpoint.exists():
        assert all(process.poll() is None for process in killed)
        time.sleep(0.001)
    for process in killed:
        process.kill()
        process.communicate()
    resumed = trained(tmp_path / "killed", "map-dc", *words, "--checkpoint", checkpoint)
    for after, expected in zip(resumed, plain, strict=True):
        assert after["map-dc"]["weights"] == expected["map-dc"]["weights"]
        assert after["map-dc"]["history"] == expected["map-dc"]["history"]
        assert expected["map-dc"]["caches"][-1] == after["map-dc"]["caches"][-1]


@pytest.mark.slow
def test_a_signal_to_one_rank_ends_all_after_the_same_step_and_the_run_continues(tmp_path: Path) -> None:
    words = ("--epochs", 3, *GROW)
    plain = trained(tmp_path / "plain", "soft", *words)
    checkpoint = tmp_path / "run.safetensors"
    stopped = trained(tmp_path / "stopped", "soft", *words, "--checkpoint", checkpoint, "--stop", 7, 1)
    assert "SIGTERM: training ended after epoch 2, step 2" in stopped[1]["soft"]["interrupted"]
    assert "a signal to another rank: training ended after epoch 2, step 2" in stopped[0]["soft"]["interrupted"]
    resumed = trained(tmp_path / "stopped", "soft", *words, "--checkpoint", checkpoint)
    for after, expected in zip(resumed, plain, strict=True):
        assert after["soft"]["weights"] == expected["soft"]["weights"]
        assert after["soft"]["history"] == expected["soft"]["history"]


@pytest.mark.slow
def test_another_number_of_ranks_is_refused_on_every_rank(tmp_path: Path) -> None:
    checkpoint = tmp_path / "run.safetensors"
    trained(tmp_path, "map-dc", "--epochs", 1, *GROW, "--checkpoint", checkpoint)
    processes = start(tmp_path, "map-dc", *GROW, "--checkpoint", checkpoint, ranks=3)
    for process in processes:
        assert "ranks was 2, is 3" in process.communicate(timeout=300)[1]


@pytest.mark.slow
@pytest.mark.data
def test_two_ranks_by_torchrun_are_as_good_as_one_with_twice_the_batch(tmp_path: Path) -> None:
    words = [
        "map-dc", "--problem", "knapsack-120", "--options", "{}", "--epochs", "20", "--lr", "0.7", "--test",
        "--seeds", "5", "--settings", '{"p_solve": 0.05}',
    ]  # fmt: skip
    regrets = []
    for ranks, batch in ((2, 24), (1, 48)):
        folder = tmp_path / str(ranks)
        folder.mkdir()
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
        subprocess.run(
            [*command, str(PROGRAM), str(folder), *words, "--batch-size", str(batch)],
            check=True, timeout=900, env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        found = [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(ranks)]
        for run in found[0]:
            assert len({json.dumps(one[run]["caches"]) for one in found}) == 1
            assert found[0][run]["solves"] / found[0][run]["asked"] == pytest.approx(0.05, abs=0.01)
        regrets.append(sum(run["regret"] for run in found[0].values()) / len(found[0]))
    assert regrets[0] == pytest.approx(regrets[1], rel=0.01)  # means over seeds: only the coins differ
