"""The table of named problems, the check of their options, and the function that loads one."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.number_checks import check_number
from regretless.problems.settings import Settings, Solving
from regretless.solvers.executors import checked_workers, parse_executor
from regretless.solvers.time_limit import check_time_limit
from regretless.tables.user_problem import is_model_file, load_model_file

# What a loader takes beside its own options, by the name of that argument.
SHARED = {"settings": Settings, "solving": Solving}


@dataclass(frozen=True)
class Option:
    """An option of a problem: its type, the type as it is written, and its default."""

    hint: Any
    annotation: str
    default: Any


def options_of(loader: Callable[..., Any]) -> dict[str, Option]:
    """Options of a problem: keyword-only arguments of its loader, and what its ``**settings`` or ``**solving`` take."""
    hints, parameters = get_type_hints(loader), inspect.signature(loader).parameters.values()
    found = {
        p.name: Option(hints[p.name], str(p.annotation), p.default) for p in parameters if p.kind is p.KEYWORD_ONLY
    }
    for kind in (SHARED[p.name] for p in parameters if p.kind is p.VAR_KEYWORD):
        shared = get_type_hints(kind)
        more = {one.name: Option(shared[one.name], str(one.type), one.default) for one in fields(kind)}
        found |= {key: option for key, option in more.items() if key not in found}
    return found


def check_options(name: str, loader: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Refuse an option that ``loader`` does not have, or a value of another type, before anything is loaded."""
    known = options_of(loader)
    for key, value in options.items():
        if key not in known:
            raise InputError(f"problem {name!r} has no option {key!r}: its options are {', '.join(known)}")
        hint = known[key].hint
        if not _fits(value, hint):
            words = get_args(hint) if get_origin(hint) is Literal else ()
            expected = f"one of {', '.join(words)}" if words else known[key].annotation
            expected = {"int": "an integer", "float": "a number", "str": "text"}.get(expected, expected)
            raise InputError(f"option {key!r} of problem {name!r} must be {expected}, got {value!r}")
        if key == "seed" and value < 0:
            raise InputError(f"option 'seed' of problem {name!r} must be an integer, at least 0, got {value}")


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is Sequence:
        return isinstance(value, list | tuple) and all(_fits(item, inner[0]) for item in value)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, NoneType if hint is None else hint)


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
