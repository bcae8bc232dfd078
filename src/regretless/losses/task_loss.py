"""The loss of a decision and its slope, for methods that differentiate through the solver."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

from regretless.arrays import dot
from regretless.errors import InputError

Task = Literal["regret", "squared", "absolute"]
# Solves at different costs return one vertex up to this share of its size. The sign of such a difference, which is the
# slope of two of the losses, would be that of a rounding error.
ROUNDING = 1e-12


def known_task(task: Task) -> Task:
    """Return the name of a task loss; an unknown one is refused."""
    if task not in get_args(Task):
        raise InputError(f"task must be one of {', '.join(map(repr, get_args(Task)))}, got {task!r}")
    return task


def task_loss(task: Task, answer: Tensor, true: Tensor, solution: Tensor, *, dimension: int) -> tuple[Tensor, Tensor]:
    r"""Values ``(batch,)`` and slopes ``(batch, width)`` of the loss of decisions.

    ``"regret"`` is :math:`|c^\top (v - v^*)|`, ``"squared"`` the mean of :math:`(v_j - v^*_j)^2` over the d predicted
    costs, ``"absolute"`` the mean of :math:`|v_j - v^*_j|`. The last two do not use the true costs.

    Args:
        task: name of the loss.
        answer: ``(batch, width)`` decisions, or means of decisions.
        true: ``(batch, width)`` true costs.
        solution: ``(batch, width)`` true optima.
        dimension: number d of predicted costs; a coordinate of known costs after them is left out.
    """
    error, sizes = answer - solution, answer.abs() + solution.abs()
    if task == "regret":
        lead = _rounded(dot(true, error), dot(true.abs(), sizes))
        return lead.abs(), true * lead.sign()[:, None]
    if error.shape[1] > dimension:
        error = torch.cat([error[:, :dimension], torch.zeros_like(error[:, dimension:])], dim=1)
    if task == "squared":
        return error.square().sum(1) / dimension, 2 * error / dimension
    error = _rounded(error, sizes)
    return error.abs().sum(1) / dimension, error.sign() / dimension


def _rounded(differences: Tensor, sizes: Tensor) -> Tensor:
    """Differences, with zeros where they are rounding errors of terms of these sizes."""
    noise = max(ROUNDING, 8 * torch.finfo(sizes.dtype).eps) * sizes
    return differences.masked_fill(differences.abs() <= noise, 0.0)
