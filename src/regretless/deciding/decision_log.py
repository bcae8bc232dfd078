"""The log of decisions: one SQLite file that is only ever appended to.

A decision counts as logged when ``append`` has returned: it is then committed and flushed. SQLite keeps the file whole
when a process is killed, and lets several processes write one after the other. Triggers refuse changes and deletions.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from regretless.errors import FileError
from regretless.milp import Floats
from regretless.storage import MALFORMED

# Marks a file as ours, whatever its name is.
APPLICATION, VERSION = 0x7267726C, 1
# Also for reading: SQLite keeps files beside the log.
UNWRITABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN")
WAIT_SECONDS = 60.0  # for another writer
COLUMNS = (
    "key", "run", "instance", "at", "features", "constraints", "predicted", "decision", "objective", "status", "found",
    "gap", "two_stage",
)  # fmt: skip
# Rows of one decision: those after the first have a number behind a slash.
OF_KEY = "key BETWEEN ? AND ? || '/~' ORDER BY id"
SCHEMA = f"""
CREATE TABLE files (run TEXT NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (run, name));
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, run TEXT NOT NULL, instance TEXT NOT NULL, at TEXT NOT NULL,
    features BLOB NOT NULL, constraints TEXT NOT NULL, predicted BLOB NOT NULL, decision BLOB NOT NULL, objective REAL,
    status TEXT NOT NULL, found TEXT NOT NULL, gap REAL, two_stage BLOB
);
CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER decisions_do_not_change BEFORE UPDATE ON decisions
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
"""


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
    """Hash of what determines a decision."""
    words = json.dumps([run, instance, sorted(constraints.items())])
    return hashlib.sha256(words.encode() + np.ascontiguousarray(features, dtype=np.float64).tobytes()).hexdigest()[:32]


class DecisionLog:
    """A file of decisions, with the runs that made them.

    Args:
        path: of the file.
        create: make it where it is missing.

    Raises:
        FileError: the file is missing, damaged, not a log of decisions, of a newer version, or cannot be written.
    """

    def __init__(self, path: Path | str, *, create: bool = True) -> None:
        self.path, self._lock = Path(path), threading.RLock()
        if not create and not self.path.is_file():
            raise FileError(f"there is no log of decisions {self.path}: make one with: regretless decide --log")
        with self._named():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
            try:
                self._db.execute("PRAGMA synchronous = FULL")
                if create:
                    self._prepare()
                self._refuse_another()
            except BaseException:
                self.close()  # Windows keeps a file that is open from being deleted or moved
                raise

    def __enter__(self) -> DecisionLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._named():
            return int(self._db.execute("SELECT count(*) FROM decisions").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add_run(self, files: Mapping[str, bytes]) -> str:
        """Keep the files of a run that an audit needs, once, and return the name of the run in the log."""
        digest = hashlib.sha256()
        for name in sorted(files):
            digest.update(f"{name}:{len(files[name])}:".encode() + files[name])
        run = digest.hexdigest()[:16]
        with self._writing():
            rows = [(run, name, content) for name, content in files.items()]
            self._db.executemany("INSERT OR IGNORE INTO files VALUES (?, ?, ?)", rows)
        return run

    def files_of(self, run: str) -> dict[str, bytes]:
        """The files of a run."""
        with self._named():
            return dict(self._db.execute("SELECT name, content FROM files WHERE run = ?", (run,)).fetchall())

    def append(self, records: Sequence[Record]) -> int:
        """Add records, and return how many rows were new; they are safe when it returns.

        The latest record of an instance is not added again. One that another replaced since is: it counts again. So is
        one with a feasible decision, where none was found in time before.
        """
        marks = ", ".join("?" * len(COLUMNS))
        new = 0
        with self._writing():
            for record in records:
                rows = self._db.execute(f"SELECT id, found FROM decisions WHERE {OF_KEY}", [record.key] * 2).fetchall()
                later = "SELECT 1 FROM decisions WHERE instance = ? AND id > ? LIMIT 1"
                better = bool(rows) and rows[-1][1] == "infeasible" != record.found
                if rows and not better and not self._db.execute(later, (record.instance, rows[-1][0])).fetchone():
                    continue
                again = (f"{record.key}/{len(rows)}", replace(record, at="")) if rows else (record.key, record)
                self._db.execute(f"INSERT INTO decisions ({', '.join(COLUMNS)}) VALUES ({marks})", _row(*again))
                new += 1
        return new

    def find(self, keys: Iterable[str]) -> dict[str, Record]:
        """The records that are there already, by key; of equal ones the last."""
        found = {}
        with self._named():
            for key in keys:
                for row in self._db.execute(f"SELECT {', '.join(COLUMNS)} FROM decisions WHERE {OF_KEY}", [key] * 2):
                    found[key] = self._record(row)
        return found

    def records(self) -> list[Record]:
        """All records, in the order in which they were logged."""
        with self._named():
            rows = self._db.execute(f"SELECT {', '.join(COLUMNS)} FROM decisions ORDER BY id")
            return [self._record(row) for row in rows]

    def _record(self, row: Sequence[object]) -> Record:
        try:
            return _record(row)
        except MALFORMED as error:
            name = row[COLUMNS.index("instance")]
            raise FileError(f"{self.path} is damaged: the decision for {name!r} cannot be read: {error}") from error

    def _prepare(self) -> None:
        """Make the tables of an empty file; of two processes one does."""
        if self._db.execute("PRAGMA application_id").fetchone()[0]:
            return
        self._write_ahead()
        with self._writing():
            if not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in _statements(SCHEMA):
                    self._db.execute(statement)

    def _write_ahead(self) -> None:
        """Switch to a write-ahead log. SQLite does not wait for other processes here, as it does everywhere else."""
        deadline = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _refuse_another(self) -> None:
        mark, version = (
            self._db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        )
        if mark != APPLICATION:
            raise FileError(f"{self.path} is not a log of decisions")
        if version > VERSION:
            raise FileError(
                f"{self.path} is of version {version}, this library reads up to {VERSION}; upgrade regretless"
            )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction: all of it or nothing, and committed at the end of the block."""
        with self._named():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def _named(self) -> Iterator[None]:
        """One thread at a time; errors of SQLite name the file."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, OSError) as error:
            if isinstance(error, FileError):
                raise
            unwritable = getattr(error, "sqlite_errorname", "").startswith(UNWRITABLE)
            remedy = "; are the file and its folder there and writable?" if unwritable else ""
            raise FileError(f"cannot use {self.path} as a log of decisions: {error}{remedy}") from error


def _statements(script: str) -> Iterator[str]:
    """Split a script: ``executescript`` would end the transaction."""
    text = ""
    for line in script.strip().splitlines():
        text += line + "\n"
        if sqlite3.complete_statement(text):
            yield text
            text = ""


def _row(key: str, record: Record) -> tuple[object, ...]:
    blobs = [np.asarray(part, dtype="<f8").tobytes() for part in (record.features, record.predicted, record.decision)]
    two_stage = None if record.two_stage is None else np.asarray(record.two_stage, dtype="<f8").tobytes()
    objective = None if np.isnan(record.objective) else float(record.objective)
    at = record.at or datetime.now(UTC).isoformat(timespec="seconds")
    return (
        key, record.run, record.instance, at, blobs[0], json.dumps(dict(sorted(record.constraints.items()))),
        blobs[1], blobs[2], objective, record.status, record.found, record.gap, two_stage,
    )  # fmt: skip


def _record(row: Sequence[object]) -> Record:
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
