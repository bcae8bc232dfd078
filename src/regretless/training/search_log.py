"""The checkpoint of a search: the values of its candidates, from which it is repeated without solving."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regretless.errors import FileError
from regretless.problem import Problem
from regretless.solvers import found_decisions
from regretless.storage import MALFORMED, load_state, save_state
from regretless.training.checkpoint import refuse_another

KIND, VERSION = "search", 1


class SearchLog:
    """Generations of a search, written to a file after each of them.

    A search that draws its candidates from a seed depends only on their values. With the same values it reaches the
    same state bit for bit, so that a checkpoint needs only the values, whatever the internal state of the search is.

    Args:
        path: of the file; ``None`` writes nothing.
        settings: everything that determines the numbers of the search, as plain data.
        problem: whose decisions (``problem.found``) are stored, too: a search that is repeated solves nothing.

    Raises:
        FileError: the file is damaged, or of another search.
    """

    def __init__(self, path: Path | str | None, settings: dict[str, Any], problem: Problem | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.settings, self.problem = settings, problem
        self.values: list[list[float]] = []
        self.rows: list[dict[str, Any]] = []
        if self.path is not None and self.path.exists():
            self._load(self.path)

    def __len__(self) -> int:
        return len(self.rows)

    def append(self, values: list[float], row: dict[str, Any]) -> None:
        """Add a generation: the values of its candidates, and its row of the history."""
        self.values.append(values)
        self.rows.append(row)
        if self.path is not None:
            state: dict[str, Any] = {"settings": self.settings, "values": self.values, "rows": self.rows}
            state["found"] = found_decisions.saved(self.problem)
            save_state(self.path, state, kind=KIND, version=VERSION)

    def _load(self, path: Path) -> None:
        state = load_state(path, kind=KIND, version=VERSION)
        for name, kind in (("settings", dict), ("values", list), ("rows", list)):
            if not isinstance(state, dict) or not isinstance(state.get(name), kind):
                raise FileError(f"{path}: field {name!r} is missing or is not of type {kind.__name__}")
        refuse_another(path, "search", state["settings"], self.settings)
        good = len(state["values"]) == len(state["rows"]) and all(
            isinstance(row, dict) and isinstance(values, list) and all(isinstance(value, float) for value in values)
            for row, values in zip(state["rows"], state["values"], strict=False)
        )
        if not good:
            raise FileError(f"{path}: fields 'values' and 'rows' do not fit each other")
        self.values, self.rows = state["values"], state["rows"]
        try:
            found_decisions.restore(self.problem, state.get("found"))
        except MALFORMED as error:
            raise FileError(f"{path}: field 'found' holds no decisions: {error}") from error
