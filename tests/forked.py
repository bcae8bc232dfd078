"""Processes that run a script of a test without importing torch again: forks of one server that has imported it."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

from regretless.solvers.processes import PRELOAD

SERVER = multiprocessing.get_context("forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else None)


def start(script: str, *words: object, output: Path | None = None) -> Any:
    """Start a process of ``multiprocessing`` that runs a script.

    Args:
        script: Python code.
        words: strings in ``sys.argv`` from index 1.
        output: file of everything that the process prints.
    """
    SERVER.set_forkserver_preload(PRELOAD)
    lines = ["import os, sys, torch", "torch.set_num_threads(1)", f"sys.argv = {['-c', *map(str, words)]!r}"]
    if output is not None:
        lines.append(f"file = os.open({str(output)!r}, os.O_WRONLY | os.O_CREAT)")
        lines.append("os.dup2(file, 1), os.dup2(file, 2)")
    process = SERVER.Process(target=exec, args=("\n".join([*lines, script]), {"__name__": "__main__"}), daemon=True)
    process.start()
    return process


def run_module(name: str, *words: object, output: Path, seconds: float) -> str:
    """Run a module as ``python -m`` does, and return what it printed."""
    process = start(f"import runpy; runpy.run_module({name!r}, run_name='__main__')", *words, output=output)
    process.join(seconds)
    process.kill()
    said = output.read_text()
    assert process.exitcode == 0, f"exit code {process.exitcode}: {said[-2000:]}"
    return said
