"""Value and gradient of every loss beside PyEPO's, at the same costs and the same noise.

python benchmarks/peers/same_gradients.py

PyEPO runs in its own environment (``PEERS_PYTHON``, by default ``.venv-peers``). Both sides compute in double precision
on the shortest path (5 by 5); losses without noise also on a knapsack, which is maximized.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
PEER = Path(os.environ.get("PEERS_PYTHON", ROOT / ".venv-peers" / "bin" / "python"))
Arrays = dict[str, np.ndarray]
BATCH, SEED = 16, 135  # PyEPO's seed of the noise

# PyEPO's class, its settings, its task loss (of the sum over the batch), our class, our settings.
REGRET, CONVERGED = "regret", {"tolerance": 1e-8, "max_iterations": 2000}
CASES: dict[str, tuple[str, dict[str, Any], str | None, str, dict[str, Any]]] = {
    "SPO+": ("SPOPlus", {}, None, "SPOPlus", {}),
    "PG": ("perturbationGradient", {"sigma": 0.3}, None, "PerturbationGradient", {"width": 0.3}),
    "PG central": (
        "perturbationGradient", {"sigma": 0.3, "two_sides": True}, None,
        "PerturbationGradient", {"width": 0.3, "central": True},
    ),
    "DBB": ("blackboxOpt", {"lambd": 2.0}, REGRET, "Blackbox", {"lambda_": 2.0}),
    "NID regret": ("negativeIdentity", {}, REGRET, "NegativeIdentity", {"task": REGRET}),
    "NID squared": ("negativeIdentity", {}, "squared", "NegativeIdentity", {"task": "squared"}),
    "DPO": ("perturbedOpt", {}, "squared", "PerturbedOptimizer", {}),
    "DPO multiplicative": (
        "perturbedOptMul", {"sigma": 0.5}, REGRET, "PerturbedOptimizer",
        {"sigma": 0.5, "task": REGRET, "noise": "multiplicative"},
    ),
    "PFY": ("perturbedFenchelYoung", {}, None, "PerturbedFenchelYoung", {}),
    "PFY multiplicative": (
        "perturbedFenchelYoungMul", {"sigma": 0.5}, None, "PerturbedFenchelYoung",
        {"sigma": 0.5, "noise": "multiplicative"},
    ),
    "I-MLE": ("implicitMLE", {}, "absolute", "ImplicitMLE", {}),
    "I-MLE central": ("implicitMLE", {"two_sides": True}, "absolute", "ImplicitMLE", {"central": True}),
    "AI-MLE": ("adaptiveImplicitMLE", {}, "squared", "AdaptiveImplicitMLE", {"task": "squared"}),
    "RFY": (
        "regularizedFrankWolfeFenchelYoung", {"tol": 1e-8, "max_iter": 2000}, None,
        "RegularizedFenchelYoung", CONVERGED,
    ),
    "RFWO": (
        "regularizedFrankWolfeOpt", {"tol": 1e-8, "max_iter": 2000}, "squared", "RegularizedOptimizer", CONVERGED,
    ),
    "NCE": ("noiseContrastiveEstimation", {"solve_ratio": 0.0}, None, "NCE", {}),
    "CMAP": ("contrastiveMAP", {"solve_ratio": 0.0}, None, "MAP", {"cost": "c_hat"}),
    "pointwise": ("pointwiseLearningToRank", {"solve_ratio": 0.0}, None, "Pointwise", {}),
    "listwise": (
        "listwiseLearningToRank", {"solve_ratio": 0.0}, None, "Listwise", {"temperature": 1.0, "scale": "fixed"},
    ),
    "CaVE exact": ("coneAlignedCosine", {"max_iter": 200}, None, "ConeAlignment", {"inner": 0.0}),
}  # fmt: skip
CACHED = ("NCE", "CMAP", "pointwise", "listwise")
NOISY = ("DPO", "PFY", "I-MLE", "AI-MLE")
TOLERANCE = {"RFY": 1e-3, "RFWO": 1e-3, "CaVE exact": 1e-4}  # iterative methods inside
PROBLEMS = ("path", "knapsack")


def cases(problem: str) -> list[str]:
    """Losses that are compared on a problem."""
    if problem == "path":
        return list(CASES)
    return [name for name in CASES if not name.startswith(NOISY) and name not in ("RFWO", "CaVE exact")]


def theirs(folder: Path) -> None:
    """Write PyEPO's values and gradients; runs in the peers' environment."""
    import torch
    from losses_pyepo import ListedPaths, _Instances
    from pyepo import EPO, func
    from pyepo.data.dataset import optDatasetConstrs
    from pyepo.model.grb import shortestPathModel

    for problem in PROBLEMS:
        given = dict(np.load(folder / f"{problem}.npz"))
        model = ListedPaths(given["points"])
        if problem == "knapsack":
            model.modelSense, model.solve = EPO.MAXIMIZE, lambda m=model: best_of(m)
        data = _Instances(model, given)
        data.costs, data.sols, data.objs = data.costs.double(), data.sols.double(), data.objs.double()
        found: Arrays = {}
        for name in cases(problem):
            kind, settings, task, _, _ = CASES[name]
            more = {"dataset": data} if name in CACHED else {}
            loss = getattr(func, kind)(model, **more, **settings)
            leaf = torch.tensor(given["predicted"], requires_grad=True)
            c, w, z = (torch.tensor(given[key]) for key in ("costs", "solutions", "objectives"))
            if name == "CaVE exact":
                tight = optDatasetConstrs(shortestPathModel((5, 5)), given["features"], given["costs"]).ctrs
                value = loss(leaf, torch.nn.utils.rnn.pad_sequence(tight, batch_first=True)) * len(leaf)
            elif task is not None:
                answer = loss(leaf)
                error = answer - w
                sizes = {"regret": (error * c).sum(1).abs(), "squared": error.square().mean(1)}
                value = (sizes | {"absolute": error.abs().mean(1)})[task].sum()
            elif kind == "SPOPlus":
                value = loss(leaf, c, w, z) * len(leaf)
            else:
                needs_costs = kind == "perturbationGradient" or kind.endswith("ToRank")
                value = loss(leaf, c if needs_costs else w) * len(leaf)
            value.backward()
            found[f"{name} value"], found[f"{name} gradient"] = value.detach().numpy(), leaf.grad.numpy()
        np.savez(folder / f"{problem}-pyepo.npz", **found)


def best_of(model: Any) -> tuple[np.ndarray, float]:
    """The listed solution of largest objective."""
    values = model.paths @ model.costs
    best = int(values.argmax())
    return model.paths[best], float(values[best])


def problems() -> dict[str, tuple[Any, Arrays]]:
    """Our problems with data, and what PyEPO needs of them."""
    import torch
    from compare_losses import all_paths, cell_of

    from regretless import Dataset
    from regretless.problems.knapsack.oracle import knapsack_problem

    loaded = cell_of(4, BATCH, 0)
    weights = np.random.default_rng(0).integers(3, 8, 8).astype(float)
    items = np.array(np.meshgrid(*[[0.0, 1.0]] * 8)).reshape(8, -1).T
    knapsack = knapsack_problem(weights, 20)
    values = torch.rand(BATCH, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    data = {"path": (loaded.problem, loaded.train), "knapsack": (knapsack, Dataset.solve(knapsack, values, values))}
    points = {"path": all_paths(), "knapsack": items[items @ weights <= 20.0]}
    found = {}
    for name, (problem, train) in data.items():
        noise = torch.rand(train.costs.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
        arrays = {"features": train.features, "costs": train.costs, "solutions": train.solutions}
        arrays |= {
            "predicted": train.costs * (0.5 + noise),
            "objectives": (train.costs * train.solutions).sum(1)[:, None],
        }
        found[name] = (problem, {key: array.numpy() for key, array in arrays.items()} | {"points": points[name]})
    return found


def compare(folder: Path) -> bool:
    """Print one line per loss; say whether all agree."""
    import torch

    import regretless as rl

    good = True
    print(f"{'problem':10} {'loss':20} {'value':>12} {'of PyEPO':>12} {'largest difference of gradients':>32}")
    for name, (_, given) in problems().items():
        np.savez(folder / f"{name}.npz", **given)
    subprocess.run([str(PEER), __file__, str(folder)], check=True, stdout=subprocess.DEVNULL)
    for name, (problem, given) in problems().items():
        other = dict(np.load(folder / f"{name}-pyepo.npz"))
        tensors = {key: torch.as_tensor(array) for key, array in given.items()}
        for case in cases(name):
            _, _, _, kind, settings = CASES[case]
            seed = {"seed": SEED} if case.startswith(NOISY) else {}
            oracle: Any = problem
            if case in CACHED:
                oracle = rl.SolutionCache(problem, tensors["solutions"], p_solve=0.0, dtype=torch.float64)
            loss = getattr(rl, kind)(oracle, reduction="sum", **seed, **settings)
            value, gradient = loss.loss_and_gradient(*(tensors[key] for key in ("predicted", "costs", "solutions")))
            expected = other[f"{case} gradient"]
            difference = float(np.abs(gradient.numpy() - expected).max() / max(np.abs(expected).max(), 1e-12))
            agrees = difference <= TOLERANCE.get(case, 1e-6) and np.abs(expected).max() > 0
            good &= bool(agrees)
            word = "" if agrees else "  DIFFER"
            its = float(other[f"{case} value"])
            print(f"{name:10} {case:20} {float(value):12.6f} {its:12.6f} {difference:32.1e}{word}")
    return good


def main() -> int:
    if len(sys.argv) > 1:
        theirs(Path(sys.argv[1]))
        return 0
    if not PEER.exists():
        print(f"{PEER} is missing: run `make bench-peers`, which makes it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        return 0 if compare(Path(folder)) else 1


if __name__ == "__main__":
    sys.exit(main())
