"""Which instances of a family a cached solution serves, and the checks of solutions and instances of a cache."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regretless.cache.store import SolutionStore
from regretless.errors import InputError
from regretless.family import Family
from regretless.labels import infeasible_label
from regretless.milp import MILP
from regretless.problem import Problem

# Numbers of one block, which bound the memory.
BLOCK = 1 << 24
# Tolerance of what is stored in single precision.
STORED = 1e-4


def served(problem: Problem, rows: Tensor, ids: Tensor | None) -> Tensor | None:
    """``(instances, m)`` mask of the instances that each row serves; ``None`` without a family.

    Args:
        problem: its models say what is feasible; without models, a row serves only its own instance.
        rows: ``(m, width)`` solutions.
        ids: ``(m,)`` instances that they were found for.
    """
    if problem.instances is None or ids is None:
        return None
    serves = problem.feasible(rows)
    if serves is None:
        serves = torch.zeros(problem.instances, len(rows), dtype=torch.bool, device=rows.device)
    # A solution is feasible for the instance that it was solved for, whatever a tolerance says.
    serves[ids.to(rows.device), torch.arange(len(rows), device=rows.device)] = True
    return serves


def refuse_infeasible(problem: Problem, rows: Tensor, ids: Tensor | None = None) -> None:
    """Refuse solutions ``(m, width)`` that break the model of their instance, where they show the whole decision.

    In a cache such a solution would win look-ups that no decision can win.

    Args:
        problem: without a model, or with a cost map, decisions are not known and nothing is refused.
        rows: the solutions.
        ids: ``(m,)`` instances, for families.
    """
    model = problem.model
    if isinstance(model, Family) and ids is not None:
        row = infeasible_label(problem, rows, ids, STORED)
        if row is not None:
            raise _infeasible(row, f"instance {int(ids[row])}")
    if not isinstance(model, MILP) or model.cost_map is not None:
        return
    size = max(1, BLOCK // (model.n + model.A.shape[0]))
    for start in range(0, len(rows), size):
        shown = rows[start : start + size].cpu().to(torch.float64).numpy()
        x = shown[:, : model.n]
        good = model.check(x, STORED)
        if model.has_fixed_cost:
            terms = np.abs(x) @ np.abs(model.fixed_cost) + abs(model.constant)
            good &= np.abs(x @ model.fixed_cost + model.constant - shown[:, model.n]) <= STORED * (1.0 + terms)
        if not good.all():
            raise _infeasible(start + int(good.argmin()), "the model")


def _infeasible(row: int, what: str) -> InputError:
    return InputError(
        f"solution {row} is infeasible for {what}: a cache holds feasible solutions only, in cost space (known costs "
        "last), as Problem.solve and Dataset.solutions have them"
    )


def check_instance(problem: Problem, store: SolutionStore, instance: Tensor | None, batch: int) -> None:
    """Refuse unknown instances, and add to a store the members that joined the family since the last call."""
    problem.check_instance(instance, batch)
    join_members(problem, store)


def join_members(problem: Problem, store: SolutionStore) -> None:
    """Add to a store the members that joined the family since the last call, and what is feasible for them."""
    known = store.instances
    if known is not None and problem.instances is not None and problem.instances > known:
        new = range(known, problem.instances)
        serves = problem.feasible(store.rows, new)
        store.add_instances(torch.zeros(len(new), len(store), dtype=torch.bool) if serves is None else serves)


def sharing_note(problem: Problem) -> str | None:
    """Why a cache shares no solution between the instances of this family, or ``None`` where it does."""
    if problem.instances is None or problem.instances == 1 or isinstance(problem.model, Family):
        return None
    return (
        f"cached solutions are not shared between the {problem.instances} instances of this family, because it has no "
        "model: each is used only for the instance that it was found for, so a cache helps little"
    )
