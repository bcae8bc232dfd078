"""The backend of a problem: of an engine (a pool of workers, or one computation per batch) or of an oracle."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from regretless.errors import InputError
from regretless.family import Family
from regretless.milp import MILP
from regretless.solvers.batch_backend import BatchBackend
from regretless.solvers.engine import TABLE
from regretless.solvers.function import FunctionBackend
from regretless.solvers.pool import EnginePool
from regretless.types import Backend


def engine_backend(model: MILP | Family, *, engine: str = "highs", **how: Any) -> Backend:
    """Build the oracle; the arguments are those of ``EnginePool``.

    Raises:
        InputError: an unknown engine, or workers for an engine that solves whole batches.
    """
    if engine not in TABLE or not TABLE[engine].batched:
        return EnginePool(model, engine=engine, **how)
    if how.pop("workers", 1) not in (None, 1) or how.pop("executor", "threads") != "threads":
        raise InputError(f"engine {engine!r} solves a batch in one computation: leave out workers= and executor=")
    return BatchBackend(model, engine=engine, **how)


def oracle_backend(oracle: Backend | Callable[..., Any], *, settings: dict[str, Any], **how: Any) -> Backend:
    """Build the backend of an oracle.

    Args:
        oracle: an object with ``solve``, which is taken as it is, or a plain function.
        settings: of ``FunctionBackend``, for a function.
        how: ``workers``, ``time_limit`` and ``executor``.

    Raises:
        InputError: one of these for an object with ``solve``, which has its own; or a ``solve`` that takes no batch.
    """
    if not hasattr(oracle, "solve"):
        return FunctionBackend(oracle, **settings, **how)
    if not _takes_batches(oracle.solve):
        raise InputError(
            f"{type(oracle).__name__}.solve must take a batch, solve(costs, instance, *, decision=False), as "
            "regretless.types.Backend says: give it these arguments, or pass a function costs -> solution that calls it"
        )
    if how != {"workers": 1, "time_limit": None, "executor": "threads"}:
        raise InputError(
            f"{type(oracle).__name__} solves batches by itself: set its own time limit and workers, and leave "
            "out time_limit=, workers= and executor="
        )
    return oracle


def _takes_batches(solve: Callable[..., Any]) -> bool:
    """Whether a method can be called as that of a ``Backend``; one whose arguments are unknown counts as such."""
    try:
        inspect.signature(solve).bind(None, None, decision=True)
    except TypeError:
        return False
    except ValueError:  # compiled code without a signature
        return True
    return True
