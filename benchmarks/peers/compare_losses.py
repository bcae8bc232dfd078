"""Every loss of PyEPO beside ours: same arrays, weights, batches, optimizer and epochs, on the shortest path.

python benchmarks/peers/compare_losses.py --seeds 10          make bench-losses: resumable; then writes the pages
python benchmarks/peers/compare_losses.py --write-only        writes the pages again from what was measured
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from loss_cells import (
    BATCH,
    CACHED,
    DEGREES,
    EPOCHS,
    FEATURES,
    FROM_TWO_STAGE,
    GRID,
    LR,
    NEIGHBORS,
    NOISE,
    NOISE_SEED,
    P_SOLVE,
    PAIRS,
    SIZES,
    TEST,
    width_of_differences,
)
from losses_page import leaderboard_part, page
from page import replaced

from regretless import evaluate, fit, make_loss, neighbor_labels
from regretless.problems import BenchmarkProblem, load
from regretless.problems.shortest_path import grid_edges
from regretless.training.two_stage import fit_two_stage

ROOT = Path(__file__).parents[2]
PEER = Path(os.environ.get("PEERS_PYTHON", ROOT / ".venv-peers" / "bin" / "python"))
PAGE, BOARD = ROOT / "docs" / "peers_losses.md", ROOT / "docs" / "leaderboard.md"
MARKS = "<!-- pyepo: begin, written by make bench-losses -->", "<!-- pyepo: end -->"
Row = dict[str, Any]


def all_paths() -> np.ndarray:
    """All paths of the grid ``(70, 40)``."""
    edges = grid_edges(*GRID).tolist()
    paths = [([], 0)]
    for _ in range(sum(GRID) - 2):
        paths = [([*used, i], end) for used, node in paths for i, (start, end) in enumerate(edges) if start == node]
    table = np.zeros((len(paths), len(edges)))
    for row, (used, _) in zip(table, paths, strict=True):
        row[used] = 1.0
    return table


def cell_of(degree: int, size: int, seed: int) -> BenchmarkProblem:
    """Problem and data of a cell."""
    rows, columns = GRID
    settings = {"rows": rows, "columns": columns, "features": FEATURES, "noise": NOISE, "train": size, "test": TEST}
    return load("shortest-path", deg=degree, seed=seed, **settings)


def ours(loaded: BenchmarkProblem, seed: int, name: str) -> tuple[torch.nn.Module, int]:
    """Train one loss of ours; return the model and the number of solves of training."""
    train, epochs, pair = loaded.train, EPOCHS, PAIRS.get(name)
    if name == "kNN SPO+":  # every instance occurs once per neighbor: the same number of steps as PyEPO
        train, epochs = neighbor_labels(loaded.problem, train, neighbors=NEIGHBORS, progress=False), EPOCHS // NEIGHBORS
    method = name.removesuffix(FROM_TWO_STAGE) if pair is None else pair.method
    options = {"p_solve": P_SOLVE} if pair is None else dict(pair.options)
    if name == "DBB":
        options["lambda_"] = width_of_differences(len(train))
    loss = make_loss(method, loaded.problem, train, seed=NOISE_SEED, **options)
    loss.reduction = "mean" if pair is None else pair.reduction
    model, before = loaded.model(seed), loaded.problem.statistics.solves
    if name.endswith(FROM_TWO_STAGE):
        fit_two_stage(model, train, seed=seed, progress=False)
    fit(model, loss, train, epochs=epochs, lr=LR, batch_size=BATCH, seed=seed, progress=False)
    return model, loaded.problem.statistics.solves - before


def export(loaded: BenchmarkProblem, seed: int, path: Path) -> None:
    """Write what PyEPO's side reads: data, first weights, and the order of the instances in every epoch."""
    train, start = loaded.train, loaded.model(seed)
    shuffle = torch.Generator().manual_seed(seed)  # as fit does
    orders = torch.stack([torch.randperm(len(train), generator=shuffle) for _ in range(EPOCHS)])
    arrays = {"features": train.features, "costs": train.costs, "solutions": train.solutions, "orders": orders}
    arrays |= {"weight": start.weight.detach(), "bias": start.bias.detach()}
    np.savez(path, paths=all_paths(), **{name: array.numpy() for name, array in arrays.items()})


def theirs(jobs: list[tuple[Path, list[str]]], out: Path) -> Iterator[Row]:
    """Train losses of PyEPO in one process of its own environment: rows with the job, the name and the weights."""
    script = Path(__file__).with_name("losses_pyepo.py")
    argument = json.dumps([(str(path), names) for path, names in jobs])
    subprocess.run([str(PEER), str(script), argument, str(out)], check=True, capture_output=True)
    yield from map(json.loads, out.read_text(encoding="utf-8").splitlines())


def loaded_weights(model: torch.nn.Linear, row: Row) -> torch.nn.Linear:
    """A model with the weights of a row."""
    with torch.no_grad():
        model.weight.copy_(torch.tensor(row["weight"]))
        model.bias.copy_(torch.tensor(row["bias"]))
    return model


def regret(model: torch.nn.Module, loaded: BenchmarkProblem) -> float:
    """Exact test regret in percent of the optimal cost; the same evaluation for both sides."""
    return 100 * evaluate(model, loaded.test, loaded.problem).relative_regret


def measure(kept: Path, seeds: int, cells: list[tuple[int, int]], names: list[str]) -> None:
    """Measure all cells that are not in the file yet, seed by seed."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    done = {(r["deg"], r["n"], r["seed"], r["side"], r["name"]) for r in map(json.loads, lines)}
    with kept.open("a", encoding="utf-8") as file:

        def note(cell: Row, **of: Any) -> None:
            print(json.dumps(cell | of), file=file, flush=True)

        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as folder:
                jobs, places = [], []
                for size, degree in cells:
                    key = (degree, size, seed)
                    mine = [name for name in (*names, *CACHED) if (*key, "ours", name) not in done]
                    its = [name for name in names if (*key, "pyepo", name) not in done]
                    if not mine and not its:
                        continue
                    loaded, cell = cell_of(*key), {"deg": degree, "n": size, "seed": seed}
                    for name in mine:
                        model, solves = ours(loaded, seed, name)
                        note(cell, side="ours", name=name, regret=regret(model, loaded), solves=solves)
                    if its:
                        path = Path(folder) / f"{len(jobs)}.npz"
                        export(loaded, seed, path)
                        jobs.append((path, its))
                        places.append((cell, loaded))
                for row in theirs(jobs, Path(folder) / "out.jsonl") if jobs else ():
                    cell, loaded = places[row["job"]]
                    of = {"error": row["error"]} if "error" in row else {}
                    of = of or {"regret": regret(loaded_weights(loaded.model(seed), row), loaded)}
                    note(cell, side="pyepo", name=row["name"], **of)
            print(f"seed {seed} done", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--losses", nargs="+", default=list(PAIRS), help="default: all that both have")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="numbers of training instances")
    parser.add_argument("--degrees", nargs="+", type=int, default=list(DEGREES))
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "peers_losses")
    parser.add_argument("--write-only", action="store_true", help="write the page from what was measured")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "rows.jsonl"
    torch.set_num_threads(1)
    if not options.write_only:
        if not PEER.exists():
            print(f"{PEER} is missing: run `make bench-peers`, which makes it", file=sys.stderr)
            return 2
        cells = [(size, degree) for size in options.sizes for degree in options.degrees]
        measure(kept, options.seeds, cells, options.losses)
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    text, good = page(rows)
    PAGE.write_text(text, encoding="utf-8")
    board = BOARD.read_text(encoding="utf-8")
    BOARD.write_text(replaced(board, leaderboard_part(rows), *MARKS), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
