"""Grids: the runs behind the tables and figures of a group of problems, kept as TOML files beside the code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from regretless.errors import FileError, InputError, RegretlessError
from regretless.number_checks import check_integer
from regretless.runs.spec import Spec
from regretless.solvers.engine import names as engine_names
from regretless.training import methods as method_table

GROUPS = ("knapsack", "energy", "matching")
ENGINES = ("oracle", *engine_names(integers=True))
TABLES = ("", "timing", "policies")  # kinds of tables
# Fields of a method's row that belong to the training; all others are settings of its loss or cache.
TRAINING = ("lr", "epochs", "batch_size")
MANY = 10**9
# Problem, method, most seeds, and fields of the specification that differ from the method's row.
Cell = tuple[str, str, int, dict[str, Any]]


@dataclass(frozen=True)
class Grid:
    """What to run for a group of problems, and which tables to make.

    Attributes:
        name: of the group and its file.
        title: for people.
        problems: names in the table of problems.
        focus: the problem of the figure with regret against p_solve.
        methods: method -> settings; a list has one value per problem, ``seeds`` is the largest number of seeds.
        cache: settings of every method with a cache.
        options: of the problems.
        sweeps: further values of ``p_solve`` for some methods, possibly with another ``policy``.
        timing: the runs of an engine other than the special oracles.
        unit: metric -> factor from our unit to the paper's, for tables only.
        tables: which tables to make; see ``regretless.paper.result_tables``.
    """

    name: str
    title: str
    problems: tuple[str, ...]
    focus: str
    methods: dict[str, dict[str, Any]]
    cache: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    sweeps: tuple[dict[str, Any], ...] = ()
    timing: dict[str, Any] = field(default_factory=dict)
    unit: dict[str, float] = field(default_factory=dict)
    tables: tuple[dict[str, Any], ...] = ()

    def __post_init__(self) -> None:
        rows = [*self.sweeps, *([self.timing] if self.timing else []), *(t for t in self.tables if "methods" in t)]
        for name in (method for row in rows for method in row["methods"]):
            if name not in self.methods:
                raise InputError(f"grid {self.name!r} has no row for the method {name!r}: add [methods.{name}]")
        for name in self.methods:
            method_table.method(name)
        if unknown := [table["kind"] for table in self.tables if table.get("kind", "") not in TABLES]:
            raise InputError(f"a table is of kind 'timing' or 'policies', or of none, got {unknown[0]!r}")
        for name in (self.focus, *(problem for row in rows for problem in row.get("problems", ()))):
            if name not in self.problems:
                raise InputError(f"problems of grid {self.name!r} are {', '.join(self.problems)}; got {name!r}")

    def spec(self, problem: str, method: str, **changes: Any) -> Spec:
        """Return the run of one method on one problem; ``changes`` are fields of ``Spec``, or settings."""
        row = {key: self._at(problem, method, key, value) for key, value in self.methods[method].items()}
        row.pop("seeds", None)
        if method_table.method(method).cached:
            row = self.cache | row
        changes = {"options": dict(self.options)} | changes
        settings = changes.pop("settings", {})
        training = {key: row.pop(key) for key in TRAINING if key in row}
        return Spec(problem, method, **(training | {"settings": row | settings} | changes))

    def specs(
        self,
        *,
        methods: Sequence[str] | None = None,
        seeds: int = 10,
        init: str = "random",
        engine: str = "oracle",
        epochs: int | None = None,
    ) -> list[Spec]:
        """Return all runs, each once, problem by problem.

        Args:
            methods: only these; all by default.
            seeds: how many, from 0; rows with a smaller number take fewer.
            init: ``"random"`` or ``"shared"`` initial weights.
            engine: ``"oracle"`` runs the grid; any other engine runs its part ``timing``.
            epochs: for all runs, in place of the grid's.

        Raises:
            InputError: an unknown method, engine or initialization, no seeds or no epochs.
        """
        check_integer("seeds", seeds, least=1)
        if epochs is not None:
            check_integer("epochs", epochs, least=1)
        if engine not in ENGINES:
            raise InputError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
        unknown = [name for name in methods or () if name not in self.methods]
        if unknown:
            raise InputError(f"methods of {self.name!r} are {', '.join(self.methods)}; got {unknown[0]!r}")
        change: dict[str, Any] = {"init": init} | ({} if epochs is None else {"epochs": epochs})
        cells = list(self._cells() if engine == "oracle" else self._timed(engine))
        found: dict[str, Spec] = {}
        for problem, method, most, fields in sorted(cells, key=lambda cell: self.problems.index(cell[0])):
            if methods is None or method in methods:
                for seed in range(min(seeds, most)):
                    spec = self.spec(problem, method, seed=seed, **(fields | change))
                    found.setdefault(spec.digest, spec)
        return list(found.values())

    def _cells(self) -> Iterator[Cell]:
        for problem in self.problems:
            for method, row in self.methods.items():
                yield problem, method, int(row.get("seeds", MANY)), {}
        for sweep in self.sweeps:
            policy = {"policy": sweep["policy"]} if "policy" in sweep else {}
            for problem in sweep.get("problems", self.problems):
                for method in sweep["methods"]:
                    most = int(sweep.get("seeds", self.methods[method].get("seeds", MANY)))
                    for p_solve in sweep["p_solve"]:
                        yield problem, method, most, {"settings": {"p_solve": p_solve} | policy}

    def _timed(self, engine: str) -> Iterator[Cell]:
        """The runs of a generic engine: few epochs, and one evaluation at the end."""
        timing = self.timing or {"methods": list(self.methods)}
        # The test regret of every epoch would cost as many solves again, outside of the measured time.
        fields: dict[str, Any] = {"options": self.options | {"engine": engine}, "watch": False}
        if "epochs" in timing:
            fields["epochs"] = timing["epochs"]
        for problem in timing.get("problems", self.problems):
            for method in timing["methods"]:
                cached = method_table.method(method).cached
                for settings in [{"p_solve": p} for p in timing.get("p_solve", ()) if cached] or [{}]:
                    yield problem, method, int(timing.get("seeds", 1)), fields | {"settings": settings}

    def _at(self, problem: str, method: str, key: str, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if len(value) != len(self.problems):
            raise InputError(
                f"{key} of {method!r} in grid {self.name!r} must be one value, or one for each of {len(self.problems)} "
                f"problems, got {len(value)}"
            )
        return value[self.problems.index(problem)]


def names() -> list[str]:
    """Names of all grids that come with the library."""
    return sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))


def groups(name: str) -> list[str]:
    """Names of the grids in a group: ``all`` has the paper's, every other name itself."""
    if name == "all":
        return list(GROUPS)
    if name not in names():
        raise InputError(f"group must be one of all, {', '.join(names())}, got {name!r}")
    return [name]


@cache
def load_grid(name: str) -> Grid:
    """Read a grid that comes with the library, once.

    >>> load_grid("knapsack").spec("knapsack-60", "spo").epochs
    4
    """
    groups(name)
    return read_grid(name, (_folder() / f"{name}.toml").read_text(encoding="utf-8"))


def read_grid(name: str, text: str) -> Grid:
    """Make a grid of the text of a TOML file.

    Raises:
        FileError: the text is no valid TOML, or a field is missing, unknown or of the wrong type.
    """
    try:
        values = tomllib.loads(text)
        for key in ("problems", "sweeps", "tables"):
            values[key] = tuple(values.get(key, ()))
        grid = Grid(name=name, **values)
        grid.specs(seeds=1)  # a wrong type shows when a field is used; more seeds use no other field
        return grid
    except RegretlessError:
        raise
    except (TypeError, LookupError, AttributeError, ValueError, ArithmeticError) as error:
        raise FileError(f"the grid {name!r} is no valid TOML or has a wrong field: {error}") from error


def _folder() -> Any:
    return resources.files("regretless.paper") / "grids"
