"""Which instances of a family a cached solution serves, and the checks of costs and instances of a cache."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.cache.store import SolutionStore
from regretless.errors import InputError
from regretless.family import Family
from regretless.problem import Problem


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


def check_costs(problem: Problem, costs: Tensor) -> None:
    """Refuse costs of another shape than ``(batch, width)``."""
    if costs.ndim != 2 or costs.shape[1] != problem.width:
        raise InputError(f"costs must have shape (batch, {problem.width}), got {tuple(costs.shape)}")


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
