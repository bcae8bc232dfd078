"""Grids: the runs behind the tables and figures of a group of problems, kept as TOML files beside the code."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from types import UnionType
from typing import Any

from regretless.errors import FileError, InputError, RegretlessError
from regretless.runs.spec import Spec
from regretless.training import methods as method_table

GROUPS = ("knapsack", "energy", "matching")
ENGINES = ("oracle", "highs", "scip", "cpsat", "gurobi")
# Fields of a method's row that belong to the training; all others are settings of its loss or cache.
TRAINING = ("lr", "epochs", "batch_size")
# Fields of the file and what they hold: a list or table, and the type of its members.
SHAPES: dict[str, tuple[type, type | UnionType]] = {
    "title": (str, str), "focus": (str, str), "problems": (list, str), "sweeps": (list, dict), "tables": (list, dict),
    "methods": (dict, dict), "cache": (dict, object), "options": (dict, object), "timing": (dict, object),
    "unit": (dict, int | float),
}  # fmt: skip
TABLES = ("", "timing", "policies")  # kinds of tables
LISTS: dict[str, type | UnionType] = {"methods": str, "problems": str, "p_solve": int | float}


@dataclass(frozen=True)
class Grid:
    """What to run for a group of problems, and what to make of it.

    Attributes:
        name: of the group and its file.
        title: for people.
        problems: names in the table of problems.
        focus: the problem whose regret is set against p_solve.
        methods: method -> settings; a list stands for one value a problem, ``seeds`` for the most seeds.
        cache: settings of every cached method.
        options: of the problems.
        sweeps: further values of ``p_solve`` for some methods, where they say so with another ``policy``.
        timing: what an engine other than the special oracles runs.
        unit: metric -> what one of ours is in the paper's unit, for tables only.
        tables: what tables to make; see ``regretless.paper.result_tables``.
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
        if self.focus not in self.problems:
            raise InputError(
                f"focus of grid {self.name!r} must be one of {', '.join(self.problems)}, got {self.focus!r}"
            )

    def spec(self, problem: str, method: str, **changes: Any) -> Spec:
        """The run of one method on one problem, as its row says; ``changes`` are fields of ``Spec``, or settings."""
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
        """All runs, each once, problem by problem.

        Args:
            methods: only these; all by default.
            seeds: how many, from 0; rows that say fewer take fewer.
            init: ``"random"`` or ``"shared"`` first weights.
            engine: ``"oracle"`` runs the grid; any other engine runs what stands under ``timing``.
            epochs: for all runs, in place of the grid's.

        Raises:
            InputError: an unknown method, engine or initialisation, or no seeds.
        """
        if seeds < 1:
            raise InputError(f"seeds must be at least 1, got {seeds}")
        if engine not in ENGINES:
            raise InputError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}")
        unknown = [name for name in methods or () if name not in self.methods]
        if unknown:
            raise InputError(f"methods of {self.name!r} are {', '.join(self.methods)}; got {unknown[0]!r}")
        change: dict[str, Any] = {"init": init} | ({} if epochs is None else {"epochs": epochs})
        cells = self._cells() if engine == "oracle" else self._timed(engine)
        wanted = list(self.methods) if methods is None else methods
        found: dict[str, Spec] = {}
        for problem in self.problems:
            for place, method, most, fields in cells:
                if place != problem or method not in wanted:
                    continue
                for seed in range(min(seeds, most)):
                    spec = self.spec(problem, method, seed=seed, **(fields | change))
                    found.setdefault(spec.digest, spec)
        return list(found.values())

    def _cells(self) -> list[tuple[str, str, int, dict[str, Any]]]:
        """(problem, method, most seeds, changes) of the grid proper."""
        cells = []
        for problem in self.problems:
            for method, row in self.methods.items():
                cells.append((problem, method, int(row.get("seeds", 10**9)), dict[str, Any]()))
        for sweep in self.sweeps:
            for problem in sweep.get("problems", self.problems):
                for method in sweep["methods"]:
                    for p_solve in sweep["p_solve"]:
                        most = int(sweep.get("seeds", self.methods[method].get("seeds", 10**9)))
                        policy = {"policy": sweep["policy"]} if "policy" in sweep else {}
                        cells.append((problem, method, most, {"settings": {"p_solve": p_solve} | policy}))
        return cells

    def _timed(self, engine: str) -> list[tuple[str, str, int, dict[str, Any]]]:
        """The same for a generic engine: few epochs, the test data looked at once, at the end."""
        timing = self.timing or {"methods": list(self.methods)}
        # A row of an epoch with the test regret would cost as many solves again, outside the clock.
        fields: dict[str, Any] = {"options": self.options | {"engine": engine}, "watch": False}
        if "epochs" in timing:
            fields["epochs"] = timing["epochs"]
        cells: list[tuple[str, str, int, dict[str, Any]]] = []
        for problem in timing.get("problems", self.problems):
            for method in timing["methods"]:
                cached = method_table.method(method).cached
                settings = [{"p_solve": p} for p in timing.get("p_solve", ()) if cached] or [{}]
                seeds = int(timing.get("seeds", 1))
                cells += [(problem, method, seeds, fields | {"settings": values}) for values in settings]
        return cells

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
    """Grids behind a word of the command line: ``all`` stands for the paper's."""
    if name == "all":
        return list(GROUPS)
    if name not in names():
        raise InputError(f"group must be one of all, {', '.join(names())}, got {name!r}")
    return [name]


def load_grid(name: str) -> Grid:
    """Read a grid that comes with the library.

    >>> load_grid("knapsack").spec("knapsack-60", "spo").epochs
    4
    """
    groups(name)
    text = (_folder() / f"{name}.toml").read_text(encoding="utf-8")
    return read_grid(name, text)


def read_grid(name: str, text: str) -> Grid:
    """Make a grid of the text of a TOML file."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"the grid {name!r} is no valid TOML: {error}") from error
    for key, (kind, inner) in SHAPES.items():
        part = values.get(key, kind())
        members = list(part.values()) if isinstance(part, dict) else part
        if not isinstance(part, kind) or not all(isinstance(member, inner) for member in members):
            raise FileError(f"the grid {name!r}: field {key!r} has the wrong type")
    for key in ("problems", "sweeps", "tables"):
        values[key] = tuple(values.get(key, ()))
    rows = [*values["sweeps"], *values["tables"], values.get("timing", {})]
    for row, (key, inner) in ((row, item) for row in rows for item in LISTS.items()):
        if key in row and not (isinstance(row[key], list) and all(isinstance(member, inner) for member in row[key])):
            raise FileError(f"the grid {name!r}: field {key!r} must be a list, got {row[key]!r}")
    if any(not isinstance(row.get("seeds", 1), int) for row in (*rows, *values.get("methods", {}).values())):
        raise FileError(f"the grid {name!r}: seeds must be whole numbers")
    if unknown := [row["kind"] for row in values["tables"] if row.get("kind", "") not in TABLES]:
        raise FileError(f"the grid {name!r}: a table is of kind 'timing' or 'policies', or of none, got {unknown[0]!r}")
    if not all("methods" in row and "p_solve" in row for row in values["sweeps"]):
        raise FileError(f"the grid {name!r}: every sweep needs methods and p_solve")
    try:
        return Grid(name=name, **values)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        if isinstance(error, RegretlessError):
            raise
        raise FileError(f"the grid {name!r} is incomplete or has an unknown field: {error}") from error


def _folder() -> Any:
    return resources.files("regretless.paper") / "grids"
