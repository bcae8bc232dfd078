"""Requests of several threads to one decider, with an engine that fails, hangs or returns rubbish in a share of calls.

The model chooses one of five levels for each of 48 half hours (240 integer variables) under four capacities, and every
second request has capacities of its own. Every answer is checked: it must be feasible for its own model,
or say that it is not and name the violated rows.

python benchmarks/decider.py [--requests 10000] [--threads 4] [--deadline 0.1] [--share 0.1]
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from measure import line
from regretless import Decider
from regretless.milp import MILP, Floats
from regretless.runs import Spec, run
from regretless.solvers import Outcome, make_engine
from regretless.solvers import engine as engines
from regretless.solvers.engine import EngineEntry
from regretless.tables.constraints import vary_one
from regretless.types import Status

SLOTS, LEVELS, CAPACITIES, FEATURES, DAYS = 48, 5, 4, 6, 40
HANG_SECONDS = 3.0
FAULTS = ("raises", "exits", "hangs", "infeasible", "short", "nan", "says infeasible", "says nothing")


class Faulty:
    """Passes most solves on to HiGHS and spoils the rest."""

    def __init__(self, milp: MILP, share: float, time_limit: float | None) -> None:
        self.milp, self.share = milp, share
        self.engine = make_engine("highs", milp, time_limit=time_limit)

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        fault = random.choice(FAULTS) if random.random() < self.share else ""
        if fault == "raises":
            raise RuntimeError("injected")
        if fault == "exits":
            sys.exit("injected")
        if fault == "hangs":
            time.sleep(HANG_SECONDS)
        answers = {
            "infeasible": Outcome(np.ones(self.milp.n), Status.OPTIMAL),
            "short": Outcome(np.zeros(self.milp.n - 1), Status.OPTIMAL),
            "nan": Outcome(np.full(self.milp.n, np.nan), Status.OPTIMAL),
            "says infeasible": Outcome(None, Status.INFEASIBLE, np.inf, "injected"),
            "says nothing": Outcome(None, Status.TIME_LIMIT, np.inf, "injected"),
        }
        return answers[fault] if fault in answers else self.engine.solve(objective)


def install(share: float) -> None:
    """Put the engine into the table of engines, as ``faulty``."""
    module = ModuleType("faulty_engine")
    module.build = lambda milp, *, time_limit=None, **options: Faulty(milp, share, time_limit)  # type: ignore[attr-defined]
    sys.modules["faulty_engine"] = module
    engines.TABLE["faulty"] = EngineEntry("faulty_engine", "numpy", "numpy", "MIT")


def train(folder: Path) -> Path:
    """Write a model with data, and train two-stage on it."""
    chance = np.random.default_rng(0)
    use = np.sort(chance.integers(1, 20, size=(SLOTS, LEVELS)), axis=1)
    use[:, 0] = 0
    names = [[f"x_{t}_{k}" for k in range(LEVELS)] for t in range(SLOTS)]
    rows = [f" one_{t}: " + " + ".join(names[t]) + " = 1" for t in range(SLOTS)]
    for q in range(CAPACITIES):
        part = [t for t in range(SLOTS) if t * CAPACITIES // SLOTS == q]
        terms = "\n + ".join(f"{use[t, k]} {names[t][k]}" for t in part for k in range(1, LEVELS))
        rows.append(f" capacity_{q}: {terms} <= {use[part].sum() // (2 * LEVELS)}")
    every = [name for some in names for name in some]
    objective = "\n + ".join(every)
    parts = ["maximize", f" value: {objective}", "subject to", *rows, "binary", *(f" {name}" for name in every), "end"]
    (folder / "model.lp").write_text("\n".join(parts) + "\n")
    features = chance.normal(size=(DAYS, FEATURES))
    price = 10 + features @ chance.normal(size=(FEATURES, SLOTS))
    costs = (price[:, :, None] * use + chance.normal(size=(DAYS, SLOTS, LEVELS))).reshape(DAYS, -1)
    np.savez(folder / "x.npz", features=features)
    np.savez(folder / "c.npz", costs=costs)
    files = {"features": str(folder / "x.npz"), "costs": str(folder / "c.npz"), "time_limit": 1.0, "on_failure": "skip"}
    run(Spec(str(folder / "model.lp"), "two-stage", settings={"fit": "best"}, options=files), folder / "run")
    return folder / "run"


class Load:
    """Requests of one benchmark, and what came back."""

    def __init__(self, decider: Decider, deadline: float) -> None:
        self.decider, self.deadline = decider, deadline
        self.seconds: list[float] = []
        self.found: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.gaps: list[float] = []
        self.memory: list[int] = []

    def requests(self, count: int, seed: int) -> None:
        """Send requests one after the other."""
        chance, base = np.random.default_rng(seed), self.decider.milp
        capacity = base.row_upper[-CAPACITIES:]
        for k in range(count):
            share = chance.uniform(0.7, 1.2, size=CAPACITIES)
            changed = (
                {f"row:capacity_{q}": float(capacity[q] * share[q] // 1) for q in range(CAPACITIES)} if k % 2 else {}
            )
            features = chance.normal(size=FEATURES)
            start = time.perf_counter()
            try:
                answer = self.decider.decide(features, changed, deadline=self.deadline)
            except Exception as error:
                self.wrong[f"raised {type(error).__name__}"] += 1
                continue
            self.seconds.append(time.perf_counter() - start)
            self.check(vary_one(base, changed), answer)
            if k % 50 == 0:
                self.memory.append(resident())

    def check(self, milp: MILP, answer: Any) -> None:
        """Count an answer, and what is wrong with it."""
        x = np.array(list(answer.decision.values()))
        feasible = bool(milp.check(x)[0])
        self.found[answer.found] += 1
        if answer.gap is not None:
            self.gaps.append(answer.gap)
        if feasible == (answer.found == "infeasible") or feasible == bool(answer.violated):
            self.wrong["infeasible without saying so, or the reverse"] += 1
        value = float(x @ np.array(list(answer.predicted.values())))
        beaten = answer.bound is not None and answer.bound < value - 1e-6 * abs(value)
        if beaten or not np.isclose(value, answer.objective):
            self.wrong["objective or bound"] += 1


def resident() -> int:
    """Memory of the process in kilobytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--deadline", type=float, default=0.1, help="seconds")
    parser.add_argument("--share", type=float, default=0.1, help="of the calls in which the engine fails")
    options = parser.parse_args()
    torch.set_num_threads(1)
    install(options.share)
    with tempfile.TemporaryDirectory() as folder:
        decider = Decider.load(train(Path(folder)), engine="faulty")
    load, each = Load(decider, options.deadline), options.requests // options.threads
    threads = [threading.Thread(target=load.requests, args=(each, seed)) for seed in range(options.threads)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = np.array(load.seconds)
    print(f"{len(seconds)} answers in {time.perf_counter() - start:.0f} s: {dict(load.found)}")
    print(f"median {1000 * np.median(seconds):.0f} ms, largest {1000 * seconds.max():.0f} ms; with a certified gap "
          f"{100 * len(load.gaps) / len(seconds):.1f} %, median gap {100 * np.median(load.gaps):.2g} %")  # fmt: skip
    good = line("requests without an answer", float(each * options.threads - len(seconds)), at_most=0)
    good &= line(f"wrong answers {dict(load.wrong) or ''}", float(sum(load.wrong.values())), at_most=0)
    target = 1000 * options.deadline + 25
    good &= line("99th percentile, ms", 1000 * float(np.quantile(seconds, 0.99)), at_most=target)
    memory, part = load.memory, max(1, len(load.memory) // 5)
    # The first fifth warms up: threads, engines and the store of known decisions grow to their bounds.
    growth = float(np.mean(memory[-part:]) / np.mean(memory[part : 2 * part]))
    good &= line("memory at the end over memory after a fifth", growth, at_most=1.05)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
