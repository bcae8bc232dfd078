"""Measure every method on two problems and write the tables of ``which_method.md``.

    python docs/make_which_method.py --out results/which-method --seeds 3

The learning rate of each method is the one with the lowest validation regret (seed 0). Test data are used only to
evaluate the runs in the tables. Finished runs are not repeated.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regretless.metrics import regret
from regretless.modeling import read
from regretless.problems import BenchmarkProblem
from regretless.runs import Spec, environment, run
from regretless.runs.training_run import load_problem, single_threaded
from regretless.storage import write_text
from regretless.tables import read_costs
from regretless.training import evaluate, fit, methods

PAGE = Path(__file__).with_name("which_method.md")
RATES = (0.01, 0.1, 1.0)
EPOCHS = 20
SIDE, FEATURES, INSTANCES = 5, 5, 400
# Direct search has generations instead of epochs. On the grid every candidate takes a hundred solves by HiGHS.
GENERATIONS = {"synthetic-knapsack-60": 60, "grid.lp": 25}


def grid(folder: Path) -> dict[str, Any]:
    """Shortest paths through a 5 x 5 grid, costs of degree 4 in the features: the usual test problem of SPO+."""
    arcs = [((i, j), (i + a, j + b)) for i in range(SIDE) for j in range(SIDE) for a, b in ((0, 1), (1, 0))
            if i + a < SIDE and j + b < SIDE]  # fmt: skip
    names = [f"x_{i}{j}_{k}{m}" for (i, j), (k, m) in arcs]
    rows = []
    for node in [(i, j) for i in range(SIDE) for j in range(SIDE)]:
        out = " ".join(f"+ {name}" for name, (start, _) in zip(names, arcs, strict=True) if start == node)
        into = " ".join(f"- {name}" for name, (_, end) in zip(names, arcs, strict=True) if end == node)
        net = int(node == (0, 0)) - int(node == (SIDE - 1, SIDE - 1))
        rows.append(f" n{node[0]}{node[1]}: {out} {into} = {net}")
    bounds = "\n".join(f" {name} <= 1" for name in names)
    rows = ["minimize", " length: " + " + ".join(names), "subject to", *rows, "bounds", bounds, "end"]
    write_text(folder / "grid.lp", "\n".join(rows) + "\n")
    generator = np.random.default_rng(0)
    mix = generator.binomial(1, 0.5, (len(arcs), FEATURES))
    x = generator.standard_normal((INSTANCES, FEATURES))
    signal = (x @ mix.T / np.sqrt(FEATURES) + 3) ** 4 / 3.5**4
    costs = signal * generator.uniform(0.5, 1.5, signal.shape)
    features = [f"f{k}" for k in range(FEATURES)]
    for name, header, values in (("x", features, x), ("c", names, costs), ("signal", names, signal)):
        lines = [",".join(header), *(",".join(map(repr, row)) for row in values.tolist())]
        write_text(folder / f"{name}.csv", "\n".join(lines) + "\n")
    files = {"features": str(folder / "x.csv"), "costs": str(folder / "c.csv")}
    return files | {"validation": 0.25, "test": 0.5}


def tuned_rate(loaded: BenchmarkProblem, problem: str, method: str, folder: Path) -> float:
    """The learning rate with the lowest validation regret, stored in a file."""
    kept = folder / "rates" / f"{problem}-{method}.txt"
    if kept.exists():
        return float(kept.read_text())
    regrets = {}
    for lr in RATES:
        model, row = loaded.model(0), methods.method(method)
        loss = methods.make_loss(method, loaded.problem, loaded.train, seed=0)
        size = row.batch_size or loaded.batch_size
        fit(model, loss, loaded.train, epochs=EPOCHS, lr=lr, batch_size=size, progress=False)
        assert loaded.validation is not None
        regrets[lr] = evaluate(model, loaded.validation, loaded.problem).regret
    best = min(regrets, key=lambda lr: regrets[lr])
    write_text(kept, f"{best}\n")
    return best


def measured(problem: str, options: dict[str, Any], folder: Path, seeds: int) -> list[dict[str, Any]]:
    """One row per method: means over the seeds."""
    path = str(folder / problem) if problem.endswith(".lp") else problem
    loaded = load_problem(Spec(path, "two-stage", options=options))
    rows = []
    for method in methods.names():
        direct = methods.method(method).search is not None
        lr = RATES[1] if direct else tuned_rate(loaded, problem, method, folder)
        settings = {"generations": GENERATIONS[problem]} if direct else {}
        figures = []
        for seed in range(seeds):
            spec = Spec(path, method, seed=seed, epochs=EPOCHS, lr=lr, settings=settings, options=options, watch=False)
            figures.append(run(spec, folder / "runs" / spec.digest, loaded=loaded, progress=False))
        row = {name: statistics.fmean(f[name] for f in figures) for name in ("regret", "relative_regret")}
        row["deviation"] = statistics.stdev(f["regret"] for f in figures) if seeds > 1 else 0.0
        row["epoch_seconds"] = statistics.fmean(f["epoch_seconds"] for f in figures)
        row["epoch_solves"] = statistics.fmean(f["solves"] / max(f["epochs"], 1) for f in figures)
        rows.append({"problem": problem, "method": method, "lr": "" if direct else f"{lr:g}"} | row)
        print(f"{problem:24} {method:20} {row['regret']:10.4g} {row['epoch_seconds']:8.3f} s", flush=True)
    return rows


def floor(folder: Path, options: dict[str, Any]) -> str:
    """Regret on the grid of the costs without noise, and of the training mean."""
    loaded = load_problem(Spec(str(folder / "grid.lp"), "two-stage", options=options))
    names = read(folder / "grid.lp").cost_names
    test = loaded.test
    signal = torch.as_tensor(read_costs(folder / "signal.csv", names).values[-len(test) :])
    mean = loaded.train.costs.mean(dim=0).expand_as(signal)
    known, constant = (
        float(regret(loaded.problem, predicted, test.costs, test.solutions).mean()) for predicted in (signal, mean)
    )
    return (
        f"For comparison: the true costs without their noise, the best possible prediction, have regret {known:.3g}; "
        f"the training mean has regret {constant:.3g}."
    )


def table(rows: list[dict[str, Any]], title: str) -> list[str]:
    """A Markdown table, sorted by regret."""
    lines = [
        f"**{title}**",
        "",
        "| method | test regret | of the optimum | seconds per epoch | solver calls per epoch | lr |",
    ]
    lines.append("|---|--:|--:|--:|--:|--:|")
    for row in sorted(rows, key=lambda row: row["regret"]):
        regret = f"{row['regret']:.3g} ± {row['deviation']:.2g}"
        if row["regret"] >= 100:
            regret = f"{row['regret']:.0f} ± {row['deviation']:.0f}"
        share = f"{100 * row['relative_regret']:.1f} %"
        lines.append(
            f"| `{row['method']}` | {regret} | {share} | {row['epoch_seconds']:.3f} | {row['epoch_solves']:.0f} "
            f"| {row['lr']} |"
        )
    return [*lines, ""]


def main() -> None:
    """Do the runs and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/which-method"))
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    single_threaded()
    problems: dict[str, tuple[str, dict[str, Any]]] = {
        "synthetic-knapsack-60": (
            "synthetic-knapsack-60: a knapsack over 48 slots, special oracle, 552 training days",
            {},
        ),
        "grid.lp": (
            "Shortest paths, 5 x 5 grid, solved by HiGHS from a model file, 100 training instances",
            grid(arguments.out),
        ),
    }
    rows, text = [], []
    for problem, (title, options) in problems.items():
        found = measured(problem, options, arguments.out, arguments.seeds)
        rows += found
        text += table(found, title)
    text += [floor(arguments.out, problems["grid.lp"][1]), ""]
    with (arguments.out / "which_method.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    versions = environment()
    text.append(
        f"Means and standard deviations over {arguments.seeds} seeds, {EPOCHS} epochs, default settings except for the "
        f"learning rate (best of {', '.join(map(str, RATES))} on validation data), one thread on "
        f"{versions['machine']}, torch {versions['torch']}, HiGHS {versions['highspy']}. Direct search: "
        f"{' and '.join(map(str, GENERATIONS.values()))} generations; one generation counts as one epoch."
    )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition("<!-- measured -->")
    _, _, after = rest.partition("<!-- end -->")
    PAGE.write_text(before + "<!-- measured -->\n\n" + "\n".join(text) + "\n\n<!-- end -->" + after, encoding="utf-8")


if __name__ == "__main__":
    main()
