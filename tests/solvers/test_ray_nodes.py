"""The loss of a node in the middle of training and of a grid, on two local nodes of Ray."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import regretless as rl
from regretless.runs import Spec
from regretless.runs.run_folder import run_path
from regretless.runs.worker_pool import do_runs
from regretless.storage import read_json

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray", reason="Ray is not installed")
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args=node)
    made.second = made.add_node(**node)
    ray.init(address=made.address, log_to_driver=False)
    try:
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def cheapest(costs: np.ndarray) -> np.ndarray:
    time.sleep(0.02)
    return costs == costs.min()


def trained(**how: Any) -> torch.Tensor:
    problem = rl.Problem(oracle=cheapest, dimension=4, **how)
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(120, 3, generator=generator)
    costs = features @ torch.randn(3, 4, generator=generator) + 3.0
    data = rl.Dataset.solve(problem, features, costs, progress=False)
    torch.manual_seed(0)
    model = nn.Linear(3, 4)
    rl.fit(model, rl.SPOPlus(problem), data, epochs=4, batch_size=24, progress=False)
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_training_survives_the_loss_of_a_node_with_the_same_bits(cluster: Any) -> None:
    expected = trained()
    killer = threading.Timer(25.0, cluster.remove_node, (cluster.second,), {"allow_graceful": False})
    killer.start()
    found = trained(workers=2, executor=f"ray:{cluster.address}")
    while killer.is_alive():  # until the node was lost in the middle of a training
        found = trained(workers=2, executor=f"ray:{cluster.address}")
        assert torch.equal(found, expected)
    assert torch.equal(found, expected)


def test_a_grid_survives_the_loss_of_a_node(cluster: Any, tmp_path: Path) -> None:
    specs = [Spec("synthetic-knapsack-60", "spo", seed=seed, epochs=300, options={"days": 40}) for seed in range(8)]
    done: list[int] = []

    def report(one: Spec | None, answer: dict[str, Any]) -> None:
        if one is not None:
            assert answer["status"] == "done"
            done.append(one.seed)
            if len(done) == 2:
                cluster.remove_node(cluster.second, allow_graceful=False)

    do_runs(specs, tmp_path, workers=2, executor=f"ray:{cluster.address}", report=report)
    assert sorted(done) == list(range(8))  # no run is lost, and none is done twice
    here = tmp_path / "here"
    do_runs(specs[-1:], here, workers=1, report=lambda one, answer: None)
    regrets = [read_json(run_path(folder, specs[-1]) / "metrics.json")["regret"] for folder in (tmp_path, here)]
    assert regrets[0] == regrets[1]
