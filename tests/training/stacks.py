"""A small problem, and stacked runs on it."""

from __future__ import annotations

import torch
from torch import nn

from regretless import MAP, MILP, Dataset, Family, Problem, SolutionCache
from regretless.losses import SPOPlus
from regretless.problems.settings import seeded
from regretless.training.models import make_model
from regretless.training.stacked_fit import fit_stacked
from regretless.training.stacked_models import Setting


def data(n=30, d=6, seed=0, family=False):
    generator = torch.Generator().manual_seed(seed)
    problem = Problem(oracle=lambda c: (c <= sorted(c)[1]) * 1.0, dimension=d)
    if family:
        problem = Problem(Family([MILP([[1.0] * d], row_lower=k, row_upper=k) for k in (1.0, 4.0)]))
    x = torch.randn(n, 3, generator=generator)
    c = (x @ torch.randn(3, d, generator=generator)) ** 3 + torch.randn(n, d, generator=generator)
    return problem, Dataset.solve(problem, x, c, instance=[0, 1, 1] * (n // 3) if family else None)


def cache(problem, train, p_solve=0.0):
    return SolutionCache(problem, train.solutions, instance=train.instance, p_solve=p_solve)


STREAMS = [torch.arange(0, 20), torch.arange(7, 30), torch.arange(30)]
SETTINGS = [Setting(0, 0.01), Setting(1, 0.03), Setting(0, 0.1)]


def _model(train, kind):
    if kind == "dropout":
        return seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 6)), 0)
    return make_model(train.features, 6, costs=train.costs, kind=kind, hidden=4)


def run(
    problem, train, kind="linear", settings=SETTINGS, streams=STREAMS, p_solve=0.0, models=None, losses=None, **more
):
    models = models or [_model(train, kind) for _ in streams]
    shared = cache(problem, train, p_solve)
    losses = losses(shared) if losses else [MAP(shared, reduction="none"), SPOPlus(shared, reduction="none")]
    return fit_stacked(models, losses, settings, train, streams, epochs=3, batch_size=8, seed=5, progress=False, **more)


class Counter:
    """Stops after an epoch, and counts steps."""

    def __init__(self, stop_after=99):
        self.stop_after, self.steps, self.epoch = stop_after, 0, 0

    def on_step(self, predicted, index, valid):
        self.steps += 1

    def on_epoch(self, epoch, models, diverged):
        self.epoch = epoch

    def why_stop(self):
        return "enough" if self.epoch >= self.stop_after else ""

    def state_dict(self):
        return {"steps": self.steps, "epoch": self.epoch}

    def load_state_dict(self, state):
        self.steps, self.epoch = state["steps"], state["epoch"]
