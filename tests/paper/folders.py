"""Folders of results made by hand, so that tables and figures are tested without training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regretless.runs import Spec
from regretless.runs.results import register
from regretless.runs.run_folder import run_path
from regretless.storage import write_json, write_text


def finished(results: Path, spec: Spec, *, epochs: int = 3, **figures: Any) -> None:
    """A finished run with these figures and a made-up history."""
    folder = run_path(results, spec)
    base = {
        "regret": 100.0,
        "mse": 1.0,
        "epochs": epochs,
        "epoch_seconds": 0.5,
        "solves": 30,
        "lookups": 30,
        "cache_size": 9,
    }
    head = "epoch,seconds,solves,cache_size,test_regret"
    lines = [f"{i + 1},0.5,10,{5 + i},{200 - 10 * i + spec.seed}" for i in range(epochs)]
    write_text(folder / "history.csv", "\n".join([head, *lines, ""]))
    write_json(folder / "metrics.json", base | {"status": "done"} | figures)
    register(results, [spec])
