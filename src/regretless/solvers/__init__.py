"""Engines: each turns a MILP into ``objective -> outcome``; the pool turns that into a batched oracle."""

from regretless.solvers.checked_engine import make_engine
from regretless.solvers.engine import Engine, Outcome, available, names
from regretless.solvers.function import FunctionBackend
from regretless.solvers.pool import EnginePool

__all__ = ["Engine", "EnginePool", "FunctionBackend", "Outcome", "available", "make_engine", "names"]
