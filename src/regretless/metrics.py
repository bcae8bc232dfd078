"""Metrics of a prediction: what its decision costs, and how far off it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regretless.begun_solves import BegunSolves, solve_rows
from regretless.cost_columns import by_name
from regretless.errors import InputError
from regretless.instance_weights import weighted_mean
from regretless.labels import refuse_infeasible_labels
from regretless.problem import Problem
from regretless.solvers.checked_solve import refuse_better_than_label, refuse_failures, value_scale
from regretless.tensors import ids, tensor
from regretless.type_checks import check_type
from regretless.types import Solved, Status

SOLVE_BATCH = 64  # per worker


@dataclass(frozen=True, eq=False)
class Decided:
    """Regrets ``(n,)``, decisions ``(n, width)`` in cost space, and how many of these are not proven optimal."""

    regrets: Tensor
    decisions: Tensor
    cut_short: int


def regret(
    problem: Problem,
    predicted: Any,
    true: Any,
    solution: Any,
    instance: Any = None,
    *,
    status: Sequence[Status] | None = None,
) -> Tensor:
    r"""Exact regret of each instance, in the user's units: at least zero, up to rounding, where labels are optimal.

    .. math:: f(v^*(\hat c), c) - f(v^*(c), c) \quad\text{(minimizing; the reverse where the sense is max)}

    Args:
        problem: solves at the prediction, exactly.
        predicted: ``(n, d)`` tensor, array, nested list or data frame, as all others.
        true: ``(n, d)``.
        solution: ``(n, width)`` true optima in cost space.
        instance: ``(n,)`` ids, for families.
        status: how the solve of each label ended; all optimal when ``None``.

    Returns:
        ``(n,)`` float64; NaN where a solve failed and ``problem.on_failure`` is not ``"raise"``.

    Raises:
        InputError: shapes that do not fit, costs or labels that are not finite, or labels that are infeasible for the
            model.
        SolveError: a solve failed, or a decision is better than an optimal label, so that the oracle, the sense or the
            label is wrong. Where a label is not optimal, the regret may be negative: it is only a bound.
    """
    check_type("problem", problem, Problem, hint="build it with Problem(model)")
    names = problem.cost_names
    costs = tensor("predicted", by_name(predicted, names)), tensor("true", by_name(true, names))
    return regret_of_decisions(problem, *costs, tensor("solution", solution), ids(instance), status=status).regrets


def regret_of_decisions(
    problem: Problem,
    predicted: Tensor,
    true: Tensor,
    solution: Tensor,
    instance: Tensor | None = None,
    *,
    status: Sequence[Status] | None = None,
    begun: BegunSolves | None = None,
    progress: bool | None = False,
    first: int = 0,
) -> Decided:
    """Regrets as ``regret`` returns them, and the decisions that have them.

    With ``progress`` a bar is shown, with ``None`` on a terminal. Solves that ``begun`` has are not made again. Where
    these instances are a part of the caller's data, messages count from ``first``, the number of the first one.
    """
    if predicted.shape != true.shape:
        raise InputError(f"predicted must have the shape of true, {tuple(true.shape)}, got {tuple(predicted.shape)}")
    if predicted.ndim != 2 or predicted.shape[1] != problem.dimension:
        raise InputError(f"predicted must have shape (n, {problem.dimension}), got {tuple(predicted.shape)}")
    if solution.shape != (expected := (len(predicted), problem.width)):
        raise InputError(f"solution must have shape {expected}, got {tuple(solution.shape)}")
    cost = problem.to_minimization(true.detach().to(torch.float64), instance)
    best = solution.detach().to(torch.float64)
    for name, given in (("predicted", predicted), ("true", true)):
        bad = (~torch.isfinite(given)).nonzero()
        if len(bad):
            row, column = bad[0].tolist()
            got = f"{given[row, column].item()} for instance {first + row}, cost {column}"
            raise InputError(f"{name} must be finite, got {got}")
    if status is not None and len(status) != len(predicted):
        raise InputError(f"status must have one entry for each of the {len(predicted)} labels, got {len(status)}")
    unlabelled = (~torch.isfinite(best).all(dim=1)).nonzero().flatten().tolist()
    if unlabelled and problem.on_failure == "raise":  # otherwise they are failed solves
        row = first + unlabelled[0]
        raise InputError(f"solution must be finite, got NaN or infinity in row {row}: pass the true optima")
    refuse_infeasible_labels(problem, best, instance, first)
    regrets, decisions, cut_short = cost.new_zeros(len(cost)), torch.zeros_like(best), 0
    for part, solved in solve_rows(
        problem, predicted.detach().to(torch.float64), instance, begun or BegunSolves(None),
        purpose="evaluation", size=SOLVE_BATCH, label="evaluation", progress=progress,
    ):  # fmt: skip
        members = None if instance is None else instance[part]
        known = None if status is None else [status[i] for i in part]
        regrets[part] = checked_regrets(
            problem, solved, cost[part], best[part], instance=members, status=known, rows=[first + i for i in part]
        )
        decisions[part] = solved.solution.to(torch.float64)
        cut_short += solved.not_optimal - int((~solved.found).sum())
    return Decided(regrets, decisions, cut_short)


def checked_regrets(
    problem: Problem,
    solved: Solved,
    cost: Tensor,
    label: Tensor,
    *,
    instance: Tensor | None = None,
    status: Sequence[Status] | None = None,
    rows: Sequence[int] | None = None,
) -> Tensor:
    """Regrets ``(n,)`` of solves at predicted costs; NaN where a solve failed and that is not an error.

    Args:
        problem: that was solved.
        solved: the solves.
        cost: ``(n, width)`` true costs, minimizing, float64.
        label: ``(n, width)`` true optima, float64.
        instance: ``(n,)`` ids, for families.
        status: how the solve of each label ended; all optimal when ``None``.
        rows: the caller's numbers of these instances, where they are only a part of its data.

    Raises:
        SolveError: as ``regret``.
    """
    if problem.on_failure == "raise":
        refuse_failures(solved, instance, rows)
    found = solved.solution.to(torch.float64)
    refuse_better_than_label(
        (cost * found).sum(dim=1),
        (cost * label).sum(dim=1),
        value_scale(cost, found, label),
        optimal=None if status is None else torch.tensor([s is Status.OPTIMAL for s in status], device=cost.device),
        instance=instance,
        rows=rows,
        sense=problem.sense,
    )
    return (cost * (found - label)).sum(dim=1)


def optimal_values(problem: Problem, true: Tensor, solution: Tensor, instance: Tensor | None = None) -> Tensor:
    """Objectives ``(n,)`` of the true optima, in the user's sense; ``instance`` as for ``regret``."""
    cost = problem.to_minimization(true.detach().to(torch.float64), instance)
    return problem.sign * (cost * solution.detach().to(torch.float64)).sum(dim=1)


def relative_regret(regrets: Tensor, optimal: Tensor) -> float:
    """Sum of the regrets over the sum of the absolute optimal values; NaN where that is zero."""
    known = ~torch.isnan(regrets)
    scale = float(optimal[known].abs().sum())
    return float(regrets[known].sum()) / scale if scale > 0 else float("nan")


def mse(predicted: Tensor, true: Tensor, weight: Tensor | None = None) -> float:
    """Mean squared error over all costs; ``weight`` ``(n,)`` are those of the instances."""
    squares = (predicted.detach().to(torch.float64) - true.to(torch.float64)).square()
    return float(squares.mean()) if weight is None else weighted_mean(squares.mean(dim=1), weight)


def auc(predicted: Tensor, true: Tensor) -> float | None:
    """Area under the ROC curve where the true costs are 0/1 labels of both kinds, else ``None``; ties count half.

    >>> auc(torch.tensor([[0.1, 0.9, 0.4]]), torch.tensor([[0.0, 1.0, 0.0]]))
    1.0
    """
    labels = true.detach().flatten()
    positive = labels == 1
    if not bool((positive | (labels == 0)).all()) or bool(positive.all()) or not bool(positive.any()):
        return None
    scores = predicted.detach().to(torch.float64).flatten()
    _, group, size = torch.unique(scores, return_inverse=True, return_counts=True)
    last = size.cumsum(0).to(torch.float64)
    ranks = (last - (size - 1) / 2.0)[group]  # mean rank of a tied group
    p, n = int(positive.sum()), int((~positive).sum())
    return (float(ranks[positive].sum()) - p * (p + 1) / 2) / (p * n)
