"""Check the options of a problem by the annotations of the function that loads it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from regretless.errors import InputError


def check_options(name: str, loader: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Refuse an option that ``loader`` does not have, or a value of another type, before anything is loaded.

    Args:
        name: name of the problem, for messages.
        loader: a function whose keyword-only arguments are the options.
        options: the given options.

    Raises:
        InputError: the message names the option, and the expected and given value.
    """
    parameters = inspect.signature(loader).parameters.values()
    known = {p.name: p.annotation for p in parameters if p.kind is p.KEYWORD_ONLY}
    hints = get_type_hints(loader)
    for key, value in options.items():
        if key not in known:
            raise InputError(f"problem {name!r} has no option {key!r}: its options are {', '.join(known)}")
        if not _fits(value, hints[key]):
            words = get_args(hints[key]) if get_origin(hints[key]) is Literal else ()
            expected = f"one of {', '.join(words)}" if words else str(known[key])
            raise InputError(f"option {key!r} of problem {name!r} must be {expected}, got {value!r}")
        if key == "seed" and value < 0:
            raise InputError(f"option 'seed' of problem {name!r} must be at least 0, got {value}")


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
