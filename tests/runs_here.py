"""Runs of a grid in this process, for tests that are not about worker processes: each of them would import torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from regretless.runs import Spec
from regretless.runs.worker import Worker
from regretless.runs.worker_pool import WorkerPool


class Here(Worker):
    """A worker in this process."""

    alive = True

    def ready(self) -> bool:
        """It has no process to wait for."""
        return True

    def stop(self) -> None:
        """A run here is not stopped."""

    def close(self) -> None:
        """There is nothing to end."""


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let grids do their runs in this process."""
    monkeypatch.setattr("regretless.runs.grid_runs.do_runs", _do_runs)


def _do_runs(specs: Sequence[Spec], results: Path, *, report: Any, **how: Any) -> None:
    worker = Here(results)
    pool = WorkerPool(specs, results, lambda: worker)
    for spec in specs:
        report(spec, pool.attempt(worker, spec))
