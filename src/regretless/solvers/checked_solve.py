"""What goes into an oracle and what it hands back is looked at once, here, before anybody builds on it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError, RegretlessError, SolveError
from regretless.milp import Floats
from regretless.types import Backend, Solved, Status


def check_finite(costs: Tensor) -> None:
    """Raise an ``InputError`` that names the first entry of ``(batch, width)`` costs that is NaN or infinite."""
    if not _finite(costs):
        bad = (~torch.isfinite(costs)).nonzero()
        if len(bad):
            row, column = bad[0].tolist()
            raise InputError(f"costs must be finite, got {costs[row, column].item()} at row {row}, column {column}")


def checked_solve(
    backend: Backend,
    costs: Tensor,
    instance: Tensor | None,
    *,
    decision: bool,
    width: int,
    starts: Sequence[Floats | None] | None = None,
) -> Solved:
    """Let ``backend`` solve ``(batch, width)`` costs; whatever it does, every instance gets a status of its own.

    After an exception every instance is tried apart, so that only those that cause it fail. An answer of the wrong
    shape is refused. A row that is not finite has no solution, whatever its status says.

    Raises:
        SolveError: the answer has another shape than the costs.
        RegretlessError: what no instance can be solved with, such as a package that is missing.
    """
    try:
        more = {} if starts is None else {"starts": starts}  # only engines take them
        solved = backend.solve(costs, instance, decision=decision, **more)
    except RegretlessError:
        raise
    except Exception as error:
        if len(costs) == 1:
            return _failed(costs, width, f"{type(error).__name__}: {error}")
        rows = [slice(k, k + 1) for k in range(len(costs))]
        ids = [None if instance is None else instance[row] for row in rows]
        apart = zip((costs[row] for row in rows), ids, strict=True)
        return _joined([checked_solve(backend, c, i, decision=decision, width=width) for c, i in apart])
    if solved.solution.shape != (len(costs), width):
        raise SolveError(
            f"{type(backend).__name__} must answer {len(costs)} costs with solutions of shape {(len(costs), width)}, "
            f"got {tuple(solved.solution.shape)}"
        )
    if _finite(solved.solution):
        return solved
    return _without_garbage(solved, type(backend).__name__)


def refuse_failures(solved: Solved, instance: Tensor | None = None, rows: Sequence[int] | None = None) -> None:
    """Raise a ``SolveError`` that names the first instance without a solution, if there is one.

    Args:
        solved: what to look at.
        instance: ``(batch,)`` ids, for families.
        rows: how the caller counts these instances, where they are only some of its batch.
    """
    if solved.status is None:
        return
    missing = (~solved.found).nonzero().flatten().tolist()
    if missing:
        row = missing[0]
        place = row if rows is None else rows[row]
        where = f"instance {place} of the batch" + (
            "" if instance is None else f" (family member {int(instance[row])})"
        )
        more = f" ({len(missing)} of {len(solved.solution)} failed)" if len(missing) > 1 else ""
        error = SolveError(
            f"no solution for {where}: {solved.status[row]}{more}. {solved.message.get(row, '')} "
            "Set on_failure='cache' or 'skip' to train on without such instances."
        )
        error.row = place
        raise error


def _finite(values: Tensor) -> bool:
    """Whether all values are finite; on a GPU by their sum, which is exact unless it overflows."""
    if values.is_cuda:
        return math.isfinite(values.sum().item())
    return (
        bool(np.isfinite(values.detach().numpy()).all())
        if values.dtype != torch.bfloat16
        else bool(torch.isfinite(values).all())
    )


def _without_garbage(solved: Solved, name: str) -> Solved:
    bad = (~torch.isfinite(solved.solution)).any(dim=1)
    status, message = solved.statuses, dict(solved.message)
    lying = [row for row in bad.nonzero().flatten().tolist() if status[row] is Status.OPTIMAL]
    for row in lying:
        status[row], message[row] = Status.ERROR, f"{name} returned NaN or infinite values as an optimum"
    gap = solved.gap
    if lying:
        gap = torch.zeros(len(bad), dtype=torch.float64, device=bad.device) if gap is None else gap.clone()
        gap[lying] = torch.inf
    solution = solved.solution.masked_fill(bad[:, None], torch.nan)
    return Solved(solution, status if bool(bad.any()) else solved.status, gap, solved.decision, message)


def _failed(costs: Tensor, width: int, message: str) -> Solved:
    nothing = torch.full((1, width), torch.nan, dtype=torch.float64, device=costs.device)
    gap = torch.full((1,), torch.inf, dtype=torch.float64, device=costs.device)
    return Solved(nothing, [Status.ERROR], gap, None, {0: message})


def _joined(parts: list[Solved]) -> Solved:
    """One instance each to one batch; decisions of those that failed are rows of NaN."""
    like = next((part.decision for part in parts if part.decision is not None), None)
    decisions = None
    if like is not None:
        empty = torch.full_like(like, torch.nan)
        decisions = torch.cat([empty if part.decision is None else part.decision for part in parts])
    zero = torch.zeros(1, dtype=torch.float64, device=parts[0].solution.device)
    return Solved(
        solution=torch.cat([part.solution.to(torch.float64) for part in parts]),
        status=[part.statuses[0] for part in parts],
        gap=torch.cat([zero if part.gap is None else part.gap.to(zero) for part in parts]),
        decision=decisions,
        message={row: part.message[0] for row, part in enumerate(parts) if 0 in part.message},
    )
