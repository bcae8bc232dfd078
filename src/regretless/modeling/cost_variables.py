"""Find the variables that the predicted costs belong to."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import numpy as np

from regretless.errors import InputError
from regretless.milp import Floats


def cost_columns(names: Sequence[str], objective: Floats, wanted: str | Sequence[str] | None) -> list[int]:
    """Find the columns of the predicted costs.

    Args:
        names: names of all variables.
        objective: ``(n,)`` coefficients of the objective of the model.
        wanted: ``None`` for the nonzeros of the objective; a name or a pattern with ``*`` and ``?`` (brackets are
            literal, so that ``x[*]`` works); or a list of these, whose order is kept. A name that no variable has
            selects the array of that name: ``x`` selects ``x[0]``, ``x[1]``, ...

    Raises:
        InputError: nothing matches, or a variable is selected twice.
    """
    if wanted is None:
        chosen = [int(j) for j in np.flatnonzero(objective)]
        if not chosen:
            raise InputError(
                "the objective of the model has no nonzero coefficient, so it does not show which variables the "
                f"predicted costs belong to; pass cost_variables=, for example {names[0]!r} or '*'"
            )
        return chosen
    result: list[int] = []
    for pattern in [wanted] if isinstance(wanted, str) else wanted:
        result += _matches(names, pattern)
    if not result:
        raise InputError("cost_variables must name at least one variable, got an empty list")
    if len(set(result)) < len(result):
        twice = next(j for j in result if result.count(j) > 1)
        raise InputError(f"cost_variables selects the variable {names[twice]!r} twice; name it once")
    return result


def _matches(names: Sequence[str], pattern: str) -> list[int]:
    if not isinstance(pattern, str):
        raise InputError(f"cost_variables must be names or patterns, got {type(pattern).__name__}")
    found = [j for j, name in enumerate(names) if name == pattern]
    if not found and ("*" in pattern or "?" in pattern):
        glob = re.compile("".join({"*": ".*", "?": "."}.get(letter) or re.escape(letter) for letter in pattern), re.S)
        found = [j for j, name in enumerate(names) if glob.fullmatch(name)]
    elif not found:
        found = [j for j, name in enumerate(names) if name.startswith(f"{pattern}[")]
    if not found:
        near = [name for name in names if pattern in name][:3]
        hint = f"; a pattern needs a *, as in '*{pattern}*'" if near else ""
        near = near or difflib.get_close_matches(pattern, names, n=3, cutoff=0.4) or list(names[:3])
        raise InputError(
            f"no variable of the model matches {pattern!r}; there are {len(names)}, such as {', '.join(near)}{hint}"
        )
    return found
