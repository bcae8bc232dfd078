"""The cells of the benchmark: a problem, how far its costs are from linear, and a number of training instances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from regretless.errors import InputError

DEGREES = (1, 2, 4, 6, 8)
SIZES = (100, 1000)


@dataclass(frozen=True)
class Cell:
    """One place of the grid, of which every seed is another draw of the data.

    Attributes:
        problem: its name.
        train: number of training instances.
        degree: of the polynomial that makes the costs; ``None`` where the problem has none.
        options: further options of the problem.
    """

    problem: str
    train: int
    degree: int | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Short name, for tables."""
        return self.problem + ("" if self.degree is None else f" deg {self.degree}") + f" n {self.train}"

    def load_options(self, seed: int) -> dict[str, Any]:
        """Options of the problem for one seed, which is also the seed of the data."""
        degree = {} if self.degree is None else {"deg": self.degree}
        return degree | {"train": self.train, "seed": seed} | self.options


def _grid(problem: str, degrees: Sequence[int | None], sizes: Sequence[int], **options: Any) -> list[Cell]:
    return [Cell(problem, train, degree, options) for degree in degrees for train in sizes]


# The short grid has sizes at which a solve takes milliseconds; the full grid has the standard sizes of the field.
_SHORT = (
    *_grid("shortest-path", DEGREES, SIZES, test=1000),
    *_grid("top-k", (None,), SIZES, test=500),
    *_grid("multi-knapsack", (4,), (100,), test=200),
    *_grid("random-lp", (8,), (100,), test=100, variables=30, rows=10),
    *_grid("portfolio", (4,), (100,), test=50, assets=20),
    *_grid("travelling-salesman", (4,), (100,), test=100, nodes=10),
    *_grid("vehicle-routing", (4,), (100,), test=50, customers=7),
    *_grid("facility-location", (4,), (100,), test=50, customers=20, facilities=5),
)
_FULL = (
    *_grid("shortest-path", DEGREES, (*SIZES, 5000), test=1000),
    *_grid("top-k", (None,), SIZES, test=1000),
    *_grid("multi-knapsack", DEGREES, SIZES, test=1000),
    *_grid("random-lp", DEGREES, SIZES, test=1000),
    *_grid("portfolio", DEGREES, SIZES, test=500),
    *_grid("travelling-salesman", DEGREES, SIZES, test=500),
    *_grid("vehicle-routing", DEGREES, (100,), test=200),
    *_grid("facility-location", DEGREES, (100,), test=100),
)
GRIDS = {"short": _SHORT, "full": _FULL}


def cells_of(grid: str, problems: Sequence[str] | None = None) -> list[Cell]:
    """Return the cells of a grid, or those of some of its problems.

    >>> [cell.name for cell in cells_of("short", ["top-k"])]
    ['top-k n 100', 'top-k n 1000']
    """
    if grid not in GRIDS:
        raise InputError(f"grid must be one of {', '.join(GRIDS)}, got {grid!r}")
    known = list(dict.fromkeys(cell.problem for cell in GRIDS[grid]))
    wrong = [name for name in problems or () if name not in known]
    if wrong or (problems is not None and not problems):
        raise InputError(f"problems of the suite are {', '.join(known)}; got {wrong[0] if wrong else 'none'}")
    return [cell for cell in GRIDS[grid] if problems is None or cell.problem in problems]
