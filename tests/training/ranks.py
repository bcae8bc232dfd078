"""Start the ranks of a data-parallel training, as torchrun does, and read what they found."""

from __future__ import annotations

import json
import os
import signal
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


# One process imports what all ranks need, among it torch's compiler for the wrapper of models, and then forks them.
RANKS = """
import runpy, traceback
import torch._dynamo
os.setsid()
children = []
for told, said in {ranks!r}:
    child = os.fork()
    children.append(child)
    if not child:
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT), 2)
        os.environ |= told
        code = 1
        try:
            runpy.run_path({program!r}, run_name="__main__")
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
sys.exit(max([os.waitpid(child, 0)[1] for child in children]) != 0)
"""


def trained(folder: Path, methods: str, *words: Any, ranks: int = 2) -> list[dict[str, Any]]:
    """Train, and return what each rank found, by method."""
    folder.mkdir(parents=True, exist_ok=True)
    said = [folder / f"said{rank}" for rank in range(ranks)]
    told = list(zip(_environments(ranks), map(str, said), strict=True))
    process = forked.start(RANKS.format(ranks=told, program=str(PROGRAM)), folder, methods, *words)
    try:
        process.join(600)
    finally:
        if process.is_alive():  # ranks that wait for one another
            os.killpg(process.pid, signal.SIGKILL)
    assert process.exitcode == 0, "\n".join(output.read_text() for output in said if output.exists())
    return [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(ranks)]
