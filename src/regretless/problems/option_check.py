"""Check the options of a problem by the annotations of the function that loads it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from regretless.errors import InputError
from regretless.problems.generated_problem import Settings
from regretless.problems.solving import Solving

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
    """Refuse an option that ``loader`` does not have, or a value of another type, before anything is loaded.

    Raises:
        InputError: the message names the option, and the expected and given value.
    """
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
