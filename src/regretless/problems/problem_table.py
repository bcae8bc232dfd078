"""The table of problems: names, and what loads them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any, get_args

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.problems.generated_problem import Settings
from regretless.tables.model_file import is_model_file, load_model_file
from regretless.types import OnFailure

# A row: names, module, function. Modules are imported when a problem is asked for, so that one cannot break another.
GENERATED: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("shortest-path",), "regretless.problems.shortest_path.load", "load_shortest_path"),
    (("multi-knapsack",), "regretless.problems.multi_knapsack.load", "load_multi_knapsack"),
    (("travelling-salesman",), "regretless.problems.travelling_salesman.load", "load_travelling_salesman"),
    (("vehicle-routing",), "regretless.problems.vehicle_routing.load", "load_vehicle_routing"),
    (("portfolio",), "regretless.problems.portfolio.load", "load_portfolio"),
    (("facility-location",), "regretless.problems.facility_location.load", "load_facility_location"),
    (("random-lp",), "regretless.problems.random_linear_program.load", "load_random_linear_program"),
    (("top-k",), "regretless.problems.top_k.load", "load_top_k"),
)
TABLE: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("synthetic-knapsack-60", "synthetic-knapsack-120", "synthetic-knapsack-180"),
        "regretless.problems.knapsack.load",
        "load_synthetic_knapsack",
    ),
    (("knapsack-60", "knapsack-120", "knapsack-180"), "regretless.problems.knapsack.load", "load_knapsack"),
    (("energy-1", "energy-2", "energy-3"), "regretless.problems.energy.load", "load_energy"),
    (("matching-10", "matching-25", "matching-50"), "regretless.problems.matching.load", "load_matching"),
    *GENERATED,
)


def names() -> list[str]:
    """Names of all problems."""
    return [name for row in TABLE for name in row[0]]


def loader(name: str) -> Callable[..., BenchmarkProblem]:
    """Return the function that loads ``name``: in the table, ``energy:PATH`` (an ICON instance) or a model file."""
    if is_model_file(name):
        return load_model_file
    for known, module, function in TABLE:
        if name in known or (name.startswith("energy:") and known[0] == "energy-1"):
            load: Callable[..., BenchmarkProblem] = getattr(importlib.import_module(module), function)
            return load
    raise InputError(f"problem must be one of {', '.join(names())}, energy:PATH, or an .mps or .lp file, got {name!r}")


def load(name: str, **options: Any) -> BenchmarkProblem:
    """Load a problem with its data and a model to start from.

    Args:
        name: as in ``names()``, or the path of a model file.
        options: ``split``, ``engine``, ``workers``, ``seed``, ``time_limit``, ``on_failure``, ``store`` and the
            problem's own.

    >>> load("synthetic-knapsack-60", days=40).train.costs.shape
    torch.Size([28, 48])
    """
    function = loader(name)
    on_failure = options.pop("on_failure", "raise")
    if on_failure not in get_args(OnFailure):
        raise InputError(f"on_failure must be 'raise', 'cache' or 'skip', got {on_failure!r}")
    options_of = inspect.signature(function).parameters.values()
    known = [p.name for p in options_of if p.kind is p.KEYWORD_ONLY]
    if any(p.kind is p.VAR_KEYWORD for p in options_of):
        known += [field.name for field in fields(Settings)]
    unknown = [key for key in options if key not in known]
    if unknown:
        raise InputError(f"problem {name!r} does not know {unknown[0]!r}: its options are {', '.join(known)}")
    if "on_failure" in known:  # its labels come from an engine that may fail
        options["on_failure"] = on_failure
    loaded = function(name, **options)
    loaded.problem.on_failure = on_failure
    return loaded
