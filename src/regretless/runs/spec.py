"""A run's specification: everything that determines its numbers, and nothing else."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, fields
from types import UnionType
from typing import Any

from regretless.errors import InputError
from regretless.number_checks import check_numbers
from regretless.solvers.time_limit import check_time_limit
from regretless.storage import strict
from regretless.training import methods

INITS = ("random", "shared")
STARTS = ("", "two-stage", "random")  # or the folder of a run
# Fields and their types: specifications are also read from files.
KINDS: dict[str, type | UnionType] = {
    "problem": str, "method": str, "seed": int, "init": str, "epochs": int, "lr": int | float,
    "batch_size": int | None, "settings": dict, "options": dict, "watch": bool, "patience": int,
    "start": str, "retrain": str,
}  # fmt: skip


@dataclass(frozen=True)
class Spec:
    """What to run. ``check_spec`` also checks the settings and the options, by the code that uses them.

    Attributes:
        problem: name in the table of problems, or the path of a model file.
        method: name in the table of methods.
        seed: of the shuffling, the coin and, with ``init="random"``, the initial weights.
        init: initial weights: ``"random"`` for every seed, or ``"shared"`` by all, as the published deviations need.
        epochs, lr: of the training.
        batch_size: instances per step; ``None`` takes the method's own, or the problem's.
        settings: of the method, such as ``p_solve``, ``grow_at`` or ``lambda_``.
        options: of the problem, such as ``split``, ``engine`` or ``days``.
        watch: whether to write the test regret of every epoch into the history.
        patience: epochs without a better validation regret before training stops; 0 trains to the end.
        start: initial weights: empty for the method's default, ``"two-stage"``, ``"random"``, or the folder of a run.
        retrain: folder of the run whose weights, cache and data this run goes on from; empty for none.
    """

    problem: str
    method: str
    seed: int = 0
    init: str = "random"
    epochs: int = 20
    lr: float = 0.1
    batch_size: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    watch: bool = True
    patience: int = 0
    start: str = ""
    retrain: str = ""

    def __post_init__(self) -> None:
        for name, kind in KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                raise InputError(f"{name} of a run's specification must not be {type(value).__name__}: {value!r}")
        if "time_limit" in self.options and check_time_limit(self.options["time_limit"]) == math.inf:
            object.__setattr__(self, "options", self.options | {"time_limit": None})  # as in the file of the run
        methods.method(self.method)
        if self.init not in INITS:
            raise InputError(f"init must be 'random' or 'shared', got {self.init!r}")
        check_numbers(
            seed=self.seed, epochs=self.epochs, lr=self.lr, batch_size=self.batch_size, patience=self.patience
        )

    @property
    def p_solve(self) -> float | None:
        """Probability of a solve: 1 for methods that always solve, ``None`` for searches and those that never do."""
        row = methods.method(self.method)
        if row.cached:
            return float(self.settings.get("p_solve", 0.05))
        return 1.0 if row.solves and self.method != "auto" else None

    @property
    def digest(self) -> str:
        """Hash of the specification, which names the run's folder."""
        return hashlib.sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def problem_key(self) -> str:
        """Equal for runs on the same problem with the same data, which is then loaded once."""
        return json.dumps([self.problem, self.options], sort_keys=True)

    @property
    def first_weights(self) -> int:
        """Seed of random initial weights."""
        return 0 if self.init == "shared" else self.seed

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON; without ``start`` and ``retrain`` where they are empty, as in version 0.1.

        Settings that are infinite are ``None``.
        """
        plain = strict(asdict(self))
        return {name: value for name, value in plain.items() if name not in ("start", "retrain") or value}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Spec:
        """Read what ``as_dict`` wrote; an unknown field is an error."""
        if not isinstance(values, dict):
            raise InputError(f"a run's specification is an object of fields, got {type(values).__name__}")
        known = {f.name for f in fields(cls)}
        unknown = set(values) - known
        if unknown:
            raise InputError(f"a run's specification does not know {sorted(unknown)[0]!r}; it has {sorted(known)}")
        try:
            return cls(**values)
        except TypeError as error:
            raise InputError(f"a run's specification is incomplete or wrong: {error}") from error
