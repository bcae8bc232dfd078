"""One decision in a log: what it was made from, what was decided, and the cells of its row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from regretless.milp import Floats
from regretless.tables.row_names import row_key

COLUMNS = (
    "key", "run", "instance", "at", "features", "constraints", "predicted", "decision", "objective", "status", "found",
    "gap", "two_stage",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Record:
    """One decision in the log.

    Attributes:
        run: the run that decided, as ``add_run`` returned it.
        instance: name of the instance.
        features: as the model saw them.
        predicted: ``(d,)`` predicted costs.
        decision: ``(n,)`` values of all variables; NaN where there is none.
        objective: at the predicted costs; NaN where there is no decision.
        status, found: how the decision was found.
        constraints: what differs from the model of the run, by column as in a table of constraints.
        gap: proven relative gap; ``None`` where there is none.
        two_stage: ``(d,)`` costs that the two-stage baseline predicts; ``None`` where the run has no baseline.
        at: when it was decided, in UTC.
    """

    run: str
    instance: str
    features: Floats
    predicted: Floats
    decision: Floats
    objective: float
    status: str
    found: str
    constraints: Mapping[str, float]
    gap: float | None = None
    two_stage: Floats | None = None
    at: str = ""

    @property
    def key(self) -> str:
        """The same run, instance, features and constraints are the same decision."""
        return decision_key(self.run, self.instance, self.features, self.constraints)


def decision_key(run: str, instance: str, features: Floats, constraints: Mapping[str, float]) -> str:
    """Hash of what determines a decision; a day that names the instance may be written in any form."""
    words = json.dumps([run, row_key(instance), sorted(constraints.items())])
    return hashlib.sha256(words.encode() + np.ascontiguousarray(features, dtype=np.float64).tobytes()).hexdigest()[:32]


def row_of(key: str, record: Record) -> tuple[object, ...]:
    """The cells of a record, in the order of ``COLUMNS``."""
    blobs = [np.asarray(part, dtype="<f8").tobytes() for part in (record.features, record.predicted, record.decision)]
    two_stage = None if record.two_stage is None else np.asarray(record.two_stage, dtype="<f8").tobytes()
    objective = None if np.isnan(record.objective) else float(record.objective)
    at = record.at or datetime.now(UTC).isoformat(timespec="seconds")
    return (
        key, record.run, record.instance, at, blobs[0], json.dumps(dict(sorted(record.constraints.items()))),
        blobs[1], blobs[2], objective, record.status, record.found, record.gap, two_stage,
    )  # fmt: skip


def record_of_row(row: Sequence[object]) -> Record:
    """Read what ``row_of`` wrote; a damaged row is an error of Python."""
    cell = dict(zip(COLUMNS, row, strict=True))

    def numbers(name: str) -> Floats:
        return np.frombuffer(cell[name], dtype="<f8")  # type: ignore[call-overload,no-any-return]

    return Record(
        run=str(cell["run"]),
        instance=str(cell["instance"]),
        features=numbers("features"),
        predicted=numbers("predicted"),
        decision=numbers("decision"),
        objective=np.nan if cell["objective"] is None else float(cell["objective"]),  # type: ignore[arg-type]
        status=str(cell["status"]),
        found=str(cell["found"]),
        constraints=dict(json.loads(str(cell["constraints"])).items()),
        gap=None if cell["gap"] is None else float(cell["gap"]),  # type: ignore[arg-type]
        two_stage=None if cell["two_stage"] is None else numbers("two_stage"),
        at=str(cell["at"]),
    )
