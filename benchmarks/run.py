"""Run every benchmark, one after the other, and print which missed a target.

python benchmarks/run.py [NAME ...]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NOT_BENCHMARKS = {
    "gpu_programs",
    "gpu_searches",
    "run",
    "measure",
    "cluster_simulation",
    "methods_on_paper",
}  # the last is a study of half an hour, run by its name


def main() -> int:
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHMARKS)
    missed = []
    for name in names:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py")], check=False).returncode:
            missed.append(name)
    print(f"targets missed in: {', '.join(missed)}" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
