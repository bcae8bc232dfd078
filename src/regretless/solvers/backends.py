"""The oracle of a model and an engine: a pool of workers, or one computation per batch."""

from __future__ import annotations

from typing import Any

from regretless.errors import InputError
from regretless.family import Family
from regretless.milp import MILP
from regretless.solvers.batch_backend import BatchBackend
from regretless.solvers.engine import TABLE
from regretless.solvers.pool import EnginePool
from regretless.types import Backend


def engine_backend(
    model: MILP | Family,
    *,
    engine: str = "highs",
    workers: int = 1,
    time_limit: float | None = None,
    executor: str = "threads",
    **options: Any,
) -> Backend:
    """Build the oracle; the arguments are those of ``EnginePool``.

    Raises:
        InputError: an unknown engine, or workers for an engine that solves whole batches.
    """
    if engine not in TABLE or not TABLE[engine].batched:
        pool = {"workers": workers, "time_limit": time_limit, "executor": executor}
        return EnginePool(model, engine=engine, **pool, **options)  # type: ignore[arg-type]
    if workers != 1 or executor != "threads":
        raise InputError(f"engine {engine!r} solves a batch in one computation: leave out workers= and executor=")
    return BatchBackend(model, engine=engine, time_limit=time_limit, **options)
