"""Engines: each turns a MILP into ``objective -> outcome``; the pool turns that into a batched oracle."""

from regretless.solvers.engine import Engine, Outcome, available, make_engine, names
from regretless.solvers.function import FunctionBackend
from regretless.solvers.pool import EnginePool

__all__ = ["Engine", "EnginePool", "FunctionBackend", "Outcome", "available", "make_engine", "names"]
