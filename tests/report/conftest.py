"""Folders of results as ``regretless`` writes them, without training anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from regretless.training.history import History

EVIL = "<script>alert(1)</script>"
MakeRun = Callable[..., Path]


def write_run(
    results: Path, method: str = "spo", *, problem: str = "synthetic-knapsack-60", seed: int = 0, epochs: int = 4,
    settings: dict[str, Any] | None = None, metrics: dict[str, Any] | None = None, finish: bool = True, **spec: Any,
) -> Path:  # fmt: skip
    """Write a run folder below ``results``; its figures follow from method and seed."""
    folder = results / "runs" / f"run-{len(list(results.glob('runs/*'))):03d}"
    folder.mkdir(parents=True)
    content = {"problem": problem, "method": method, "seed": seed, "init": "random", "epochs": epochs, "lr": 0.5}
    content |= {"batch_size": None, "settings": settings or {}, "options": {}, "watch": True, "patience": 0} | spec
    (folder / "spec.json").write_text(json.dumps(content))
    (folder / "environment.json").write_text(json.dumps({"python": "3.11", "torch": "2.9"}))
    if not finish:
        return folder
    base = 700.0 + 100 * (sum(map(ord, method)) % 7) + 3 * seed
    history = History()
    for epoch in range(1, epochs + 1):
        row = {"epoch": epoch, "loss": 1.0 / epoch, "regret": None, "seconds": 0.05 + 0.01 * seed}
        row |= {"cache_size": 500 + 10 * epoch if method.endswith("cache") else None}
        history.append(row | {"test_regret": base + 300 / epoch})
    (folder / "history.csv").write_text(history.to_csv())
    figures = {"status": "done", "epochs": epochs, "train_seconds": 1.0, "regret": base, "relative_regret": base / 6e3}
    figures |= {"mse": 20000.0, "auc": None, "instances": 178, "failed": 0, "not_optimal": 0, "epoch_seconds": 0.05}
    figures |= {"solver_seconds": 0.1, "solves": 500, "lookups": 0, "cache_size": None}
    (folder / "metrics.json").write_text(json.dumps(figures | (metrics or {})))
    return folder


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Write a run folder below ``tmp_path / "results"``."""
    return partial(write_run, tmp_path / "results")


def three_methods(results: Path) -> Path:
    """Three methods with two seeds each."""
    for method in ("two-stage", "spo", "spo-cache"):
        for seed in (0, 1):
            write_run(results, method, seed=seed)
    return results


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder of a test's own, which ``make_run`` can add to."""
    return three_methods(tmp_path / "results")


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same folder for tests that only read it."""
    return three_methods(tmp_path_factory.mktemp("report") / "results")
