"""PyEPO's side of the comparison: one job, one line of figures. Runs in its own environment, without regretless.

.venv-peers/bin/python benchmarks/peers/pyepo_peer.py JOB        a job in JSON, see cells.py; compare.py writes them

The code follows PyEPO's documentation, with the faster variant where there are two: PyEPO's own losses and predefined
knapsack model with one row, in one process with one thread. Two things are added: a counter of the solver calls, and a
seed for the coin, for which PyEPO has no argument. Their cost is negligible.
"""

from __future__ import annotations

import logging
import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from cells import BATCH_SIZE, POOL, ROWS, WIDTH, Clock, Job, answer, read_job
from pyepo.data.dataset import optDataset
from pyepo.func import NCE, SPOPlus, blackboxOpt, contrastiveMAP
from pyepo.func.utils import _update_solution_pool
from pyepo.model.predefined import knapsackModel
from torch import Tensor, nn
from torch.utils.data import DataLoader, Sampler

Batch = tuple[Tensor, Tensor, Tensor, Tensor]


class Model(nn.Module):
    """The same model as ours: one linear layer shared by the slots, written in the faster of two ways."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray) -> None:
        super().__init__()
        self.weight, self.bias = (nn.Parameter(torch.from_numpy(part.copy())) for part in (weight[0], bias))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight + self.bias


class Order(Sampler[int]):
    """The given order of the days for each epoch in turn."""

    def __init__(self, orders: np.ndarray) -> None:
        self.orders, self.epoch = orders, 0

    def __iter__(self) -> Iterator[int]:
        self.epoch += 1
        return iter(self.orders[self.epoch - 1].tolist())

    def __len__(self) -> int:
        return self.orders.shape[1]


def make_model(weights: np.ndarray, capacity: np.ndarray, backend: str) -> tuple[Any, list[int]]:
    """PyEPO's knapsack model, and a counter of its solves."""
    model = knapsackModel(weights[None].astype(np.float64), capacity.astype(np.float64), backend=backend)
    if backend == "gurobi":
        model._model.Params.Threads = 1
    count, solve = [0], model.solve

    def counted() -> Any:
        count[0] += 1
        return solve()

    model.solve = counted
    return model, count


def make_loss(
    method: str, p_solve: float, model: Any, data: optDataset, lambda_: float
) -> tuple[nn.Module, Callable[..., Tensor]]:
    """The module that holds the pool, and ``loss(predicted, true, solution, objective)``."""
    settings = {"processes": 1, "solve_ratio": p_solve, "dataset": data}
    if method == "spo":
        spo = SPOPlus(model, **settings)
        return spo, spo
    if method == "blackbox":
        # PyEPO interpolates the gradient of the mean over the batch, so its width is smaller by the batch size.
        solver = blackboxOpt(model, lambd=lambda_ * BATCH_SIZE, **settings)
        return solver, lambda cp, c, w, z: (z.squeeze(1) - (c * solver(cp)).sum(dim=1)).mean()
    contrastive = (NCE if method == "nce" else contrastiveMAP)(model, **settings)
    return contrastive, lambda cp, c, w, z: contrastive(cp, w)


def sliced(data: optDataset, orders: np.ndarray) -> Iterator[Iterable[Batch]]:
    """Batches of every epoch as slices of tensors that are reordered once per epoch, as in ``fit``."""
    for order in torch.from_numpy(orders):
        parts = [part[order] for part in (data.feats, data.costs, data.sols, data.objs)]
        yield zip(*(part.split(BATCH_SIZE) for part in parts), strict=True)


def run(job: Job, method: str) -> None:
    with job.turn():
        arrays = np.load(job.data)
        model, count = make_model(arrays["weights"], arrays["capacity"], job.backend)
        data = optDataset(model, arrays["features"], arrays["costs"])
        ours = torch.from_numpy((arrays["costs"] * arrays["solutions"]).sum(axis=1, keepdims=True)).float()
        same = float((data.objs - ours).abs().max() / ours.abs().max())
        assert same < 1e-5, f"the true optima of the two sides differ by {same:.1e}: they do not solve the same problem"
        trained(job, method, arrays, model, data, 2, Clock())
    with job.turn():
        count[0], clock = 0, Clock(job)
        predictor, module = trained(job, method, arrays, model, data, job.epochs, clock)
        answer(
            method=method,
            wall=clock.wall / job.epochs,
            cpu=clock.cpu / job.epochs,
            solves=count[0] / job.epochs,
            pool=None if module.solpool is None else len(module.solpool),
            weight=predictor.weight.tolist(),
            bias=predictor.bias.tolist(),
        )


def trained(
    job: Job, method: str, arrays: Any, model: Any, data: optDataset, epochs: int, clock: Clock
) -> tuple[Model, nn.Module]:
    """Train a new model as the job says; the clock runs only meanwhile."""
    predictor = Model(arrays[f"first_weight_{job.seed}"], arrays[f"first_bias_{job.seed}"])
    module, loss_of = make_loss(method, job.p_solve, model, data, float(arrays["lambda"]))
    module._branch_rng = np.random.RandomState(job.seed)
    # Fused, as in our fit: the optimizer is not part of the comparison.
    optimizer = torch.optim.Adam(predictor.parameters(), lr=float(arrays[f"lr_{method}"]), fused=True)
    orders = arrays[f"orders_{job.seed}"][:epochs]
    loader = DataLoader(data, batch_size=BATCH_SIZE, sampler=Order(orders))
    with clock:
        for batches in (loader for _ in orders) if job.loop == "loader" else sliced(data, orders):
            for x, c, w, z in batches:
                loss = loss_of(predictor(x), c, w, z)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            clock.epoch_done()
    return predictor, module


def scale() -> None:
    """Insertion of 32 new solutions into a large pool, and the NCE loss with its gradient there."""
    generator = np.random.default_rng(0)
    model, _ = make_model(np.full(WIDTH, 3.0), np.array([WIDTH]), "ortools")
    data = optDataset(model, np.zeros((2, 1), dtype=np.float32), generator.random((2, WIDTH)))
    loss = NCE(model, solve_ratio=0.0, dataset=data)
    pool = torch.cat([_rows(generator, 1_000) for _ in range(POOL // 1_000)])
    predicted = torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(0)).requires_grad_()
    solution = _rows(generator, ROWS)
    clocks: dict[str, list[Clock]] = {"insert": [], "nce": []}
    for _ in range(3):
        fresh = _rows(generator, ROWS)
        with Clock() as clock:
            pool = _update_solution_pool(fresh, pool)
        clocks["insert"].append(clock)
        loss.solpool, predicted.grad = pool, None
        with Clock() as clock:
            loss(predicted, solution).backward()
        clocks["nce"].append(clock)
    assert len(pool) == POOL + 3 * ROWS
    timed = {
        f"{name}_{kind}": statistics.median(getattr(clock, kind) for clock in taken)
        for name, taken in clocks.items()
        for kind in ("wall", "cpu")
    }
    answer(**timed, pool=len(pool))


def _rows(generator: np.random.Generator, count: int) -> Tensor:
    return torch.from_numpy((generator.random((count, WIDTH)) < 0.5).astype(np.float32))


if __name__ == "__main__":
    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    given = read_job()
    if given is None:
        scale()
    else:
        for name in given.methods:
            run(given, name)
