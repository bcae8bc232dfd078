"""Robust labels: the costs of instances with similar features as further outcomes of each instance."""

from __future__ import annotations

from pathlib import Path

import torch

from regretless.data import Dataset
from regretless.number_checks import check_integer, check_number
from regretless.problem import Problem


def neighbor_labels(
    problem: Problem,
    data: Dataset,
    *,
    neighbors: int = 10,
    weight: float = 0.5,
    store: Path | str | None = None,
    progress: bool | None = None,
) -> Dataset:
    r"""Training data in which every instance occurs once per neighbor (Schutte et al., *Robust Losses*, IJCAI 2024).

    The observed costs of an instance are one outcome of a distribution. Instances with similar features show others:

    .. math:: c_{ij} = w\, c_i + (1 - w)\, c_j, \qquad j \in \text{the k nearest neighbors of } i

    Each :math:`c_{ij}` has its own true optimum, so any loss takes the result. The mean of a loss over the copies of an
    instance is the robust loss. PyEPO's ``optDatasetKNN`` stores the mean costs and the mean solutions per instance
    instead, which gives the same gradient only where that is linear in the true optimum and does not depend on the true
    costs (``NCE``, ``PerturbedFenchelYoung``).

    Args:
        problem: solves the optimum of every new cost vector: ``len(data) * neighbors`` labels.
        data: training data.
        neighbors: k, by Euclidean distance of the features, without the instance itself.
        weight: w, of the instance's own costs; 1 repeats the data.
        store: folder that keeps the optima by content.
        progress: show a bar; by default on a terminal.

    Returns:
        ``len(data) * neighbors`` instances; the copies of an instance are consecutive, its nearest neighbor first.

    Raises:
        InputError: ``neighbors`` is not between 1 and ``len(data) - 1``, or ``weight`` not between 0 and 1.

    >>> problem = Problem(oracle=lambda c: [float(i == int(c.argmin())) for i in range(2)], dimension=2)
    >>> data = Dataset.solve(problem, [[0.0], [1.0], [3.0]], [[1.0, 2.0], [3.0, 1.0], [5.0, 9.0]])
    >>> neighbor_labels(problem, data, neighbors=1).costs.tolist()
    [[2.0, 1.5], [2.0, 1.5], [4.0, 5.0]]
    """
    check_integer("neighbors", neighbors, least=1, most=len(data) - 1)
    check_number("weight", weight, least=0, most=1)
    flat = data.features.reshape(len(data), -1).to(torch.float64)
    distance = torch.cdist(flat, flat, compute_mode="donot_use_mm_for_euclid_dist")  # exact, so that ties are ties
    distance.fill_diagonal_(torch.inf)
    nearest = distance.argsort(dim=1, stable=True)[:, :neighbors]
    costs = weight * data.costs[:, None] + (1 - weight) * data.costs[nearest]
    return Dataset.solve(
        problem,
        data.features.repeat_interleave(neighbors, dim=0),
        costs.flatten(0, 1),
        instance=None if data.instance is None else data.instance.repeat_interleave(neighbors),
        store=store,
        weight=None if data.weight is None else data.weight.repeat_interleave(neighbors),
        progress=progress,
    )
