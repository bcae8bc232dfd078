"""Linear programs on a GPU: batches of the knapsack with 10,000 items and 50 rows, and training with SPO+ on it.

The problem is that of PyEPO's notebook on MPAX: ``pyepo.data.knapsack.genData`` with 10,000 items, 50 rows, capacity
500, 5 features, degree 4, noise 0.5 and seed 42; 1000 training and 1000 test instances, batches of 32, 10 epochs,
Adam with 0.01. There SPO+ reaches a regret of 24.9 % in about 68 s.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import torch
from scipy.optimize import linprog

from measure import line
from regretless import MILP, Dataset, Problem, SolutionCache, SPOPlus, evaluate, fit
from regretless.problems.multi_knapsack import multi_knapsack_data
from regretless.problems.polynomial_costs import Formula

ITEMS, ROWS, CAPACITY, FEATURES = 10_000, 50, 500.0, 5
BATCH, EPOCHS, RATE, EACH = 32, 10, 0.01, 1000
SEEDS = 8
COMPARED = 20


def programs_on_gpu() -> bool:
    """Times of batches, agreement with HiGHS, and training."""
    weights, features, values = multi_knapsack_data(Formula(2 * EACH, FEATURES, 4, 0.5, 42), ITEMS, ROWS)
    model = MILP(weights, row_upper=CAPACITY, integer=False)
    problem = Problem(model, sense="max", engine="batched-lp", device="cuda")
    costs = -torch.as_tensor(values, dtype=torch.float64, device="cuda")
    for batch in (1, 2, 32, 256):
        print(f"{batch} programs with {ITEMS:,} variables and {ROWS} rows: {seconds(problem, costs[:batch]):.4f} s")
    good = line("1,024 such programs, seconds", seconds(problem, costs[:1024]), at_most=0.8)
    good &= compare(problem, weights, costs[:1024])
    start = time.perf_counter()
    data = Dataset.solve(problem, torch.as_tensor(features), torch.as_tensor(values))
    print(f"labels of {len(data):,} instances: {time.perf_counter() - start:.1f} s")
    train, test = split(data)
    taken, regret = trainings("SPO+, every instance solved", problem, train, test, None)
    good &= line("training with SPO+, seconds", taken, at_most=20.0)
    good &= line("its test regret in %", regret, at_most=24.9)
    taken, _ = trainings("SPO+ with a cache, 5 % solved", problem, train, test, 0.05)
    return good & line("training with the cache, seconds", taken, at_most=6.0)


def seconds(problem: Problem, costs: torch.Tensor) -> float:
    """Shortest of five solves."""
    problem(costs)
    found = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        problem(costs)
        torch.cuda.synchronize()
        found.append(time.perf_counter() - start)
    return min(found)


def compare(problem: Problem, weights: np.ndarray, costs: torch.Tensor) -> bool:
    """Largest violation of a row, and the largest relative difference from HiGHS's objectives."""
    found = problem(costs)
    activity = found @ torch.as_tensor(weights, device=found.device).T
    violation = float((activity - CAPACITY).clamp(min=0).max()) / CAPACITY
    objectives = (costs * found).sum(dim=1)[:COMPARED].cpu().numpy()
    limits = np.full(ROWS, CAPACITY)
    rows = [
        linprog(c, A_ub=weights, b_ub=limits, bounds=(0, 1), method="highs").fun for c in costs[:COMPARED].cpu().numpy()
    ]
    worst = float(np.abs(objectives / np.array(rows) - 1).max())
    good = line("largest violation of a row, relative", violation, at_most=1e-6)
    return good & line(f"largest relative difference from HiGHS on {COMPARED}", worst, at_most=1e-6)


def split(data: Dataset) -> tuple[Dataset, Dataset]:
    """Halves by one seeded permutation, as scikit-learn's ``train_test_split(test_size=1000, random_state=42)``."""
    order = np.random.RandomState(42).permutation(len(data))
    return data[torch.as_tensor(order[EACH:])], data[torch.as_tensor(order[:EACH])]


def trainings(name: str, problem: Problem, train: Dataset, test: Dataset, p_solve: float | None) -> tuple[float, float]:
    """Train with several seeds of the weights, the order and the coin; longest time, and mean test regret in %."""
    found = [training(problem, train, test, p_solve, seed) for seed in range(SEEDS)]
    taken, solves, regrets = zip(*found, strict=True)
    counts = " to ".join(f"{count:,}" for count in sorted({min(solves), max(solves)}))
    print(
        f"{name}: {min(taken):.1f} to {max(taken):.1f} s, {counts} solves, test regret "
        f"{min(regrets):.2f} to {max(regrets):.2f} %, mean of {SEEDS} seeds {statistics.mean(regrets):.2f} %"
    )
    return max(taken), statistics.mean(regrets)


def training(
    problem: Problem, train: Dataset, test: Dataset, p_solve: float | None, seed: int
) -> tuple[float, int, float]:
    """Train; return the seconds, the solves, and the test regret in per cent."""
    torch.manual_seed(seed)
    model = torch.nn.Linear(FEATURES, ITEMS).cuda()
    oracle = problem if p_solve is None else SolutionCache(problem, train.solutions, p_solve=p_solve, seed=seed)
    before = problem.statistics.solves
    torch.cuda.synchronize()
    start = time.perf_counter()
    fit(model, SPOPlus(oracle), train, epochs=EPOCHS, lr=RATE, batch_size=BATCH, seed=seed, progress=False)
    torch.cuda.synchronize()
    taken, solves = time.perf_counter() - start, problem.statistics.solves - before
    return taken, solves, 100 * evaluate(model, test, problem).relative_regret
