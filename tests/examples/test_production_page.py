"""The shell session of docs/production.md runs as it is written, on fewer days."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What makes the session short enough for a test.
SHORTER = {"--days 730 --new 60": "--days 40 --new 2", "seq 0 59": "seq 0 1", "--out run": "--epochs 2 --out run"}


@pytest.mark.slow
def test_the_shell_session_runs(tmp_path: Path) -> None:
    pytest.importorskip("pyomo")
    page = (ROOT / "docs" / "production.md").read_text(encoding="utf-8")
    session = "\n".join(re.findall(r"```shell\n(.*?)```", page, flags=re.S))
    for long, short in SHORTER.items():
        assert long in session
        session = session.replace(long, short)
    session = session.replace("python examples", f"python {ROOT}/examples")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, words in (("python", ""), ("regretless", "-m regretless ")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        (tools / name).chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", session], cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "battery" / "decision1.csv").is_file()
    assert (tmp_path / "battery" / "audit.html").is_file()
    assert (tmp_path / "battery" / "later" / "metrics.json").is_file()
