"""Draw losses and their gradients on the two-variable example of the method pages: choose one of two items."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl
import torch

from regretless.cache import SolutionCache
from regretless.losses import Loss
from regretless.milp import MILP
from regretless.problem import Problem

mpl.use("svg")
from matplotlib import pyplot as plt

# Equal input gives an equal file: no date, no random ids, text as text.
mpl.rcParams.update({"svg.hashsalt": "regretless", "svg.fonttype": "none", "font.size": 9})


def example() -> Problem:
    """Choose at most one of two items, the one of more value: ``max c . x``, ``x_1 + x_2 <= 1``."""
    return Problem(MILP([[1.0, 1.0]], row_upper=1.0), sense="max", name="one of two")


def cached() -> SolutionCache:
    """A cache of all three solutions of the example: nothing, the first item, the second; nothing is solved."""
    solutions = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    return SolutionCache(example(), solutions, p_solve=0.0, dtype=torch.float64)


def draw(path: Path, losses: Mapping[str, Loss]) -> None:
    """Draw each loss and its gradient over the predicted value of the first item, whose true value is 2."""
    first = torch.linspace(-1.0, 3.0, 401, dtype=torch.float64)
    true = torch.tensor([2.0, 1.0], dtype=torch.float64).expand(len(first), 2)
    best = torch.tensor([1.0, 0.0], dtype=torch.float64).expand(len(first), 2)
    figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 5.2), sharex=True, layout="constrained")
    above.plot(first, (first < 1.0).double(), color="black", linewidth=1, linestyle="--", label="regret")
    for label, loss in losses.items():
        predicted = torch.stack([first, torch.ones_like(first)], dim=1).requires_grad_()
        values = loss(predicted, true, best)
        (gradient,) = torch.autograd.grad(values.sum(), predicted)
        above.plot(first, values.detach(), label=label)
        below.plot(first, gradient[:, 0], label=label)
    above.set_ylabel("loss")
    below.set_ylabel("gradient")
    below.set_xlabel("predicted value of the first item (true 2); the second is predicted 1 (true 1)")
    above.legend(frameon=False)
    for axes in (above, below):
        axes.axvline(1.0, color="grey", linewidth=0.5)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
