"""One rank of a small data-parallel training; started several times by ``tests.training.ranks``.

python rank_program.py OUT METHODS EPOCHS [--checkpoint FILE] [--stop STEP RANK] [--p-solve P] [--problem NAME] ...
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import regretless as rl
from regretless.training.interrupt import Interrupted


def digest(values: torch.Tensor) -> str:
    return hashlib.sha256(values.detach().contiguous().numpy().tobytes()).hexdigest()[:16]


def train(method: str, seed: int, given: argparse.Namespace) -> dict[str, Any]:
    loaded = rl.load(given.problem, **json.loads(given.options))
    data = loaded.train
    loss = rl.make_loss(method, loaded.problem, data, seed=seed, **json.loads(given.settings))
    caches: list[str] = []
    compute, steps = loss.loss_and_gradient, 0

    def recorded(*arguments: Any) -> Any:
        nonlocal steps
        steps += 1
        if given.stop and (steps, dist.get_rank()) == tuple(given.stop):
            os.kill(os.getpid(), signal.SIGTERM)
        found = compute(*arguments)
        caches.append(digest(loss.oracle.solutions))
        return found

    if isinstance(loss.oracle, rl.SolutionCache):
        loss.loss_and_gradient = recorded  # type: ignore[method-assign]
    model = loaded.model(seed)
    if dist.get_world_size() > 1:
        model = DistributedDataParallel(model)
    try:
        fitted = rl.fit(
            model, loss, data, epochs=given.epochs, lr=given.lr, batch_size=given.batch_size, seed=seed,
            validation=None if given.test else loaded.validation, checkpoint=given.checkpoint, progress=False,
        )  # fmt: skip
    except Interrupted as stop:
        return {"interrupted": str(stop), "caches": caches}
    weights = torch.cat([parameter.flatten() for parameter in fitted.model.parameters()])
    found = {
        "caches": caches,
        "weights": digest(weights),
        "values": weights.tolist()[:20],
        "history": [{k: v for k, v in row.items() if "seconds" not in k} for row in fitted.history.rows],
        "own_solves": getattr(loaded.problem.statistics.by_purpose.get("growth"), "solves", 0),
        "instances": len(data),
    }
    if isinstance(loss.oracle, rl.SolutionCache):
        used = loss.oracle.statistics
        found |= {"solves": used.solves, "asked": used.asked, "lookups": used.lookups}
    if given.test:
        found["regret"] = rl.evaluate(fitted.model, loaded.test, loaded.problem).regret
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("methods")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--problem", default="synthetic-knapsack-60")
    parser.add_argument("--options", default='{"days": 101}')
    parser.add_argument("--settings", default="{}")
    parser.add_argument("--checkpoint")
    parser.add_argument("--stop", type=int, nargs=2)
    parser.add_argument("--test", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    found = {}
    for method in given.methods.split(","):
        for seed in range(given.seeds):
            found[method if seed == 0 else f"{method} {seed}"] = train(method, seed, given)
    (given.out / f"rank{dist.get_rank()}.json").write_text(json.dumps(found))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
