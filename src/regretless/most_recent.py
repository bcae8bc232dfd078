"""The entries of a mapping that were used most recently, for engines and graphs that take long to make."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class MostRecent(OrderedDict[Key, Value]):
    """At most ``most`` entries: the one used least recently is dropped. A copy begins without entries.

    >>> squares = MostRecent(2)
    >>> [squares.find(number, lambda: number**2) for number in (1, 2, 1, 3)], list(squares)
    ([1, 4, 1, 9], [1, 3])
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def find(self, key: Key, make: Callable[[], Value]) -> Value:
        """The entry of a key, which ``make`` makes where there is none."""
        if key not in self:
            self[key] = make()
            if len(self) > self.most:
                self.popitem(last=False)
        self.move_to_end(key)
        return self[key]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.most,)  # an engine or a graph cannot be copied; the copy makes its own


class MostRecentOfThread(threading.local):
    """Entries that belong to the thread that made them: ``entries`` is another object in every thread."""

    def __init__(self, most: int) -> None:  # runs once in every thread that uses the object
        self.entries: MostRecent[Any, Any] = MostRecent(most)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.entries.most,)
