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
from contextlib import ExitStack, suppress
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from cells import EPOCHS_PER_TURN, METHODS, SHARES, TURN_OVER, Job  # noqa: E402
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
    TORCH_LOOP,
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


def start(side: str, argument: str, errors: Any) -> subprocess.Popen[str]:
    """Start one job in a separate process."""
    python, script = (sys.executable, "ours.py") if side == "ours" else (str(PEER), "pyepo_peer.py")
    one = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    command = [python, str(HERE / script), argument]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
    return subprocess.Popen(command, text=True, env=os.environ | one, **piped)


def in_turns(jobs: dict[Side, str]) -> dict[Side, list[Row] | AbsentError]:
    """Run jobs in processes that take turns, and read their figures, each with the peak memory of its process."""
    with ExitStack() as stack:
        errors = {side: stack.enter_context(tempfile.TemporaryFile("w+")) for side in jobs}
        processes = {side: stack.enter_context(start(side[0], jobs[side], errors[side])) for side in jobs}
        printed: dict[Side, list[str]] = {side: [] for side in jobs}
        running = list(jobs)
        while running:
            running = [side for side in running if _had_a_turn(processes[side], printed[side])]
        return {side: _figures(processes[side], printed[side], errors[side]) for side in jobs}


def _had_a_turn(process: subprocess.Popen[str], printed: list[str]) -> bool:
    """Give a process a turn and wait until it is over; ``False`` where the process has ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError):  # it has ended
        os.write(process.stdin.fileno(), b"your turn\n")
    for text in process.stdout:
        if text.strip() == TURN_OVER:
            return True
        printed.append(text)
    return False


def _figures(process: subprocess.Popen[str], printed: list[str], errors: Any) -> list[Row] | AbsentError:
    if process.wait():
        errors.seek(0)
        return AbsentError((errors.read().strip().splitlines() or [f"exit {process.returncode}"])[-1])
    # Gurobi prints its banner to the same stream.
    found: list[Row] = [json.loads(text) for text in printed if text.startswith("{")]
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
    """Measure all cells. The sides of a cell take turns of a few epochs, one process at a time."""
    from ours import export

    rows: list[Row] = []
    absent: set[Side] = set()
    with tempfile.TemporaryDirectory() as folder, kept.open("w", encoding="utf-8") as file:
        for problem in problems:
            export(problem, Path(folder) / f"{problem}.npz", seeds=repeats, epochs=max(epochs, 2))

        def note(row: Row) -> None:
            rows.append(row | {"load": os.getloadavg()[0], "commit": commit()})
            print(json.dumps(rows[-1]), file=file, flush=True)

        for repeat in range(repeats):
            for side in ("ours", "pyepo"):
                (found,) = in_turns({(side, "", ""): "scale"}).values()
                if isinstance(found, AbsentError):
                    raise found
                note({"problem": "scale", "side": side, "repeat": repeat} | found[0])
            for problem in problems:
                path = Path(folder) / f"{problem}.npz"
                data = dict(np.load(path))
                for p_solve in SHARES:
                    jobs = {
                        side: Job(str(path), METHODS, p_solve, repeat, epochs, side[1], side[2], turns=True)
                        for side in _sides(problem, p_solve)
                        if side not in absent
                    }
                    cell = {"problem": problem, "p_solve": p_solve, "repeat": repeat}
                    for side, found in in_turns({side: job.as_argument() for side, job in jobs.items()}).items():
                        if isinstance(found, AbsentError):
                            if side[1] != "gurobi":  # only its license may be missing
                                raise found
                            absent.add(side)
                            print(f"{SIDES[side]} is skipped: {found}", flush=True)
                            continue
                        for row in found:
                            note(cell | of_side(side) | row | {"regret": regret(data, row)})
                print(f"repeat {repeat + 1} of {repeats}: {problem} done", flush=True)
    return rows


def _sides(problem: str, p_solve: float) -> tuple[Side, ...]:
    # How batches are read matters where there are few solves. It does not depend on the data, so one problem suffices.
    by_hand = SLICED if problem == EMBEDDED and p_solve < 1.0 else ()
    # PyEPO flips one coin per batch: the same policy is measured beside our default.
    loops = (OWN_STEPS, OWN_LOOP, TORCH_LOOP, BATCH_COIN, OWN_STEPS_BATCH_COIN, OWN_LOOP_BATCH_COIN)
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
        f"Medians over {repeats} repeats. Each side of a repeat is a separate process. The sides take turns of "
        f"{EPOCHS_PER_TURN} epochs, one at a time, so that a slow phase of the machine affects all of them alike; a "
        "ratio is the median of the ratios within each repeat. Each figure is the mean over "
        f"{epochs} epochs of 552 days in batches of 24.",
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
