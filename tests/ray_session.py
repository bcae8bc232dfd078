"""One Ray for all tests of a file: starting it takes seconds, and nothing of it may be left running."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def ray_for_tests(*, cpus: int = 2) -> Iterator[Any]:
    """Start Ray, and stop it; the body of a fixture."""
    pytest.importorskip("ray", reason="Ray is not installed")
    from regretless.solvers.ray_cluster import connect

    ray = connect(cpus=cpus)
    try:
        yield ray
    finally:
        ray.shutdown()


def actor_pids(name: str) -> list[int]:
    """Process ids of the actors of a class that this process has started, oldest first."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if folder.joinpath("cmdline").read_text().startswith(f"ray::{name}") and _is_ours(int(folder.name)):
                found.append(int(folder.name))
        except (OSError, ValueError):  # it has ended
            continue
    return sorted(found)


def _is_ours(pid: int) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False
