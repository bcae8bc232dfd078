"""All that is checked about a batch of solves, whichever oracle made them: costs, shapes, values, labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError, RegretlessError, SolveError
from regretless.milp import Floats
from regretless.types import Backend, Sense, Solved, Status

# Engines work to 1e-6; an answer that is better than a label by more is not explained by rounding.
BETTER = 1e-6


def check_finite(costs: Tensor) -> None:
    """Raise an ``InputError`` that names the first entry of ``(batch, width)`` costs that is NaN or infinite."""
    if not all_finite(costs):
        row, column = (~torch.isfinite(costs)).nonzero()[0].tolist()
        raise InputError(f"costs must be finite, got {costs[row, column].item()} at row {row}, column {column}")


def all_finite(values: Tensor) -> bool:
    """Whether no value is NaN or infinite: one finite number proves it at a third of the time of looking at each value.

    It is the sum of the values; on a CPU the sum of their squares, since a product takes less time than a sum.
    """
    if values.is_cpu and values.dtype in (torch.float32, torch.float64) and not values.requires_grad:
        array = values.numpy()
        one = np.vdot(array, array)  # the only product of NumPy that does not warn where it overflows
    else:
        one = values.sum().item()
    return math.isfinite(one) or bool(torch.isfinite(values).all())


def checked_solve(
    backend: Backend,
    costs: Tensor,
    instance: Tensor | None,
    *,
    decision: bool,
    width: int,
    starts: Sequence[Floats | None] | None = None,
) -> Solved:
    """Let ``backend`` solve ``(batch, width)`` costs, and give every instance a status of its own.

    After an exception every instance is solved separately, so that only those that cause it fail. An answer of the
    wrong shape is refused. A row that is not finite has no solution, whatever its status says.

    Raises:
        SolveError: the answer has another shape than the costs.
        RegretlessError: no instance can be solved, for example because a package is missing.
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
        separate = zip((costs[row] for row in rows), ids, strict=True)
        return _joined([checked_solve(backend, c, i, decision=decision, width=width) for c, i in separate])
    if not isinstance(solved, Solved):
        raise SolveError(f"{type(backend).__name__}.solve must return a Solved, got {type(solved).__name__}")
    if solved.solution.shape != (costs.shape[0], width):
        raise SolveError(
            f"{type(backend).__name__} must answer {len(costs)} costs with solutions of shape {(len(costs), width)}, "
            f"got {tuple(solved.solution.shape)}"
        )
    if solved.finite or all_finite(solved.solution):
        return solved
    return _without_garbage(solved, type(backend).__name__)


def refuse_failures(solved: Solved, instance: Tensor | None = None, rows: Sequence[int] | None = None) -> None:
    """Raise a ``SolveError`` that names the first instance without a solution, if there is one.

    Args:
        solved: the solves.
        instance: ``(batch,)`` ids, for families.
        rows: the caller's numbers of these instances, where they are only a part of its batch.
    """
    if solved.status is None:
        return
    missing = (~solved.found).nonzero().flatten().tolist()
    if missing:
        row = missing[0]
        # Of a part of the caller's batch, the count would be that of some group of solves.
        more = f" ({len(missing)} of {len(solved.solution)} failed)" if len(missing) > 1 and rows is None else ""
        said = solved.message.get(row, "").rstrip(" .")
        name, place = _place(row, rows, instance)
        raise SolveError(
            f"no solution for {name}: {solved.status[row]}{more}.{f' {said}.' if said else ''} "
            "Set on_failure='cache' or 'skip' (train --on-failure) to go on without such instances.",
            row=place,
        )


def refuse_better_than_label(
    values: Tensor,
    label_values: Tensor,
    scale: Tensor,
    *,
    optimal: Tensor | None = None,
    instance: Tensor | None = None,
    rows: Sequence[int] | None = None,
    sense: Sense = "min",
) -> None:
    """Raise a ``SolveError`` where an answer is better than the label at the true costs, beyond rounding.

    A label is optimal by definition. An answer that beats it shows that the oracle, the sense or the label is wrong.

    Args:
        values: ``(batch,)`` objectives of the answers at the true costs, minimizing; NaN where there is no answer.
        label_values: ``(batch,)`` objectives of the labels.
        scale: ``(batch,)`` size of the terms that were added up, from ``value_scale``.
        optimal: ``(batch,)`` mask of the labels that were proven optimal; all when ``None``. Others are only bounds.
        instance: ``(batch,)`` ids, for families.
        rows: the caller's numbers of these instances, where they are only a part of its data.
        sense: of the user's objective, for the message.
    """
    tolerance = max(BETTER, 64 * torch.finfo(values.dtype).eps)
    better = values < label_values - tolerance * scale
    if optimal is not None:
        better = better & optimal
    if not bool(better.any()):
        return
    row, sign = int(better.nonzero()[0]), 1.0 if sense == "min" else -1.0
    found, label = sign * float(values[row]) + 0.0, sign * float(label_values[row]) + 0.0
    name, place = _place(row, rows, instance)
    raise SolveError(
        f"{name} has a solution with objective {found:.9g} at the true costs, better than its label with {label:.9g} "
        f"(sense={sense!r}). A label is optimal by definition, so the oracle, the sense or the label is wrong. "
        "An oracle that is a heuristic has to return Status.FEASIBLE: see regretless.types.Solved.",
        row=place,
    )


def value_scale(costs: Tensor, *solutions: Tensor) -> Tensor:
    """Size ``(batch,)`` of the terms of objectives ``costs . solution``; engines are exact to about 1e-6 of it."""
    sizes = [(costs.abs() * solution.abs().clamp(min=1.0)).sum(dim=-1) for solution in solutions]
    return torch.stack(sizes).sum(dim=0)


def _place(row: int, rows: Sequence[int] | None, instance: Tensor | None) -> tuple[str, int]:
    """The name of a row in messages, and its number as the caller counts."""
    place = row if rows is None else rows[row]
    member = "" if instance is None else f" (family member {int(instance[row])})"
    return f"instance {place} of the batch{member}", place


def _without_garbage(solved: Solved, name: str) -> Solved:
    bad = (~torch.isfinite(solved.solution)).any(dim=1)
    status, message = solved.statuses, dict(solved.message)
    wrong = [row for row in bad.nonzero().flatten().tolist() if status[row] is Status.OPTIMAL]
    for row in wrong:
        status[row], message[row] = Status.ERROR, f"{name} returned NaN or infinite values as an optimum"
    gap = solved.gap
    if wrong:
        gap = torch.zeros(len(bad), dtype=torch.float64, device=bad.device) if gap is None else gap.clone()
        gap[wrong] = torch.inf
    return Solved(solved.solution.masked_fill(bad[:, None], torch.nan), status, gap, solved.decision, message)


def _failed(costs: Tensor, width: int, message: str) -> Solved:
    nothing = torch.full((1, width), torch.nan, dtype=torch.float64, device=costs.device)
    gap = torch.full((1,), torch.inf, dtype=torch.float64, device=costs.device)
    return Solved(nothing, [Status.ERROR], gap, None, {0: message})


def _joined(parts: list[Solved]) -> Solved:
    """Join solves of one instance each; decisions of those that failed are rows of NaN."""
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
