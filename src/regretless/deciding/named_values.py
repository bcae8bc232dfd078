"""Values by name that share their names: one array per decision, where many decisions have the same variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from regretless.milp import Floats


class NamedValues(Mapping[str, float]):
    """A mapping from names to the numbers of an array; eight bytes per value, where a dict takes about a hundred.

    Args:
        places: position of each name in the array, shared by many mappings.
        values: ``(len(places),)``.

    >>> import numpy as np
    >>> dict(NamedValues(places_of(["a", "b"]), np.array([1.0, 2.0])))
    {'a': 1.0, 'b': 2.0}
    """

    __slots__ = ("_places", "_values")

    def __init__(self, places: Mapping[str, int], values: Floats) -> None:
        self._places, self._values = places, values

    def __getitem__(self, name: str) -> float:
        return float(self._values[self._places[name]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        return repr(dict(self))


def places_of(names: Sequence[str]) -> dict[str, int]:
    """Position of each name."""
    return {name: i for i, name in enumerate(names)}
