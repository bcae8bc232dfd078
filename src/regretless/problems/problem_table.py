"""The table of named problems, and the function that loads one."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import Any

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.number_checks import check_number
from regretless.problems.option_check import check_options
from regretless.solvers.executors import checked_workers, parse_executor
from regretless.solvers.time_limit import check_time_limit
from regretless.tables.user_problem import is_model_file, load_model_file

# Names, and the package and function that load them. A package is imported when one of its problems is loaded.
GENERATED: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("shortest-path",), "regretless.problems.shortest_path", "load_shortest_path"),
    (("multi-knapsack",), "regretless.problems.multi_knapsack", "load_multi_knapsack"),
    (("travelling-salesman",), "regretless.problems.travelling_salesman", "load_travelling_salesman"),
    (("vehicle-routing",), "regretless.problems.vehicle_routing", "load_vehicle_routing"),
    (("portfolio",), "regretless.problems.portfolio", "load_portfolio"),
    (("facility-location",), "regretless.problems.facility_location", "load_facility_location"),
    (("random-lp",), "regretless.problems.random_linear_program", "load_random_linear_program"),
    (("top-k",), "regretless.problems.top_k", "load_top_k"),
)
TABLE: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("synthetic-knapsack-60", "synthetic-knapsack-120", "synthetic-knapsack-180"),
        "regretless.problems.knapsack",
        "load_synthetic_knapsack",
    ),
    (("workshop",), "regretless.problems.workshop", "load_workshop"),
    (("knapsack-60", "knapsack-120", "knapsack-180"), "regretless.problems.knapsack", "load_knapsack"),
    (("energy-1", "energy-2", "energy-3"), "regretless.problems.energy", "load_energy"),
    (("matching-10", "matching-25", "matching-50"), "regretless.problems.matching", "load_matching"),
    *GENERATED,
)


def names() -> list[str]:
    """Names of all problems."""
    return [name for row in TABLE for name in row[0]]


def loader(name: str) -> Callable[..., BenchmarkProblem]:
    """Return the function that loads ``name``: a name of the table, ``energy:PATH`` (an ICON file) or a model file."""
    if is_model_file(name):
        return load_model_file
    for known, package, function in TABLE:
        if name in known or (name.startswith("energy:") and known[0] == "energy-1"):
            load: Callable[..., BenchmarkProblem] = getattr(importlib.import_module(package), function)
            return load
    close = difflib.get_close_matches(name, names(), n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise InputError(
        f"problem must be one of {', '.join(names())}, energy:PATH, or an .mps or .lp file, got {name!r}{hint}"
    )


def load(name: str, **options: Any) -> BenchmarkProblem:
    """Load a problem with its data and an initial model.

    Args:
        name: a name of ``names()``, or the path of a model file.
        options: ``split`` and ``seed`` (of a random split); ``engine``: ``oracle`` for the special exact oracle, or the
            engine that solves the model, ``workers`` instances at a time by an ``executor``; ``time_limit``: seconds
            per solve; ``gap``: relative, at which a solve by an engine may end; ``on_failure``; ``store``: folder that
            stores the true optima for the next run; and the options of the problem itself.

    >>> load("synthetic-knapsack-60", days=40).train.costs.shape
    torch.Size([28, 48])
    """
    function = loader(name)
    check_options(name, function, options)
    # A special oracle uses none of these, but a wrong value is still one.
    checked_workers(options.get("workers", 1))
    check_time_limit(options.get("time_limit"))
    check_number("gap", options.get("gap", 0.0), least=0, most=1)
    parse_executor(options.get("executor", "threads"))
    return function(name, **options)
