"""Many names: those that are missing, unknown or repeated, made distinct, and the first few of them for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def listed(names: Sequence[str], most: int = 5) -> str:
    """Join the first few of many names.

    >>> listed(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def missing_and_unknown(have: Sequence[str], wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names that are wanted and not there, and names that are there and not wanted, in time linear in their number.

    >>> missing_and_unknown(["a", "x"], ["a", "b"])
    (['b'], ['x'])
    """
    there, expected = set(have), set(wanted)
    return [name for name in wanted if name not in there], [name for name in have if name not in expected]


def probable(have: Sequence[str], wanted: Sequence[str]) -> str:
    """Which of the unknown names are probably missing ones, written as ``alike`` says; for messages.

    >>> probable(["Price ", "x"], ["price", "wind"])
    "'Price ' is probably 'price'"
    """
    return listed([f"{name!r} is probably {other!r}" for name, other in alike(have, wanted).items()], most=3)


def alike(have: Sequence[str], wanted: Sequence[str]) -> dict[str, str]:
    """Unknown names, and the missing ones from which they differ only in case, spaces, hyphens or underscores.

    >>> alike(["Unit-Price", "x"], ["unit_price", "wind"])
    {'Unit-Price': 'unit_price'}
    """
    missing, unknown = missing_and_unknown(have, wanted)
    key = {_words(name): name for name in missing}
    return {name: key[_words(name)] for name in unknown if _words(name) in key}


def meant(name: str, known: Iterable[str]) -> str:
    """Which of the known names is probably meant by an unknown one, in brackets, for messages; empty where none is.

    >>> meant("Price", ["wind", "price"]), meant("sun", ["wind", "price"])
    (" ('price' is probably meant)", '')
    """
    found = next((one for one in known if _words(one) == _words(name)), None)
    return "" if found is None else f" ({found!r} is probably meant)"


def folded(name: str) -> str:
    """A name without what is easily written differently: case, and spaces before and after it.

    >>> folded(" Unit  Price")
    'unit price'
    """
    return " ".join(name.split()).casefold()


def _words(name: str) -> str:
    return folded(re.sub(r"(?<=[^\W_])[-_](?=[^\W_])", " ", name))  # a sign is not a hyphen


def first_repeated(names: Sequence[str]) -> str | None:
    """The first name that occurs a second time; ``None`` where all differ.

    >>> first_repeated(["a", "b", "b", "a"])
    'b'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def numbered(names: Iterable[str]) -> tuple[str, ...]:
    """Names that are all different: one that occurs again gets a number.

    >>> numbered(["a", "b", "a"])
    ('a', 'b', 'a (2)')
    """
    found: dict[str, None] = {}
    for name in names:
        one, count = name, 1
        while one in found:
            count += 1
            one = f"{name} ({count})"
        found[one] = None
    return tuple(found)
