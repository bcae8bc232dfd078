"""Our side of the comparison: one job, one line of figures. Runs in the library's own environment.

python benchmarks/peers/ours.py JOB        a job in JSON, see cells.py; compare.py writes them
"""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np
import torch
from cells import BATCH_SIZE, POOL, ROWS, WIDTH, Clock, Job, answer, read_job

from regretless import Batches, Dataset, LeanAdam, Problem, SolutionCache, fit, make_loss, make_step
from regretless.losses import NCE, Loss
from regretless.paper.training_defaults import training_defaults
from regretless.problems import load
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.settings import SharedLinear, seeded
from regretless.training import Callback
from regretless.training.callbacks import TrainingState

# Our names. If every instance is solved, SPO+ and Blackbox need no cache, and PyEPO keeps none either.
EXACT = {"nce": "nce-c", "map": "map-c", "spo": "spo", "blackbox": "blackbox"}
CACHED = {"nce": "nce-c", "map": "map-c", "spo": "spo-cache", "blackbox": "blackbox-cache"}


def export(name: str, path: Path, *, seeds: int, epochs: int) -> None:
    """Write the arrays that both sides read: data, initial weights, order of the days, learning rates."""
    loaded = load(name)
    train, test = loaded.train, loaded.test
    oracle = loaded.problem.backend
    arrays = {
        "features": train.features.numpy().astype(np.float32),
        "costs": train.costs.numpy(),
        "solutions": train.solutions.numpy(),
        "test_features": test.features.numpy().astype(np.float32),
        "test_costs": test.costs.numpy(),
        "test_solutions": test.solutions.numpy(),
        "weights": oracle.weights,
        "capacity": np.array([int(name.rpartition("-")[2])]),
    }
    for seed in range(seeds):
        model = loaded.model(seed)
        arrays[f"first_weight_{seed}"] = model.linear.weight.detach().numpy()
        arrays[f"first_bias_{seed}"] = model.linear.bias.detach().numpy()
        arrays[f"orders_{seed}"] = orders(len(train), epochs, seed)
    for method in EXACT:
        settings = training_defaults(name, CACHED[method])
        arrays[f"lr_{method}"] = np.array(settings["lr"])
    arrays["lambda"] = np.array(training_defaults(name, "blackbox-cache")["settings"].get("lambda_", 1.0))
    np.savez(path, **arrays)


def orders(days: int, epochs: int, seed: int) -> np.ndarray:
    """The order of the days in every epoch, ``(epochs, days)``, as ``fit`` draws it from a seed."""
    generator = torch.Generator().manual_seed(seed)
    return np.stack([torch.randperm(days, generator=generator).numpy() for _ in range(epochs)])


def run(job: Job, method: str) -> None:
    with job.turn():
        data = np.load(job.data)
        problem = knapsack_problem(data["weights"], int(data["capacity"][0]))
        part = (torch.from_numpy(data[name]) for name in ("features", "costs", "solutions"))
        train = Dataset(*part)
        trained(job, method, data, problem, train, 2, Clock())  # warm-up: what torch does once per process is not timed
    with job.turn():
        before, clock = problem.statistics.solves, Clock(job)
        model, loss = trained(job, method, data, problem, train, job.epochs, clock)
        answer(
            method=method,
            wall=clock.wall / job.epochs,
            cpu=clock.cpu / job.epochs,
            solves=(problem.statistics.solves - before) / job.epochs,
            pool=len(loss.oracle) if isinstance(loss.oracle, SolutionCache) else None,
            weight=model.linear.weight.flatten().tolist(),
            bias=model.linear.bias.tolist(),
        )


def trained(
    job: Job, method: str, data: Any, problem: Problem, train: Dataset, epochs: int, clock: Clock
) -> tuple[SharedLinear, Loss]:
    """Train a new model as the job says; the clock runs only meanwhile."""
    model = seeded(lambda: SharedLinear(train.features.shape[-1]), 0)
    model.load_state_dict(
        {f"linear.{name}": torch.from_numpy(data[f"first_{name}_{job.seed}"]) for name in ("weight", "bias")}
    )
    loss = make_loss(**_settings(job, method, problem, train, float(data["lambda"])))
    lr = float(data[f"lr_{method}"])
    with clock:
        if job.loop == "torch":
            torch_loop(model, loss, train, data[f"orders_{job.seed}"][:epochs], lr, clock)
        elif job.loop == "backward":
            backward_loop(model, loss, train, job.seed, epochs, lr, clock)
        elif job.loop == "steps":
            steps_loop(model, loss, train, job.seed, epochs, lr, clock)
        else:
            settings = {"epochs": epochs, "lr": lr, "seed": job.seed, "progress": False}
            fit(model, loss, train, batch_size=BATCH_SIZE, callbacks=[Turns(clock)], **settings)
    return model, loss


class Turns(Callback):
    """After some epochs of ``fit``, let the other sides take their turns."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def on_epoch(self, state: TrainingState) -> None:
        self.clock.epoch_done()


def steps_loop(
    model: SharedLinear, loss: Loss, train: Dataset, seed: int, epochs: int, lr: float, clock: Clock
) -> None:
    """Train in a loop of one's own with the batches and steps of ``fit`` (``docs/coming_from_pyepo.md``)."""
    batches, step = Batches(train, model, batch_size=BATCH_SIZE, seed=seed), make_step(model, lr=lr)
    for _ in range(epochs):
        for batch in batches:
            predicted = step.predict(batch.features)
            _, gradient = loss.loss_and_gradient(predicted, *batch[1:])
            step.update(predicted, gradient)
        clock.epoch_done()


def backward_loop(
    model: SharedLinear, loss: Loss, train: Dataset, seed: int, epochs: int, lr: float, clock: Clock
) -> None:
    """Train in a loop of one's own with ``backward()`` (``docs/coming_from_pyepo.md``)."""
    batches, optimizer = Batches(train, model, batch_size=BATCH_SIZE, seed=seed), LeanAdam(model.parameters(), lr=lr)
    for _ in range(epochs):
        for batch in batches:
            value = loss(model(batch.features), *batch[1:])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        clock.epoch_done()


def torch_loop(model: SharedLinear, loss: Loss, train: Dataset, orders: np.ndarray, lr: float, clock: Clock) -> None:
    """Train in a loop of torch with our loss: torch's indices, torch's Adam, fused as on PyEPO's side."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, fused=True)
    for order in torch.from_numpy(orders):
        for batch in order.split(BATCH_SIZE):
            value = loss(model(train.features[batch]), train.costs[batch], train.solutions[batch])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        clock.epoch_done()


def _settings(job: Job, method: str, problem: Problem, train: Dataset, lambda_: float) -> dict[str, object]:
    name = (EXACT if job.p_solve == 1.0 else CACHED)[method]
    settings: dict[str, object] = {"name": name, "problem": problem, "train": train, "seed": job.seed}
    if method == "blackbox":
        settings["lambda_"] = lambda_
    if name in CACHED.values():
        # PyEPO solves at the cost of the look-up and uses that solution.
        settings |= {"p_solve": job.p_solve, "grow_at": "transformed", "policy": job.backend or "coin"}
    return settings


def scale() -> None:
    """Insertion of 32 new solutions into a large cache, and the NCE loss with its gradient there."""
    generator = np.random.default_rng(0)
    cache = SolutionCache(Problem(oracle=lambda costs: costs, dimension=WIDTH, sense="max"), p_solve=0.0)
    while len(cache) < POOL:
        cache.add(_rows(generator, min(1_000, POOL - len(cache))))
    predicted = torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(0)).requires_grad_()
    solution, true = _rows(generator, ROWS), torch.zeros(ROWS, WIDTH)
    loss = NCE(cache)
    clocks: dict[str, list[Clock]] = {"insert": [], "nce": []}
    for _ in range(20):
        fresh = _rows(generator, ROWS)
        with Clock() as clock:
            cache.add(fresh)
        clocks["insert"].append(clock)
        predicted.grad = None
        with Clock() as clock:
            loss(predicted, true, solution).backward()
        clocks["nce"].append(clock)
    assert len(cache) == POOL + 20 * ROWS
    timed = {
        f"{name}_{kind}": statistics.median(getattr(clock, kind) for clock in taken)
        for name, taken in clocks.items()
        for kind in ("wall", "cpu")
    }
    answer(**timed, pool=len(cache))


def _rows(generator: np.random.Generator, count: int) -> torch.Tensor:
    return torch.from_numpy((generator.random((count, WIDTH)) < 0.5).astype(np.float32))


if __name__ == "__main__":
    torch.set_num_threads(1)
    given = read_job()
    if given is None:
        scale()
    else:
        for name in given.methods:
            run(given, name)
