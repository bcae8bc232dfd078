"""True optima: solved once, compared with each other, and stored on disk by content."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regretless.begun_solves import BegunSolves, solve_rows
from regretless.errors import FileError, InputError, RegretlessWarning, SolveError
from regretless.family import Family, member
from regretless.label_memory import NOT_KEPT, LabelMemory, row_keys
from regretless.problem import Problem
from regretless.solvers.answers import ENGINE_TOLERANCE
from regretless.solvers.checked_solve import refuse_better_than_label, refuse_failures
from regretless.storage import MALFORMED, load_state, save_state
from regretless.types import Solved, Status

LABEL_BATCH = 32  # per worker
COMPARED = 128  # labels that are compared with each other


def solve_labels(
    problem: Problem,
    costs: Tensor,
    members: Tensor | None = None,
    *,
    store: Path | str | None = None,
    memory: LabelMemory | None = None,
    begun: BegunSolves | None = None,
    progress: bool | None = None,
) -> tuple[Tensor, list[Status]]:
    """Solve true costs, or find their optima in the store or in memory; only what was checked is kept there.

    Args:
        problem: what to solve.
        costs: ``(n, d)`` true costs in the user's sense.
        members: ``(n,)`` ids, for families.
        store: folder that keeps optima by content; ``None`` keeps none.
        memory: optima by row, of this process.
        begun: exact solves of a job that keeps them itself, in place of ``store``.
        progress: show a bar; by default on a terminal.

    Returns:
        ``(n, width)`` optima, a row of NaN where there is none, and how each solve ended.

    Raises:
        SolveError: an instance has no solution and ``problem.on_failure`` is ``"raise"``, or a label is wrong; see
            ``refuse_wrong_labels``.
        FileError: the stored optima are damaged, or cannot be written.
    """
    if store is not None:
        _refuse_no_folder(store)
    path = None if store is None else _path(Path(store), problem, costs, members)
    if path is None:
        return _with_known(problem, costs, members, memory, begun or BegunSolves(None), progress)
    if not path.exists():
        begun = begun_labels(path.parent, problem)
        solutions, status = _with_known(problem, costs, members, memory, begun, progress)
        if set(NOT_KEPT) & set(status):  # a longer time limit may find better ones
            begun.write()
        else:
            _write(path, problem, solutions, status)
            begun.remove()
        return solutions, status
    solutions, status = _read(path, len(costs), problem)
    if problem.on_failure == "raise":
        refuse_failures(Solved(solutions, status), members)
    refuse_wrong_labels(problem, costs, solutions, members, status)
    return solutions, status


def _refuse_no_folder(store: Any) -> None:
    """Refuse a store that cannot be a folder, before anything is solved for it."""
    if not isinstance(store, str | os.PathLike):
        raise InputError(f"store must be the path of a folder, got {type(store).__name__}")
    if Path(store).exists() and not Path(store).is_dir():
        raise InputError(f"store must be a folder, and {store} is a file: give another path")


def begun_labels(store: Path, problem: Problem) -> BegunSolves:
    """The labels of a problem in a store that are not complete yet."""
    about = f"{problem.name}:{problem.width}:{problem.sense}:{problem.label_solver}"
    return BegunSolves(store / f"begun-{hashlib.sha256(about.encode()).hexdigest()[:32]}.safetensors", problem.found)


def some_solved(problem: Problem, costs: Tensor, members: Tensor | None, store: Path | str | None) -> bool:
    """Whether a store has an optimum of at least one of the rows; the arguments are those of ``solve_labels``."""
    path = None if store is None else _path(Path(store), problem, costs, members)
    keys = None if path is None else row_keys(problem, costs, members)
    if path is None or keys is None:
        return False
    return path.exists() or bool(begun_labels(path.parent, problem).find(problem, keys))


def refuse_wrong_labels(
    problem: Problem, costs: Tensor, solutions: Tensor, members: Tensor | None, status: Sequence[Status]
) -> None:
    """Raise a ``SolveError`` where a label is infeasible for its model, or beaten by another one at its own costs.

    Args:
        problem: that solved them.
        costs: ``(n, d)`` true costs in the user's sense.
        solutions: ``(n, width)`` labels; a row of NaN where there is none.
        members: ``(n,)`` ids, for families.
        status: how each solve ended; labels that are not optimal may be beaten.
    """
    row = infeasible_label(problem, solutions, members)
    if row is not None:
        raise SolveError(f"the label of instance {row} is infeasible for the model: the oracle is wrong", row=row)
    refuse_beaten_labels(problem, costs, solutions, members, status)


def refuse_beaten_labels(
    problem: Problem, costs: Tensor, solutions: Tensor, members: Tensor | None, status: Sequence[Status] | None = None
) -> None:
    """Raise a ``SolveError`` where a label is beaten by another one at its own costs, as labels of the wrong sense are.

    Up to 128 labels, always the same ones for the same data, are compared with each other in one product. Labels of a
    family are compared where both are feasible. The arguments are those of ``refuse_wrong_labels``; without ``status``
    all labels count as optimal.
    """
    known = (~torch.isnan(solutions).any(dim=1)).nonzero().flatten()
    if not len(known):
        return
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
    optimal = None
    if status is not None:
        optimal = torch.tensor([status[row] is Status.OPTIMAL for row in known.tolist()], dtype=torch.bool)
    refuse_better_than_label(
        best, values.diagonal(), size, optimal=optimal, instance=ids, rows=known.tolist(), sense=problem.sense
    )


def refuse_infeasible_labels(problem: Problem, solutions: Tensor, members: Tensor | None, first: int = 0) -> None:
    """Refuse labels of the caller that show a decision that the model does not allow.

    Args:
        problem: without a model, or with a cost map, decisions are not known and nothing is refused.
        solutions: ``(n, width)`` labels; a row of NaN where there is none.
        members: ``(n,)`` ids, for families.
        first: number of the first row, where they are a part of the caller's labels.
    """
    row = infeasible_label(problem, solutions, members)
    if row is not None:
        raise InputError(
            f"row {first + row} of the solutions is infeasible for the model: pass the true optima of this problem in "
            "cost space, as Dataset.solutions holds them, and the true costs before them"
        )


def infeasible_label(
    problem: Problem, solutions: Tensor, members: Tensor | None, tolerance: float = ENGINE_TOLERANCE
) -> int | None:
    """First row of the labels that shows a decision that its model does not allow; rows of NaN are passed over."""
    family = isinstance(problem.model, Family)
    if problem.model is None or (not family and problem.model.cost_map is not None):
        return None
    rows: dict[int, list[int]] = {}
    for row in (~torch.isnan(solutions).any(dim=1)).nonzero().flatten().tolist():
        rows.setdefault(0 if members is None else int(members[row]), []).append(row)
    for index, some in rows.items():
        milp = member(problem.model, index)
        shown = solutions[some].detach().cpu().numpy()
        x = problem.model.decisions(shown) if family else shown[:, : milp.n]
        feasible = milp.check(x, tolerance)
        if not feasible.all():
            return some[int((~feasible).argmax())]
    return None


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
    digest.update(costs.cpu().numpy().tobytes())
    digest.update(b"" if members is None else members.cpu().numpy().tobytes())
    return store / f"labels-{digest.hexdigest()[:32]}.safetensors"


def _write(path: Path, problem: Problem, solutions: Tensor, status: list[Status]) -> None:
    state = {"solutions": solutions, "status": [str(end) for end in status]}
    if problem.found is not None:
        state["decisions"] = torch.from_numpy(problem.found.rows.copy())
    save_state(path, state, kind="labels")


def _read(path: Path, n: int, problem: Problem) -> tuple[Tensor, list[Status]]:
    """Read labels; decisions that were found with them come to those that the problem keeps."""
    state, width = load_state(path, kind="labels"), problem.width
    try:
        if problem.found is not None and "decisions" in state:
            problem.found.add(state["decisions"].numpy())
        solutions, status = state["solutions"], [Status(s) for s in state["status"]]
        fits = solutions.shape == (n, width) and solutions.dtype == torch.float64 and len(status) == n
    except MALFORMED as error:
        raise FileError(f"{path}: field 'state' holds no labels: {error}") from error
    if not fits:
        got = f"{solutions.dtype} of shape {tuple(solutions.shape)} with {len(status)} statuses"
        raise FileError(f"{path}: field 'solutions' must be torch.float64 of shape {(n, width)}, got {got}")
    return solutions, status


def _with_known(
    problem: Problem,
    costs: Tensor,
    members: Tensor | None,
    memory: LabelMemory | None,
    begun: BegunSolves,
    progress: bool | None,
) -> tuple[Tensor, list[Status]]:
    """Solve the rows that are neither in memory nor begun, check all, and put them into memory."""
    keys = None if memory is None else row_keys(problem, costs, members)
    found = {} if memory is None or keys is None else memory.find(keys)
    solutions = torch.full((len(costs), problem.width), torch.nan, dtype=torch.float64)
    status = [Status.OPTIMAL] * len(costs)
    for i, (row, end) in found.items():
        solutions[i], status[i] = row, end
        if keys is not None and begun.path is not None:
            begun.add(problem, [keys[i]], row[None], [end])
    rest = [i for i in range(len(costs)) if i not in found]
    ids = None if members is None else members[rest]
    with problem.counted_as("labels"):
        for part, solved in solve_rows(
            problem, costs[rest], ids, begun, purpose="labels", size=LABEL_BATCH, label="true optima",
            progress=progress,
        ):  # fmt: skip
            rows = [rest[k] for k in part]
            if problem.on_failure == "raise":
                refuse_failures(solved, None if members is None else members[rows], rows)
            solutions[rows] = solved.solution.to(torch.float64).cpu()
            for i, end in zip(rows, solved.statuses, strict=True):
                status[i] = end
    if problem.on_failure == "raise":
        refuse_failures(Solved(solutions, status), members)
    refuse_wrong_labels(problem, costs, solutions, members, status)
    if memory is not None and keys is not None:
        for i in rest:
            memory.put(keys[i], solutions[i], status[i])
    return solutions, status
