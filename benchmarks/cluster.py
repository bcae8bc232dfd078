"""Ray against threads, on two local nodes with one CPU each: throughput, overhead, and small batches.

python benchmarks/cluster.py              (needs Ray, the public data, and an idle machine with two cores; 5 minutes)
python benchmarks/cluster.py --days 48    (a shorter look)
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import logging
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

import regretless as rl
from measure import line
from regretless.errors import FileError
from regretless.problems import irish_market
from regretless.problems.energy import formulate
from regretless.problems.energy.load import energy_instance
from regretless.problems.settings import shared_linear
from regretless.solvers.executors import Execution

JOBS, REPEATS = 32, 9


class Spin:
    """A solve that takes a known time and uses its CPU all the while."""

    def __call__(self, seconds: float, clock: Callable[[], None]) -> float:
        clock()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass
        return seconds


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--days", type=int, default=552, help="training days of energy-1")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if importlib.util.find_spec("ray") is None:
        print("skipped: Ray is not installed")
        return 0
    cluster = two_nodes()
    address = f"ray:{cluster.address}"
    try:
        good = overhead(address)
        good &= energy(address, given.days)
    finally:
        import ray

        ray.shutdown()
        cluster.shutdown()
    return 0 if good else 1


def two_nodes() -> Any:
    """Start two Ray nodes on this machine and connect to them."""
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)
    cluster.add_node(**node)
    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    return cluster


def overhead(address: str) -> bool:
    """Batches of 32 solves of known length."""
    actors: Execution[float, float] = Execution(address, Spin(), workers=2, limit=None)
    threads: Execution[float, float] = Execution("threads", Spin(), workers=2, limit=None)
    for seconds in (0.01, 0.01, 0.001):
        actors.map([seconds] * JOBS)
    one = [median(lambda s=seconds: actors.map([s] * JOBS)) for seconds in (0.001, 0.01, 0.1)]
    for seconds, found in zip((0.001, 0.01, 0.1), one, strict=True):
        ideal = JOBS * seconds / 2
        print(f"{JOBS} solves of {1e3 * seconds:g} ms over two actors: {1e3 * found:.1f} ms (ideal {1e3 * ideal:g} ms)")
    good = line(f"{JOBS} solves of 10 ms over two actors, milliseconds", 1e3 * one[1], at_most=175)
    for _ in range(20):  # the executor learns that solves have become short
        actors.map([0.00005] * JOBS)
    short = {"actors": [], "threads": []}
    for _ in range(20 * REPEATS):  # in turns, so that load affects both alike
        for name, executor in (("actors", actors), ("threads", threads)):
            start = time.perf_counter()
            executor.map([0.00005] * JOBS)
            short[name].append(time.perf_counter() - start)
    ratio = statistics.median(short["actors"]) / statistics.median(short["threads"])
    return line(f"{JOBS} solves of 0.05 ms, time over that of threads", ratio, at_most=1.2) and good


def median(call: Callable[[], object]) -> float:
    """Median wall seconds of a call."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def energy(address: str, days: int) -> bool:
    """Labels and one epoch of SPO+ on energy-1 by HiGHS: one worker, and two nodes."""
    try:
        features, prices = irish_market.energy_data()
        model = formulate(energy_instance("energy-1"))
    except FileError as error:
        print(f"skipped: {error}")
        return True
    train, _, _ = irish_market.split_days("paper", seed=0)
    features, prices = irish_market.standardize(features)[train[:days]], prices[train[:days]]
    seconds, weights = {}, {}
    for name, how in (("one worker", {}), ("two nodes", {"workers": 2, "executor": address})):
        problem = rl.Problem(model, sense="min", name="energy-1", **how)
        problem.solve(prices[:2])  # engines and actors are ready
        start = time.perf_counter()
        data = rl.Dataset.solve(problem, features, prices, progress=False)
        labels = time.perf_counter() - start
        net = shared_linear(features.shape[-1])(0)
        rl.fit(net, rl.SPOPlus(problem), data, epochs=1, batch_size=24, progress=False)
        seconds[name] = time.perf_counter() - start
        weights[name] = digest(net)
        print(f"energy-1, {len(data)} days, {name}: {labels:.1f} s labels, {seconds[name] - labels:.1f} s epoch")
        del problem
    good = line("throughput of two nodes over one worker, energy-1", seconds["one worker"] / seconds["two nodes"],
                at_least=1.8)  # fmt: skip
    same = len(set(weights.values())) == 1
    print(f"weights after the epoch: {'the same bits' if same else 'DIFFERENT'}")
    return good and same


def digest(model: torch.nn.Module) -> str:
    flat = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    return hashlib.sha256(flat.numpy().tobytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
