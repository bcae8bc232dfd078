"""Every reader of the library with sound inputs to spoil, for fuzzing: bytes of a file, and what reads it."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.labels import solve_labels
from regretless.losses import MAP
from regretless.modeling import read
from regretless.paper.grid import read_grid
from regretless.problems import load
from regretless.problems.energy.icon import read_icon
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.report import write as write_report
from regretless.runs import Spec, load_trained, training_run
from regretless.runs import run as do_run
from regretless.runs.results import read_results
from regretless.runs.trials import LOG, open_trials
from regretless.search import Candidate, auto
from regretless.storage import load_state, read_json, save_state
from regretless.tables import read_costs, read_features
from regretless.tables.saved_problem import FILE, KIND, SavedProblem, load_saved_problem
from regretless.training.checkpoint import Parts, Progress
from regretless.training.checkpoint import load as load_checkpoint
from regretless.training.checkpoint import save as save_checkpoint
from regretless.training.direct import direct
from regretless.training.lean_adam import LeanAdam
from regretless.training.stack_checkpoint import KIND as STACKED

MPS = """NAME t
ROWS
 N  obj
 L  c1
 G  c2
 E  c3
COLUMNS
    M1 'MARKER' 'INTORG'
    x1 obj 1.5 c1 3
    x1 c2 1
    x2 obj -2 c1 4
    x2 c3 1
    M2 'MARKER' 'INTEND'
    y obj 1 c2 1
    y c3 2.5
RHS
    RHS c1 9 c2 -1
    RHS c3 2
RANGES
    RNG c1 4
BOUNDS
 UP BND x1 1
 BV BND x2
 LO BND y -1
 UP BND y 3
ENDATA
"""
LP = """\\ a comment
Maximize
 obj: 3 x1 + 2 x2 - y
Subject To
 c1: 3 x1 + 4 x2 <= 9
 c2: x1 + y >= -1
 c3: x2 + 2.5 y = 2
Bounds
 0 <= x1 <= 1
 -1 <= y <= 3
General
 x1
Binary
 x2
End
"""
ICON = "30\n2\n1\n0 5 1 2\n10 10\n2\n0 3 0 20 4.5\n2 1\n1 2 4 30 2\n1 3\n"
CSV = "instance,a,b,c\n" + "".join(f"{i},{i}.5,{-i},1e{i}\n" for i in range(6))
WIDE = "instance,variable,f,g\n" + "".join(f"{i},{v},{i}.25,2\n" for i in range(3) for v in "abc")
EXCEL = b"\xef\xbb\xbfsep=;\r\n" + CSV.replace(",", ";").replace(".", ",").encode()
TOML = """title = "t"
problems = ["knapsack-60", "knapsack-120"]
focus = "knapsack-60"
[methods.spo]
lr = [0.1, 0.2]
epochs = 2
[methods.nce-c]
lr = 0.5
seeds = 3
[cache]
p_solve = 0.05
[options]
split = "paper"
[[sweeps]]
methods = ["nce-c"]
p_solve = [0.1, 0.5]
[timing]
methods = ["spo"]
epochs = 1
[[tables]]
name = "a"
methods = ["spo"]
"""
NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Reader:
    """A reader: the file's name in its folder, sound contents, what reads the file, and whether it is a state file."""

    name: str
    sound: tuple[bytes, ...]
    read: Callable[[Path], Any]
    kind: str = ""


class _Parts:
    """A training run small enough to make afresh for every file."""

    def __init__(self) -> None:
        self.problem = knapsack_problem([3, 4, 5], 8)
        features = torch.linspace(-1, 1, 15).reshape(5, 3)
        self.data = Dataset.solve(self.problem, features, torch.linspace(1, 4, 15).reshape(5, 3))

    def parts(self) -> Parts:
        model = nn.Linear(3, 3)
        loss = MAP(SolutionCache(self.problem, self.data.solutions))
        return Parts(model, loss, LeanAdam(list(model.parameters()), 0.001), [], torch.Generator())


def _search(path: Path, made: _Parts) -> None:
    model = nn.Linear(3, 3)
    nn.init.ones_(model.weight)
    nn.init.zeros_(model.bias)
    direct(model, made.problem, made.data, generations=2, population=4, checkpoint=path, progress=False)


def _stacked(path: Path, made: _Parts) -> None:
    """A search over all settings, or what is left of it."""
    data = made.data[[0, 1, 2, 3, 4, 0, 1, 2]]
    few = [Candidate("map-dc", 0.01)]
    auto(made.problem, data, candidates=few, epochs=1, folds=2, checkpoint=path, progress=False)


def _trials(folder: Path) -> None:
    """One trial more in the log of a folder."""
    with open_trials(folder) as study:
        study.tell(study.ask(), 1.0)


def _npz(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _parquet(text: str) -> bytes:
    parquet, buffer = importlib.import_module("pyarrow.parquet"), io.BytesIO()
    parquet.write_table(importlib.import_module("pyarrow.csv").read_csv(io.BytesIO(text.encode())), buffer)
    return buffer.getvalue()


def _bytes_of(folder: Path, name: str, write: Callable[[Path], Any]) -> bytes:
    write(folder / name)
    return (folder / name).read_bytes()


def readers(folder: Path) -> dict[str, Reader]:
    """Build all readers; ``folder`` holds what they need beside the file."""
    folder.mkdir(parents=True, exist_ok=True)
    made = _Parts()
    parts = made.parts()
    parts.model(torch.ones(1, 3)).sum().backward()
    parts.optimizer.step()
    settings = {"seed": 0}
    at = Progress(1, 2, torch.arange(5), {"epoch": 2, "loss": 0.5, "solves": 3})
    checkpoint = _bytes_of(folder, "checkpoint", lambda path: save_checkpoint(path, parts, at, settings))
    cache = _bytes_of(folder, "cache", parts.loss.oracle.save)
    spec = Spec("synthetic-knapsack-60", "map-dc", epochs=1, options={"days": 20})
    run = folder / "results" / "runs" / spec.digest
    loaded = load("synthetic-knapsack-60", days=20)
    do_run(spec, run, loaded=loaded, progress=False)
    grid = json.dumps({"cell": spec.as_dict()}).encode()
    (folder / "results" / "grid.json").write_bytes(grid)
    labels = folder / "labels"
    solve_labels(made.problem, made.data.costs, store=labels)
    (stored,) = labels.iterdir()
    kept_run = _kept(folder)

    def beside(home: Path, name: str, then: Callable[[], Any]) -> Callable[[Path], Any]:
        """Put the spoiled file in its place among sound ones."""

        def place(path: Path) -> Any:
            sound = (home / name).read_bytes()
            (home / name).write_bytes(path.read_bytes())
            try:
                return then()
            finally:
                (home / name).write_bytes(sound)

        return place

    def report() -> None:
        write_report(folder / "results", folder / "report.html")

    def results() -> None:
        for result in read_results(folder / "results"):
            result.history()

    # Optional packages, as for users.
    parquet = {} if importlib.util.find_spec("pyarrow") is None else {
        "parquet costs": Reader("c.parquet", (_parquet(CSV),), lambda path: read_costs(path, NAMES)),
        "parquet features": Reader("x.parquet", (_parquet(CSV), _parquet(WIDE)),
                                   lambda path: read_features(path, NAMES)),
    }  # fmt: skip
    search = {}
    if importlib.util.find_spec("optuna") is not None:
        log = _bytes_of(folder, LOG, lambda path: _trials(path.parent))
        search["trials"] = Reader(LOG, (log,), lambda path: _trials(path.parent))
    if importlib.util.find_spec("cma") is not None:
        sound = _bytes_of(folder, "search", lambda path: _search(path, made))
        search["search"] = Reader("s.safetensors", (sound,), lambda path: _search(path, made), "search")
    return parquet | search | {
        "mps": Reader("m.mps", (MPS.encode(),), read),
        "lp": Reader("m.lp", (LP.encode(),), read),
        "mps.gz": Reader("m.mps.gz", (gzip.compress(MPS.encode()),), read),
        "icon": Reader("i.txt", (ICON.encode(),), read_icon),
        "csv costs": Reader("c.csv", (CSV.encode(), EXCEL), lambda path: read_costs(path, NAMES)),
        "csv features": Reader("x.csv", (CSV.encode(), WIDE.encode(), EXCEL), lambda path: read_features(path, NAMES)),
        "npz costs": Reader("c.npz", (_npz(costs=np.ones((4, 3)), instance=np.arange(4)),),
                            lambda path: read_costs(path, NAMES)),
        "npz features": Reader("x.npz", (_npz(features=np.ones((4, 3, 2)), names=np.array(["f", "g"])),),
                               lambda path: read_features(path, NAMES)),
        "cache": Reader("s.safetensors", (cache,), lambda path: SolutionCache.load(path, made.problem), "cache"),
        "checkpoint": Reader("k.safetensors", (checkpoint,),
                             lambda path: load_checkpoint(path, made.parts(), settings, 1000), "checkpoint"),
        "labels": Reader("l.safetensors", (stored.read_bytes(),),
                         beside(labels, stored.name,
                                lambda: solve_labels(made.problem, made.data.costs, store=labels)), "labels"),
        "problem": Reader("p.safetensors", ((kept_run / "problem.safetensors").read_bytes(),),
                          beside(kept_run, "problem.safetensors",
                                 lambda: load_saved_problem(kept_run).blank()), "problem"),
        "weights": Reader("w.safetensors", ((run / "weights.safetensors").read_bytes(),),
                          beside(run, "weights.safetensors", lambda: _weights(run, loaded)), "weights"),
        "stacked": Reader("a.safetensors", (_bytes_of(folder, "stacked", lambda path: _stacked(path, made)),),
                          lambda path: _stacked(path, made), STACKED),
        "toml": Reader("g.toml", (TOML.encode(),), _grid),
        "spec": Reader("spec.json", ((run / "spec.json").read_bytes(),), lambda path: Spec.from_dict(read_json(path))),
        "grid.json": Reader("grid.json", (grid,), beside(folder / "results", "grid.json", results)),
        "history": Reader("h.csv", ((run / "history.csv").read_bytes(),), beside(run, "history.csv", results)),
        "report": Reader("m.json", ((run / "metrics.json").read_bytes(),), beside(run, "metrics.json", report)),
    }  # fmt: skip


def _grid(path: Path) -> None:
    read_grid("fuzz", path.read_bytes().decode("utf-8", errors="replace")).specs(seeds=2)


def _weights(run: Path, loaded: Any) -> None:
    """Load weights back without loading the problem's data every time."""
    original, training_run.load_problem = training_run.load_problem, lambda *_, **__: loaded
    try:
        load_trained(run)
    finally:
        training_run.load_problem = original


def _kept(folder: Path) -> Path:
    """A run on a model file, which keeps its problem."""
    milp, sense, names = read(_write(folder / "kept.mps", MPS))
    kept = SavedProblem(milp, sense, tuple(names), ("f", "g"), (2,))
    (folder / "kept").mkdir()
    save_state(folder / "kept" / FILE, kept.state(), kind=KIND)
    assert load_state(folder / "kept" / FILE, kind=KIND)
    return folder / "kept"


def _write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path
