"""Diverse matching on Cora: CPU time of the plain HiGHS MILP over that of the special oracle, one thread.

The costs are of the kinds that training solves, in equal parts over the 27 instances: true labels, labels with noise,
predictions of the perceptron before and after some training, and their SPO+ transforms. REGRETLESS_DATA names the
folder of the public files:

python benchmarks/matching_oracle.py [--vectors 100] [--problems matching-10 matching-25 matching-50]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import FileError
from regretless.problems.matching import MatchingOracle, load_matching
from regretless.problems.matching.load import SHARES
from regretless.solvers import EnginePool
from regretless.types import Backend

TARGET = 3.0


def trained(loaded: BenchmarkProblem, epochs: int) -> torch.nn.Module:
    """The model after some epochs of cross entropy, one instance per step."""
    model = loaded.model(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    for _ in range(epochs):
        for k in range(len(loaded.train)):
            part = loaded.train[k : k + 1]
            loss = torch.nn.functional.binary_cross_entropy(model(part.features), part.costs.float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model


def cost_vectors(loaded: BenchmarkProblem, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Minimizing costs and instance ids; the kinds of costs alternate."""
    assert loaded.validation is not None
    parts = (loaded.train, loaded.validation, loaded.test)
    features = torch.cat([part.features for part in parts])
    true = torch.cat([part.costs for part in parts])
    ids = torch.cat([part.instance for part in parts if part.instance is not None])
    noise = torch.randn(true.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    fresh, fitted = (trained(loaded, epochs)(features).detach().double() for epochs in (0, 5))
    kinds = [true, true + 0.3 * noise, fresh, fitted, 2 * fitted - true]
    picked = [(kinds[k % len(kinds)][(k * 5) % 27], ids[(k * 5) % 27]) for k in range(count)]
    return -torch.stack([gain for gain, _ in picked]), torch.stack([instance for _, instance in picked])


def cpu_seconds(backend: Backend, costs: torch.Tensor, ids: torch.Tensor) -> tuple[float, torch.Tensor]:
    """Mean CPU seconds per cost vector, solved one at a time, and the optimal values."""
    start = time.process_time()
    solutions = [backend.solve(costs[k : k + 1], ids[k : k + 1]).solution for k in range(len(costs))]
    seconds = (time.process_time() - start) / len(costs)
    return seconds, (torch.cat(solutions) * costs).sum(dim=1)


def warm_up(backend: Backend, width: int, ids: torch.Tensor) -> None:
    """Build the model of every instance, which is not part of a solve."""
    for i in ids.unique():
        backend.solve(torch.zeros(1, width), i[None])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=int, default=100, help="cost vectors per problem")
    parser.add_argument("--problems", nargs="+", default=list(SHARES))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    missed = 0
    with TemporaryDirectory() as store:
        for name in arguments.problems:
            try:
                loaded = load_matching(name, product=True, store=Path(store))
            except FileError as error:
                print(f"skipped: {error}")
                return 0
            costs, ids = cost_vectors(loaded, arguments.vectors)
            oracle = loaded.problem.backend
            assert isinstance(oracle, MatchingOracle)
            assert loaded.problem.model is not None
            highs = EnginePool(loaded.problem.model, engine="highs")
            for backend in (oracle, highs):
                warm_up(backend, costs.shape[1], ids)
            oracle.by_stage = dict.fromkeys(oracle.by_stage, 0)
            special, ours = cpu_seconds(oracle, costs, ids)
            plain, theirs = cpu_seconds(highs, costs, ids)
            worst = float(((ours - theirs).abs() / theirs.abs().clamp(min=1.0)).max())
            missed += plain / special < TARGET or worst > 1e-9
            stages = ", ".join(f"{stage} {count}" for stage, count in oracle.by_stage.items())
            print(
                f"{name}: HiGHS {1e3 * plain:.1f} ms, oracle {1e3 * special:.2f} ms ({stages}), "
                f"ratio {plain / special:.1f} (at least {TARGET:.0f}), "
                f"values differ by {worst:.0e} at most, {len(costs)} vectors",
                flush=True,
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
