"""Engines: each turns a MILP into ``objective -> outcome``; a backend turns that into a batched oracle."""

from regretless.solvers.backends import engine_backend
from regretless.solvers.checked_engine import make_engine
from regretless.solvers.engine import Engine, Outcome, available, names
from regretless.solvers.function import FunctionBackend
from regretless.solvers.pool import EnginePool

__all__ = ["Engine", "EnginePool", "FunctionBackend", "Outcome", "available", "engine_backend", "make_engine", "names"]
