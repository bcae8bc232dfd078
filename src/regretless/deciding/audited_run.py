"""A run in a log: its model, what its training saw, and the comparison of one logged decision."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from regretless.begun_solves import BegunSolves
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record
from regretless.deciding.known_decisions import SAME, differ
from regretless.errors import FileError, InputError
from regretless.milp import MILP, Floats
from regretless.problem import Problem
from regretless.runs.held_out import FILE as HELD_OUT
from regretless.runs.held_out import HeldOutView, read_held_out
from regretless.search.verdict import Verdict, judge
from regretless.solve_batches import solve_batches
from regretless.storage import write_bytes
from regretless.tables.constraints import vary_one
from regretless.tables.saved_problem import ENCODING, SavedProblem, load_saved_problem
from regretless.tables.saved_problem import FILE as PROBLEM
from regretless.types import Status

WORST = 10
ROUNDING = 1e-12  # share of the largest objective, where an objective of about 0 is a sum that cancels


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


def losses(regrets: Sequence[float], best: Sequence[float]) -> list[bool]:
    """Which regrets are more than rounding explains, beside the best objectives; in whatever unit these are."""
    least = ROUNDING * max(map(abs, [*best, *regrets]), default=0.0)
    return [regret > max(SAME * abs(value), least) for regret, value in zip(regrets, best, strict=True)]


AnyDay = TypeVar("AnyDay", bound="Day")


@dataclass(frozen=True)
class Day:
    """One instance, of a log or of held-out data, with its true costs.

    Attributes:
        instance: its name.
        objective: of the decision at the true costs, in the sense of the model; ``None`` without a decision.
        best: the best objective in hindsight; ``None`` where the solve failed.
        regret: how much worse the decision is; ``None`` where one of both is missing.
        two_stage_regret: of what two-stage would have decided; ``None`` without a baseline.
        decided, hindsight: values of the variables with predicted costs.
        found: how the decision was found.
    """

    instance: str
    objective: float | None
    best: float | None
    regret: float | None
    two_stage_regret: float | None = None
    decided: Mapping[str, float] = field(default_factory=dict)
    hindsight: Mapping[str, float] = field(default_factory=dict)
    found: str = "solved"

    @property
    def gain(self) -> float | None:
        """How much better the decision is than that of two-stage; negative where it is worse."""
        if self.regret is None or self.two_stage_regret is None:
            return None
        return self.two_stage_regret - self.regret


def verdict_of(days: Sequence[Day]) -> Verdict | None:
    """The gain over two-stage with a paired interval; ``None`` where no day has a baseline."""
    both = [(day.two_stage_regret, day.regret, day.best) for day in days if day.gain is not None]
    return judge(*torch.tensor(both, dtype=torch.float64).T) if both else None


def worst_days(days: Sequence[AnyDay]) -> list[AnyDay]:
    """The ten days of largest regret; those without a regret but for rounding are left out."""
    lost = losses([day.regret or 0.0 for day in days], [day.best or 0.0 for day in days])
    return sorted(compress(days, lost), key=lambda day: -(day.regret or 0.0))[:WORST]


@dataclass(frozen=True, kw_only=True)
class AuditedDay(Day):
    """One logged decision.

    Attributes:
        at: when it was decided.
        status: how its solve ended.
        two_stage_objective, two_stage: of what two-stage would have decided, as ``objective`` and ``decided``.
        changed: whether the decision differs from that of two-stage.
        proven: whether the decisions in hindsight and of two-stage are proven optimal; if not, the regrets are bounds.
    """

    at: str
    status: str
    two_stage_objective: float | None
    changed: bool | None
    proven: bool
    two_stage: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return vars(self) | {name: dict(getattr(self, name)) for name in ("decided", "hindsight", "two_stage")}


class AuditedRun:
    """A run in the log: its model, and what its training saw; solves have ``time_limit``, or the limit of the run."""

    def __init__(self, log: DecisionLog, run: str, *, workers: int | None = 1, time_limit: float | None = None) -> None:
        self._log, content = log.path, log.files_of(run)
        with tempfile.TemporaryDirectory() as folder:
            try:
                for name in (PROBLEM, ENCODING, HELD_OUT):
                    if name in content:
                        write_bytes(Path(folder) / name, content[name])
                self.saved: SavedProblem = load_saved_problem(folder)
                self.view: HeldOutView | None = read_held_out(folder)
            except (FileError, TypeError) as error:  # a TypeError: text in the place of bytes
                raise FileError(f"{log.path}: the files of run {run} are damaged: {error}") from error
        self._places = places_of(self.saved.cost_names)
        self._how: dict[str, Any] = {"workers": workers, "time_limit": time_limit}

    @cached_property
    def _written(self) -> Problem:
        """Of the model as it is written: days without constraints of their own share it, and its engine."""
        return self.saved.problem_of(self.saved.milp, **self._how)

    def day(self, record: Record, costs: Floats, *, begun: BegunSolves | None = None) -> AuditedDay:
        """Compare one decision; an infeasible or missing one has no regret. Solves that ``begun`` has are not made."""
        milp = self._model(record)
        vectors = [costs] if record.two_stage is None else [costs, record.two_stage]
        written = milp is self.saved.milp
        problem = self._written if written else self.saved.problem_of(milp, **self._how)
        solved = _solve(problem, np.stack(vectors), begun or BegunSolves(None))
        proven = all(status is Status.OPTIMAL for _, status in solved)
        hindsight, *rest = (_solution(*row) for row in solved)
        two_stage = rest[0] if rest else None
        known = record.found != "infeasible" and np.isfinite(record.decision).all()
        decided = milp.solution(record.decision)[0] if known else None
        values = [_objective(milp, costs, one) for one in (decided, hindsight, two_stage)]
        changed = None
        if decided is not None and two_stage is not None:
            changed = differ(decided, two_stage)
        return AuditedDay(
            record.instance, values[0], values[1], self._regret(values[0], values[1]),
            self._regret(values[2], values[1]), self._named(decided), self._named(hindsight), record.found,
            at=record.at, status=record.status, two_stage_objective=values[2], two_stage=self._named(two_stage),
            changed=changed, proven=proven,
        )  # fmt: skip

    def _model(self, record: Record) -> MILP:
        """The model of a decision, which must fit it."""
        saved, d = self.saved, len(self.saved.cost_names)
        sizes = (record.features.size, record.predicted.size, record.decision.size)
        fits = sizes == (math.prod(saved.shape), d, saved.milp.n)
        if not fits or (record.two_stage is not None and record.two_stage.size != d):
            raise FileError(f"{self._log} is damaged: the decision for {record.instance!r} does not fit its model")
        try:
            return vary_one(saved.milp, record.constraints)
        except InputError as error:
            said = f"the decision for {record.instance!r} has constraints that do not fit its model: {error}"
            raise FileError(f"{self._log} is damaged: {said}") from error

    def _regret(self, value: float | None, best: float | None) -> float | None:
        if value is None or best is None:
            return None
        return value - best if self.saved.sense == "min" else best - value

    def _named(self, solution: Floats | None) -> Mapping[str, float]:
        return {} if solution is None else NamedValues(self._places, solution[: len(self._places)].copy())


def _solve(problem: Problem, costs: Floats, begun: BegunSolves) -> list[tuple[Tensor, Status]]:
    """The solution ``(width,)`` at each of the costs ``(m, d)``, with its status; those that are new are kept."""
    rows = torch.as_tensor(costs)
    keys = begun.keys(problem, rows, None)
    found = {} if keys is None else begun.find(problem, keys)
    rest = [i for i in range(len(rows)) if i not in found]
    for part in solve_batches(problem, len(rest), size=None, label="day", progress=False):
        solved = problem.solve(rows[rest[part]])
        if keys is not None:
            begun.add(problem, [keys[i] for i in rest[part]], solved.solution, solved.status)
        found |= dict(zip(rest[part], zip(solved.solution, solved.status, strict=True), strict=True))
    return [found[i] for i in range(len(rows))]


def _solution(row: Tensor, status: Status) -> Floats | None:
    """A solution in cost space; ``None`` where none was found."""
    good = status in (Status.OPTIMAL, Status.FEASIBLE, Status.TIME_LIMIT) and bool(torch.isfinite(row).all())
    return row.numpy() if good else None


def _objective(milp: MILP, costs: Floats, solution: Floats | None) -> float | None:
    if solution is None:
        return None
    known = np.append(costs, 1.0) if milp.has_fixed_cost else costs
    return float(solution @ known)
