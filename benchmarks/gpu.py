"""On a GPU: look-up among a million solutions, training steps, thousands of runs, batches of linear programs.

python benchmarks/gpu.py [look-up] [steps] [searches] [programs]      (all by default; does nothing without a GPU)
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

import torch

from gpu_programs import programs_on_gpu
from gpu_searches import searches_on_gpu
from measure import line
from regretless import MAP, NCE, SolutionCache, SPOPlus
from regretless.cache import Bernoulli, SolutionStore
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.knapsack.synthetic import knapsack_data

SIZE, WIDTH, BATCH, STEPS = 1_000_000, 2500, 1024, 400


def milliseconds(job, repeats: int = 9, warm_up: int = 1) -> float:
    for _ in range(warm_up):
        job()
    torch.cuda.synchronize()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        torch.cuda.synchronize()
        found.append(1e3 * (time.perf_counter() - start))
    return statistics.median(found)


def in_turns(jobs: dict[str, Callable[[], object]], rounds: int = 20, calls: int = 20) -> dict[str, float]:
    """Median milliseconds of each job. They take turns of some calls: a machine is slow for seconds at a time."""
    for job in jobs.values():
        milliseconds(job, 1, 100)
    found: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            found[name].append(milliseconds(job, calls))
    return {name: statistics.median(values) for name, values in found.items()}


def look_up() -> bool:
    device = torch.device("cuda")
    generator = torch.Generator(device).manual_seed(0)
    store = SolutionStore(WIDTH)
    store.to(device)
    for _ in range(SIZE // 50_000):
        store.add((torch.rand(50_000, WIDTH, generator=generator, device=device) < 0.1).float())
    costs = torch.randn(BATCH, WIDTH, generator=generator, device=device)
    rows = store.rows

    def plain() -> torch.Tensor:
        return torch.cat([(part @ rows.T).argmin(dim=1) for part in costs.split(256)])

    with torch.no_grad():
        reference = plain()
        found = store.look_up(costs)
        # Ties may be broken differently, so objectives are compared, not positions.
        ours = (costs.double() * store.take(found).double()).sum(dim=1)
        theirs = (costs.double() * store.take(reference).double()).sum(dim=1)
        worst = float((ours - theirs).max())
        exact = milliseconds(plain)
        time_of_ours = milliseconds(lambda: store.look_up(costs))
        aligned = torch.nn.functional.pad(rows[: SIZE // 8], (0, -WIDTH % 64)).half()
        there = torch.nn.functional.pad(costs, (0, -WIDTH % 64)).half().T.contiguous()
        bound = 8 * milliseconds(lambda: aligned @ there)
        certified = float(store._lookup._half.look_up(costs, len(store))[1].float().mean())
    print(
        f"look-up, |S| = {SIZE:,}, d = {WIDTH}, batch {BATCH}: {time_of_ours:.1f} ms; float32 product and arg-min "
        f"{exact:.1f} ms; half-precision product alone (the bound) {bound:.1f} ms; worst loss {worst:.1e}"
    )
    good = line("look-up in ms", time_of_ours, at_most=20)
    good &= line("look-up, largest loss of objective against float32", worst, at_most=1e-3)
    line("look-up, share of answers that the coarse pass certifies", certified)
    line("look-up over the bound", time_of_ours / bound)
    return good


def steps() -> bool:
    """Loss and gradient of a batch of 1024, as ``fit`` computes them, and through autograd."""
    device = torch.device("cuda")
    _, values, weights = knapsack_data(1024)
    problem = knapsack_problem(weights, 120)
    true = torch.as_tensor(values, dtype=torch.float32, device=device)
    best = problem(problem.to_minimization(true))
    jobs: dict[str, Callable[[], object]] = {}
    for name, oracle in (("exact", problem), ("cached", SolutionCache(problem, best.cpu(), p_solve=0.05))):
        for loss in (MAP, SPOPlus) if name == "exact" else (NCE, MAP, SPOPlus):
            predicted, step = (true + 20 * torch.randn_like(true)).requires_grad_(), loss(oracle)
            given, title = predicted.detach(), f"{loss.__name__}, {name}, batch 1024"
            jobs[title] = lambda s=step, p=given: s.loss_and_gradient(p, true, best)
            jobs[f"    {title}, through autograd"] = lambda s=step, p=predicted: s(p, true, best).backward()
    good = True
    for title, taken in in_turns(jobs).items():
        good &= line(f"{title}, ms", taken, at_most=0.6 if title == "MAP, cached, batch 1024" else None)
    # One coin per batch: few steps solve, all of their instances at once. So the mean counts, not the median.
    step = MAP(SolutionCache(problem, best.cpu(), policy=Bernoulli(0.05, per="batch")))
    given = [true + 20 * torch.randn_like(true) for _ in range(STEPS)]

    def many() -> None:
        for predicted in given:
            step.loss_and_gradient(predicted, true, best)

    line("MAP, cached, one coin per batch, batch 1024, mean ms", milliseconds(many, repeats=1) / STEPS)
    return good


PARTS = {"look-up": look_up, "steps": steps, "searches": searches_on_gpu, "programs": programs_on_gpu}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in chosen if name not in PARTS]:
        sys.exit(f"parts are {', '.join(PARTS)}; got {unknown[0]}")
    if not torch.cuda.is_available():
        print("skipped: no GPU is available")
        sys.exit(0)
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    results = [PARTS[name]() for name in chosen]
    sys.exit(0 if all(results) else 1)
