"""Start the ranks of a data-parallel training, as torchrun does, and read what they found."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests import forked

PROGRAM = Path(__file__).with_name("rank_program.py")


def _environments(ranks: int) -> list[dict[str, str]]:
    """What torchrun tells each rank."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1"}
    return [shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(ranks)]


def start(folder: Path, methods: str, *words: Any, ranks: int = 2) -> list[subprocess.Popen[str]]:
    """Start ``rank_program.py`` once per rank."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(PROGRAM), str(folder), methods, *map(str, words)]
    return [
        subprocess.Popen(command, env=os.environ | told, stderr=subprocess.PIPE, text=True)
        for told in _environments(ranks)
    ]


def trained(folder: Path, methods: str, *words: Any, ranks: int = 2) -> list[dict[str, Any]]:
    """Train, and return what each rank found, by method."""
    folder.mkdir(parents=True, exist_ok=True)
    script = "import runpy; os.environ |= {!r}; runpy.run_path({!r}, run_name='__main__')"
    said = [folder / f"said{rank}" for rank in range(ranks)]
    processes = [
        forked.start(script.format(told, str(PROGRAM)), folder, methods, *words, output=output)
        for told, output in zip(_environments(ranks), said, strict=True)
    ]
    try:
        for process in processes:
            process.join(600)
    finally:
        for process in processes:
            process.kill()
    assert not any(process.exitcode for process in processes), "\n".join(output.read_text() for output in said)
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(ranks)]
