"""The log of decisions: one SQLite file that is only ever appended to.

A decision counts as logged when ``append`` has returned: it is then committed and flushed. SQLite keeps the file whole
when a process is killed, and lets several processes write one after the other. Triggers refuse changes and deletions.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from regretless.deciding.decision_record import COLUMNS, Record, record_of_row, row_of
from regretless.errors import FileError
from regretless.storage import MALFORMED
from regretless.tables.row_names import row_key

# Marks a file as ours, whatever its name is.
APPLICATION, VERSION = 0x7267726C, 1
# Also for reading: SQLite keeps files beside the log.
UNWRITABLE = ("SQLITE_READONLY", "SQLITE_CANTOPEN")
WAIT_SECONDS = 60.0  # for another writer
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
            latest = self._latest([rows[-1][0] for record in records if (rows := self._rows(record.key))])
            for record in records:
                rows = self._rows(record.key)
                better = bool(rows) and rows[-1][1] == "infeasible" != record.found
                if rows and not better and latest.get(row_key(record.instance), 0) <= rows[-1][0]:
                    continue
                again = (f"{record.key}/{len(rows)}", replace(record, at="")) if rows else (record.key, record)
                done = self._db.execute(
                    f"INSERT INTO decisions ({', '.join(COLUMNS)}) VALUES ({marks})", row_of(*again)
                )
                latest[row_key(record.instance)] = done.lastrowid or 0
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

    def _rows(self, key: str) -> list[tuple[int, str]]:
        """Number of the row, and how it was found, of all rows of a decision."""
        return self._db.execute(f"SELECT id, found FROM decisions WHERE {OF_KEY}", [key] * 2).fetchall()

    def _latest(self, rows: Sequence[int]) -> dict[str, int]:
        """The last row per instance, by its key, among those from the first of the given ones on."""
        if not rows:
            return {}
        later = self._db.execute("SELECT id, instance FROM decisions WHERE id >= ? ORDER BY id", (min(rows),))
        return {row_key(instance): row for row, instance in later}

    def records(self) -> list[Record]:
        """All records, in the order in which they were logged."""
        with self._named():
            rows = self._db.execute(f"SELECT {', '.join(COLUMNS)} FROM decisions ORDER BY id")
            return [self._record(row) for row in rows]

    def _record(self, row: Sequence[object]) -> Record:
        try:
            return record_of_row(row)
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
