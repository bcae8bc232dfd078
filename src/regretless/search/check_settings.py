"""Settings are checked before anything is solved: the method first trains on a problem of two variables."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regretless.data import Dataset
from regretless.errors import InputError, RegretlessError, SolveError
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.search.train_method import is_best_fit, train
from regretless.solvers.engine import names
from regretless.training import Interrupted, methods
from regretless.types import Status


def check_settings(method: str, settings: Mapping[str, Any], *, engine: str = "oracle", **options: Any) -> None:
    """Train ``method`` for one epoch on two instances of a problem with two variables.

    Every check of losses, caches, policies and engines runs then, in the code that makes it, before the true problem
    is solved. What only the true problem can tell (whether it has a MILP, say) is not covered. Settings that have
    passed are not tried again in the same process: a grid of runs or a cross-validation repeats them.

    Args:
        method: a name in the table of methods.
        settings: of the method.
        engine: that solves the problem, or ``oracle`` for a Python function.
        options: of ``Problem``, such as ``time_limit``.

    Raises:
        InputError: a setting that the method does not know or cannot use.
        MissingDependencyError: a package that the method or the engine needs is not installed.
        SolveError: the engine does not work, for example without a license.
        Interrupted: SIGINT, SIGTERM or SIGHUP was received.
    """
    methods.chosen(method, settings)  # first: the name of an argument of train would be taken for that argument
    named = _named(method, settings, engine, options)
    if named in _PASSED:
        return
    settings = dict(copy.deepcopy(settings))
    solver = {"oracle": _cheapest} if engine == "oracle" else {"engine": engine}
    integer = engine == "oracle" or engine in names(integers=True)
    choose_one = MILP([[1.0, 1.0]], row_lower=1.0, row_upper=1.0, integer=integer)
    Problem(choose_one, **solver, **options)  # a short time limit is checked, and does not disturb what follows
    problem = Problem(choose_one, bound=_bound, name="settings check", **solver)
    labels = torch.eye(2, dtype=torch.float64)
    data = Dataset(torch.eye(2), 1.0 - labels / 2, labels)  # costs between 0 and 1, as cross entropy needs them
    if method == "auto":  # it needs two instances per fold
        folds = settings.get("folds", 5)
        data = data[torch.arange(2).repeat(folds if isinstance(folds, int) and 0 < folds < 1000 else 5)]
    solved = problem.solve(data.costs[:1])  # the method may not solve at all in one epoch
    if solved.status[0] is not Status.OPTIMAL:
        raise SolveError(f"{engine} cannot solve a problem of two variables: {solved.message.get(0, solved.status[0])}")
    # A search starts from two-stage weights, which its own linear model has in closed form.
    model = None if method == "auto" else _Scale()
    try:
        few: dict[str, Any] = {} if is_best_fit(method, settings, epochs=1) else {"epochs": 1}
        if method == "direct":
            generations = methods.chosen(method, settings)["generations"]
            few = {"generations": 1} if isinstance(generations, int) and generations > 1 else {}
        train(problem, data, model, method=method, progress=False, **{**settings, **few})
    except RegretlessError:
        raise
    except Interrupted as stop:  # what it says is about the training of two variables
        name = str(stop).partition(":")[0]
        raise Interrupted(f"{name}: ended while the settings were checked, before training began") from None
    except (TypeError, ValueError, ArithmeticError, AttributeError, RuntimeError) as error:
        words = ", ".join(f"{name}={value!r}" for name, value in settings.items())
        raise InputError(f"method {method!r} cannot be used with {words or 'its defaults'}: {error}") from error
    if named is not None:
        _PASSED.add(named)


_PASSED: set[str] = set()


def _named(method: str, settings: Mapping[str, Any], engine: str, options: Mapping[str, Any]) -> str | None:
    """Return what is checked as a text; ``None`` with settings that are objects, which a text cannot tell apart."""
    try:
        return json.dumps([method, dict(settings), engine, dict(options)], sort_keys=True)
    except (TypeError, ValueError):
        return None


class _Scale(nn.Module):
    """A model of two weights, which draws nothing from the global random generator."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def _cheapest(costs: Any) -> Any:
    return np.eye(2)[costs.argmin()]


def _bound(costs: Tensor, instance: Tensor | None) -> Tensor:
    return costs.min(dim=1).values
