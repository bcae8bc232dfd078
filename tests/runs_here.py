"""Runs of a grid in this process, for tests that are not about worker processes: each of them would import torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from regretless.runs import Spec
from regretless.runs.worker import Worker


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let grids do their runs in this process."""
    monkeypatch.setattr("regretless.runs.grid_runs.do_runs", _do_runs)


def _do_runs(specs: Sequence[Spec], results: Path, *, report: Any, **how: Any) -> None:
    worker = Worker(results)
    for spec in specs:
        report(spec, worker.attempt(spec))
