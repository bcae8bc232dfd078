"""True optima: solved once, compared with each other, and stored on disk by content."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from regretless.errors import FileError, InputError, RegretlessWarning, SolveError
from regretless.family import Family, member
from regretless.label_memory import LabelMemory
from regretless.problem import Problem
from regretless.progress import track
from regretless.solvers.answers import ENGINE_TOLERANCE
from regretless.solvers.checked_solve import refuse_better_than_label, refuse_failures
from regretless.storage import MALFORMED, load_state, save_state
from regretless.types import Solved, Status

LABEL_BATCH = 32  # per worker: all of them wait for the last solve of a batch
COMPARED = 128  # labels that are compared with each other


def solve_labels(
    problem: Problem,
    costs: Tensor,
    members: Tensor | None = None,
    *,
    store: Path | str | None = None,
    memory: LabelMemory | None = None,
    progress: bool | None = None,
) -> tuple[Tensor, list[Status]]:
    """Solve true costs, or find their optima in the store or in memory; only what was checked is kept there.

    Args:
        problem: what to solve.
        costs: ``(n, d)`` true costs in the user's sense.
        members: ``(n,)`` ids, for families.
        store: folder that keeps optima by content; ``None`` keeps none.
        memory: optima by row, of this process.
        progress: show a bar; by default on a terminal.

    Returns:
        ``(n, width)`` optima, a row of NaN where there is none, and how each solve ended.

    Raises:
        SolveError: an instance has no solution and ``problem.on_failure`` is ``"raise"``, or a label is wrong; see
            ``refuse_wrong_labels``.
        FileError: the stored optima are damaged, or cannot be written.
    """
    path = None if store is None else _path(Path(store), problem, costs, members)
    if path is None or not path.exists():
        solutions, status = _with_memory(problem, costs, members, memory, progress)
        # a solve that ended by the clock or by a fault may succeed the next time
        if path is not None and not {Status.TIME_LIMIT, Status.ERROR} & set(status):
            save_state(path, {"solutions": solutions, "status": [str(s) for s in status]}, kind="labels")
        return solutions, status
    solutions, status = _read(path, len(costs), problem.width)
    if problem.on_failure == "raise":
        refuse_failures(Solved(solutions, status), members)
    refuse_wrong_labels(problem, costs, solutions, members, status)
    return solutions, status


def refuse_wrong_labels(
    problem: Problem, costs: Tensor, solutions: Tensor, members: Tensor | None, status: Sequence[Status]
) -> None:
    """Raise a ``SolveError`` where a label is infeasible for its model, or beaten by another one at its own costs.

    Up to 128 labels, always the same ones for the same data, are compared with each other in one product. Labels of a
    family are compared where both are feasible.

    Args:
        problem: that solved them.
        costs: ``(n, d)`` true costs in the user's sense.
        solutions: ``(n, width)`` labels; a row of NaN where there is none.
        members: ``(n,)`` ids, for families.
        status: how each solve ended; labels that are not optimal may be beaten.
    """
    known = (~torch.isnan(solutions).any(dim=1)).nonzero().flatten()
    if not len(known):
        return
    _refuse_infeasible(problem, solutions, members, known.tolist())
    if len(known) > COMPARED:
        known = known[torch.randperm(len(known), generator=torch.Generator().manual_seed(0))[:COMPARED]]
    ids = None if members is None else members[known]
    c, v = problem.to_minimization(costs[known], ids), solutions[known]
    values, sizes = c @ v.T, c.abs() @ v.abs().clamp(min=1.0).T
    serves = torch.ones_like(values, dtype=torch.bool)
    if ids is not None:
        feasible = problem.feasible(v)
        serves = ids[:, None] == ids if feasible is None else feasible[ids]
    best, other = values.masked_fill(~serves, torch.inf).min(dim=1)
    size = sizes.gather(1, other[:, None])[:, 0] + sizes.diagonal()
    optimal = torch.tensor([status[row] is Status.OPTIMAL for row in known.tolist()], dtype=torch.bool)
    refuse_better_than_label(
        best, values.diagonal(), size, optimal=optimal, instance=ids, rows=known.tolist(), sense=problem.sense
    )


def _refuse_infeasible(problem: Problem, solutions: Tensor, members: Tensor | None, known: list[int]) -> None:
    """Raise a ``SolveError`` where a label shows a decision that its model does not allow."""
    family = isinstance(problem.model, Family)
    if problem.model is None or (not family and problem.model.cost_map is not None):
        return
    rows: dict[int, list[int]] = {}
    for row in known:
        rows.setdefault(0 if members is None else int(members[row]), []).append(row)
    for index, some in rows.items():
        milp = member(problem.model, index)
        shown = solutions[some].numpy()
        x = problem.model.decisions(shown) if family else shown[:, : milp.n]
        feasible = milp.check(x, ENGINE_TOLERANCE)
        if not feasible.all():
            row = some[int((~feasible).argmax())]
            error = SolveError(f"the label of instance {row} is infeasible for the model: the oracle is wrong")
            error.row = row
            raise error


def _path(store: Path, problem: Problem, costs: Tensor, members: Tensor | None) -> Path | None:
    """File of the labels, named by a hash of all that they depend on; ``None`` where that is not known."""
    if problem.model is None and not problem.name:
        raise InputError("stored labels are told apart by the model; without one, give the problem a name=")
    solver = problem.label_solver
    if solver is None:
        unknown = "" if problem.identity is None else problem.identity.unknown
        message = (
            f"labels are not stored: the oracle uses a value of type {unknown} and cannot be told from other oracles. "
            "Set its attribute fingerprint to a string that changes with the oracle."
        )
        warnings.warn(message, RegretlessWarning, stacklevel=4)
        return None
    digest = hashlib.sha256(f"{problem.fingerprint}:{problem.sense}:{solver}:{tuple(costs.shape)}".encode())
    digest.update(costs.cpu().contiguous().numpy().tobytes())
    digest.update(b"" if members is None else members.cpu().contiguous().numpy().tobytes())
    return store / f"labels-{digest.hexdigest()[:32]}.safetensors"


def _read(path: Path, n: int, width: int) -> tuple[Tensor, list[Status]]:
    state = load_state(path, kind="labels")
    try:
        solutions, status = state["solutions"], [Status(s) for s in state["status"]]
        fits = solutions.shape == (n, width) and solutions.dtype == torch.float64 and len(status) == n
    except MALFORMED as error:
        raise FileError(f"{path}: field 'state' holds no labels: {error}") from error
    if not fits:
        got = f"{solutions.dtype} of shape {tuple(solutions.shape)} with {len(status)} statuses"
        raise FileError(f"{path}: field 'solutions' must be torch.float64 of shape {(n, width)}, got {got}")
    return solutions, status


def _with_memory(
    problem: Problem, costs: Tensor, members: Tensor | None, memory: LabelMemory | None, progress: bool | None
) -> tuple[Tensor, list[Status]]:
    """Solve the rows that are not in memory, check all, and put them there."""
    keys = None if memory is None else memory.keys(problem, costs, members)
    found = {} if memory is None or keys is None else memory.find(keys)
    rest = [i for i in range(len(costs)) if i not in found]
    solutions = torch.full((len(costs), problem.width), torch.nan, dtype=torch.float64)
    status = [Status.OPTIMAL] * len(costs)
    if rest:
        ids = None if members is None else members[rest]
        solutions[rest], ended = _solve(problem, costs[rest], ids, rest, progress)
        for i, end in zip(rest, ended, strict=True):
            status[i] = end
    for i, (row, end) in found.items():
        solutions[i], status[i] = row, end
    if problem.on_failure == "raise":
        refuse_failures(Solved(solutions, status), members)
    refuse_wrong_labels(problem, costs, solutions, members, status)
    if memory is not None and keys is not None:
        for i in rest:
            memory.put(keys[i], solutions[i], status[i])
    return solutions, status


def _solve(
    problem: Problem, costs: Tensor, members: Tensor | None, rows: Sequence[int], progress: bool | None
) -> tuple[Tensor, list[Status]]:
    """Solve all rows; ``rows`` are the caller's numbers of them, for messages."""
    solutions, status = [], []
    to_minimization = problem.to_minimization(costs, members)
    parts = _batches(len(costs), LABEL_BATCH * problem.workers)
    for part in track(parts, total=len(parts), label="true optima", show=progress):
        instance = None if members is None else members[part]
        with problem.counted_as("labels"):
            solved = problem.attempt(to_minimization[part], instance)
        if problem.on_failure == "raise":
            refuse_failures(solved, instance, rows[part])
        solutions.append(solved.solution.to(torch.float64).cpu())
        status += solved.statuses
    return torch.cat(solutions) if solutions else costs.new_zeros(0, problem.width), status


def _batches(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
