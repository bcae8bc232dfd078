"""Compare regretless with PyEPO: same data, batches, model, optimizer and share of solves. Writes tables and a picture.

make bench-peers                                             five repeats, then docs/benchmarks.md
python benchmarks/peers/compare.py --repeats 1 --dry         a quick check: prints the figures, writes no page
python benchmarks/peers/compare.py --write-only              writes the page again from the last measurement
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from cells import METHODS, SHARES, Job  # noqa: E402
from figures import (  # noqa: E402
    BATCH_COIN,
    GUROBI,
    ORTOOLS,
    OURS,
    OWN_LOOP,
    OWN_LOOP_BATCH_COIN,
    OWN_STEPS,
    OWN_STEPS_BATCH_COIN,
    SIDES,
    SLICED,
    Row,
    Side,
    of_side,
    ratios,
    scale_ratios,
)
from page import part, replaced  # noqa: E402
from picture import draw  # noqa: E402

from measure import line  # noqa: E402
from regretless import Dataset, evaluate  # noqa: E402
from regretless.problems.knapsack.oracle import knapsack_problem  # noqa: E402
from regretless.problems.settings import SharedLinear  # noqa: E402

EMBEDDED, MARKET = "synthetic-knapsack-120", "knapsack-120"
PAGE, PICTURE = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "pictures" / "peers.svg"
FINAL_REPEATS = 5
PEER = Path(os.environ.get("PEERS_PYTHON", ROOT / ".venv-peers" / "bin" / "python"))


class AbsentError(Exception):
    """A side cannot run on this machine. The message gives the reason."""


def query(side: str, argument: str) -> list[Row]:
    """Run one job in a separate process and read its figures, each with the peak memory of the process."""
    python, script = (sys.executable, "ours.py") if side == "ours" else (str(PEER), "pyepo_peer.py")
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    command = [python, str(HERE / script), argument]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | one, check=False)
    if done.returncode:
        raise AbsentError((done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1])
    # Gurobi prints its banner to the same stream.
    found: list[Row] = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    return [row | {"peak_mb": found[-1]["peak_mb"]} for row in found]


def commit() -> str:
    """Commit of the measured code, with a mark if files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def regret(data: dict[str, np.ndarray], row: Row) -> float:
    """Exact test regret of the final weights of a side; the same evaluation serves both sides."""
    problem = knapsack_problem(data["weights"], int(data["capacity"][0]))
    model = SharedLinear(len(row["weight"]))
    with torch.no_grad():
        model.linear.weight.copy_(torch.tensor(row["weight"])[None])
        model.linear.bias.copy_(torch.tensor(row["bias"]))
    parts = (torch.from_numpy(data[f"test_{name}"]) for name in ("features", "costs", "solutions"))
    return evaluate(model, Dataset(*parts), problem).regret


def measure(problems: list[str], repeats: int, epochs: int, kept: Path) -> list[Row]:
    """Measure all cells. The sides alternate within a cell, one process at a time."""
    from ours import export

    rows: list[Row] = []
    absent: dict[Side, str] = {}
    with tempfile.TemporaryDirectory() as folder, kept.open("w", encoding="utf-8") as file:
        for problem in problems:
            export(problem, Path(folder) / f"{problem}.npz", seeds=repeats, epochs=max(epochs, 2))

        def note(row: Row) -> None:
            rows.append(row | {"load": os.getloadavg()[0], "commit": commit()})
            print(json.dumps(rows[-1]), file=file, flush=True)

        for repeat in range(repeats):
            for side in ("ours", "pyepo"):
                note({"problem": "scale", "side": side, "repeat": repeat} | query(side, "scale")[0])
            for problem in problems:
                path = Path(folder) / f"{problem}.npz"
                data = dict(np.load(path))
                for p_solve in SHARES:
                    for side in _sides(problem, p_solve):
                        if side in absent:
                            continue
                        job = Job(str(path), METHODS, p_solve, repeat, epochs, backend=side[1], loop=side[2])
                        try:
                            found = query(side[0], job.as_argument())
                        except AbsentError as error:
                            if side[1] != "gurobi":  # only its license may be missing
                                raise
                            absent[side] = str(error)
                            print(f"{SIDES[side]} is skipped: {error}", flush=True)
                            continue
                        cell = {"problem": problem, "p_solve": p_solve, "repeat": repeat}
                        for row in found:
                            note(cell | of_side(side) | row | {"regret": regret(data, row)})
                print(f"repeat {repeat + 1} of {repeats}: {problem} done", flush=True)
    return rows


def _sides(problem: str, p_solve: float) -> tuple[Side, ...]:
    # How batches are read matters where there are few solves. It does not depend on the data, so one problem suffices.
    by_hand = SLICED if problem == EMBEDDED and p_solve < 1.0 else ()
    # PyEPO flips one coin per batch: the same policy is measured beside our default.
    loops = (OWN_STEPS, OWN_LOOP, BATCH_COIN, OWN_STEPS_BATCH_COIN, OWN_LOOP_BATCH_COIN)
    alike = loops if p_solve < 1.0 else ()
    return (OURS, *alike, ORTOOLS, GUROBI, *by_hand)


def conditions(rows: list[Row], epochs: int) -> list[str]:
    """Conditions of the measurement: versions, machine, repeats, load."""
    repeats, loads = max(row["repeat"] for row in rows) + 1, sorted(row["load"] for row in rows)
    command = [str(PEER), "-c", "from importlib.metadata import version as v; print(v('pyepo'), v('ortools'))"]
    peer = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split() or ["?", "?"]
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    few = f"**Provisional:** fewer than {FINAL_REPEATS} repeats; run `make bench-peers` on an idle machine."
    return [
        *([few] if repeats < FINAL_REPEATS else []),
        f"{date.today():%d %B %Y}; regretless {metadata.version('regretless')}, PyEPO {peer[0]}, OR-Tools {peer[1]}, "
        f"torch {torch.__version__}, Python {platform.python_version()}; {machine}.",
        f"Code measured: {', '.join(dict.fromkeys(row.get('commit', 'not recorded') for row in rows))}.",
        f"Medians over {repeats} repeats. Each repeat is a separate process, one at a time, and the sides alternate. "
        f"Each figure is the mean over {epochs} epochs of 552 days in batches of 24.",
        f"Load average of the machine during the measurement: {loads[0]:.1f} to {loads[-1]:.1f}, median "
        f"{loads[len(loads) // 2]:.1f}. If it exceeds the number of cores, compare CPU times, not wall times.",
    ]


def report(rows: list[Row], problems: list[str]) -> bool:
    """Print every ratio with its target; return whether all targets were met."""
    found = [ratio for problem in problems for ratio in ratios(rows, problem)] + scale_ratios(rows)
    met = [line(f"{ratio.what} (wall {ratio.wall:.3g})", ratio.cpu, at_least=ratio.target) for ratio in found]
    return bool(found) and all(met)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=FINAL_REPEATS)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument(
        "--problems", nargs="+", help="default: the embedded problem, and the market problem if its data is available"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "peers")
    parser.add_argument("--dry", action="store_true", help="measure and print, write no page")
    parser.add_argument("--write-only", action="store_true", help="write the page from the last measurement")
    options: Any = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "rows.jsonl"
    problems = options.problems or [EMBEDDED, *([MARKET] if os.environ.get("REGRETLESS_DATA") else [])]
    torch.set_num_threads(1)
    if options.write_only:
        rows = [json.loads(text) for text in kept.read_text(encoding="utf-8").splitlines()]
        problems = list(dict.fromkeys(row["problem"] for row in rows if row["problem"] != "scale"))
    elif not PEER.exists():
        print(f"{PEER} is missing: run `make bench-peers`, which creates it", file=sys.stderr)
        return 2
    else:
        rows = measure(problems, options.repeats, options.epochs, kept)
    good = report(rows, problems)
    if not options.dry:
        PICTURE.parent.mkdir(exist_ok=True)
        draw(rows, PICTURE)
        text = part(rows, conditions(rows, options.epochs), PICTURE.relative_to(PAGE.parent).as_posix())
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
