"""Start the ranks of a data-parallel training, as torchrun does, and read what they found."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("rank_program.py")


def start(folder: Path, methods: str, *words: Any, ranks: int = 2) -> list[subprocess.Popen[str]]:
    """Start ``rank_program.py`` once per rank."""
    folder.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1"}
    return [
        subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder), methods, *map(str, words)],
            env=os.environ | shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]


def trained(folder: Path, methods: str, *words: Any, ranks: int = 2) -> list[dict[str, Any]]:
    """Train, and return what each rank found, by method."""
    processes = start(folder, methods, *words, ranks=ranks)
    try:
        said = [process.communicate(timeout=600)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert not any(process.returncode for process in processes), "\n".join(said)
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(ranks)]
