"""On a GPU: look-up among a million solutions, and losses with the batched knapsack oracle.

python benchmarks/gpu.py      (does nothing without a GPU)
"""

from __future__ import annotations

import statistics
import sys
import time

import torch

from measure import line
from regretless import MAP, NCE, SolutionCache, SPOPlus
from regretless.cache import SolutionStore
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.knapsack.synthetic import knapsack_data

SIZE, WIDTH, BATCH = 1_000_000, 2500, 1024


def milliseconds(job, repeats: int = 9) -> float:
    job()
    torch.cuda.synchronize()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        job()
        torch.cuda.synchronize()
        found.append(1e3 * (time.perf_counter() - start))
    return statistics.median(found)


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
        certified = float(store._half.look_up(costs, len(store))[1].float().mean())
    print(
        f"look-up, |S| = {SIZE:,}, d = {WIDTH}, batch {BATCH}: {time_of_ours:.1f} ms; float32 product and arg-min "
        f"{exact:.1f} ms; half-precision product alone (the bound) {bound:.1f} ms; worst loss {worst:.1e}"
    )
    good = line("look-up in ms", time_of_ours, at_most=20)
    good &= line("look-up, largest loss of objective against float32", worst, at_most=1e-3)
    line("look-up, share of answers that the coarse pass certifies", certified)
    line("look-up over the bound", time_of_ours / bound)
    return good


def losses() -> None:
    device = torch.device("cuda")
    _, values, weights = knapsack_data(1024)
    problem = knapsack_problem(weights, 120)
    true = torch.as_tensor(values, dtype=torch.float32, device=device)
    best = problem(problem.to_minimization(true))
    for name, oracle in (("exact", problem), ("cached", SolutionCache(problem, best.cpu(), p_solve=0.05))):
        for loss in (NCE, MAP, SPOPlus):
            if loss is NCE and name == "exact":
                continue
            predicted = (true + 20 * torch.randn_like(true)).requires_grad_()
            step = loss(oracle)
            print(f"{loss.__name__}, {name}, batch 1024 on the GPU: "
                  f"{milliseconds(lambda s=step, p=predicted: s(p, true, best).backward()):.2f} ms")  # fmt: skip


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("skipped: no GPU is available")
        sys.exit(0)
    print(torch.cuda.get_device_name())
    ok = look_up()
    losses()
    sys.exit(0 if ok else 1)
