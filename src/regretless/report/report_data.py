"""What a report is made of: plain frozen data, read once from a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from regretless.charts.text import number
from regretless.deciding.audited_run import Day
from regretless.errors import RegretlessError
from regretless.report.attachments import Attachment
from regretless.runs.spec import Spec

DONE, FAILED, UNFINISHED, DAMAGED = "done", "failed", "unfinished", "damaged"


@dataclass(frozen=True)
class Run:
    """One run folder.

    Attributes:
        name: of the folder.
        spec: the content of ``spec.json``.
        status: ``done``, ``failed``, ``unfinished`` or ``damaged``.
        metrics: the figures of the finished run.
        history: one mapping per epoch, numbers only.
        environment: versions and machine.
        error: why the run failed or cannot be read.
        search: the content of ``search.json``, for a search.
        days: what was decided per instance of the held-out data, where the run has kept it.
    """

    name: str
    spec: Mapping[str, Any]
    status: str
    metrics: Mapping[str, Any] = field(default_factory=dict)
    history: tuple[Mapping[str, float | None], ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    error: str = ""
    search: Mapping[str, Any] = field(default_factory=dict)
    days: tuple[Day, ...] = ()

    @property
    def problem(self) -> str:
        """Name of the problem; for a model file, its name without the folder."""
        name = str(self.spec.get("problem", "unknown problem"))
        return PurePath(name).name if "features" in self.part("options") else name

    @property
    def method(self) -> str:
        """Name of the method."""
        return str(self.spec.get("method", "unknown method"))

    @property
    def p_solve(self) -> float | None:
        """Probability of a solve, also for a method that is unknown to this version of the library."""
        try:
            return Spec.from_dict(dict(self.spec)).p_solve
        except (RegretlessError, TypeError, ValueError):
            return number(self.part("settings").get("p_solve"))

    def part(self, name: str) -> dict[str, Any]:
        """``settings`` or ``options`` of the specification; empty where the file has none."""
        value = self.spec.get(name)
        return dict(value) if isinstance(value, Mapping) else {}

    def metric(self, name: str) -> float | None:
        """One figure; ``None`` where there is none. ``training_solves`` are those of training and of its search."""
        if name == "training_solves":
            solves, scoring = self.metric("solves"), self.metric("scoring_solves")
            return solves if solves is None or scoring is None else solves + scoring
        return number(self.metrics.get(name))


@dataclass(frozen=True)
class ReportData:
    """Everything a report shows.

    Attributes:
        title: of the page.
        runs: in the order of problem, method and seed.
        attachments: tables and figures that were written beside the runs.
        remarks: files that were left out, and why.
    """

    title: str
    runs: tuple[Run, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    remarks: tuple[str, ...] = ()
