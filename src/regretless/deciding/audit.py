"""The audit of a log: what logged decisions cost at the true costs, beside the best ones and those of two-stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from regretless.begun_solves import beside, kept_until_done
from regretless.deciding.audited_run import AuditedDay, AuditedRun, verdict_of, worst_days
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record
from regretless.deciding.drift import Drift, feature_drift, regret_drift
from regretless.errors import FileError, InputError
from regretless.listing import listed, missing_and_unknown
from regretless.progress import track
from regretless.runs.held_out import HeldOutView, per_instance
from regretless.search.verdict import Verdict
from regretless.tables.row_names import row_key


@dataclass(frozen=True)
class Audit:
    """What a log is worth so far.

    Attributes:
        days: the decisions whose true costs are known, in the order of the costs.
        sense: of the objective.
        verdict: gain over two-stage with a paired interval; ``None`` where no day has a baseline.
        regret_drift, feature_drift: what the tests say.
        waiting: names of logged instances whose true costs are not there yet.
        not_logged: names of instances with costs and without a decision.
        superseded: decisions that were replaced by a later one of the same instance.
        infeasible: decisions that were infeasible; they are left out of the figures.
    """

    days: tuple[AuditedDay, ...]
    sense: str
    verdict: Verdict | None
    regret_drift: Drift
    feature_drift: Drift
    waiting: tuple[str, ...]
    not_logged: tuple[str, ...]
    superseded: int
    infeasible: int

    @property
    def known(self) -> list[AuditedDay]:
        """Days with a regret."""
        return [day for day in self.days if day.regret is not None]

    @property
    def worst(self) -> list[AuditedDay]:
        """The ten days of largest regret; those without a regret but for rounding are left out."""
        return worst_days(self.known)

    @property
    def relative_regret(self) -> float | None:
        """Sum of the regrets over the sum of the absolute best objectives; ``None`` where that is zero."""
        scale = sum(abs(day.best or 0.0) for day in self.known)
        return sum(day.regret or 0.0 for day in self.known) / scale if scale else None

    def totals(self) -> dict[str, float | None]:
        """Sums over all days with a regret; those with two-stage over the days that have both."""
        both = [day for day in self.known if day.gain is not None]
        total: dict[str, float | None] = {
            "days": len(self.known),
            "objective": float(sum(day.objective or 0.0 for day in self.known)),
            "best": float(sum(day.best or 0.0 for day in self.known)),
            "regret": float(sum(day.regret or 0.0 for day in self.known)),
            "relative_regret": self.relative_regret,
            "compared_days": len(both),
            "two_stage_regret": None, "gain": None, "gain_low": None, "gain_high": None,
            "changed_decisions": sum(bool(day.changed) for day in self.known),
        }  # fmt: skip
        if self.verdict is not None and both:
            n = len(both)
            total |= {"two_stage_regret": n * self.verdict.two_stage, "gain": n * self.verdict.gain}
            if n > 1:  # one day has no interval
                total |= {"gain_low": n * self.verdict.low, "gain_high": n * self.verdict.high}
        return total

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return vars(self) | {
            "totals": self.totals(), "verdict": None if self.verdict is None else self.verdict.as_dict(),
            "regret_drift": self.regret_drift.as_dict(), "feature_drift": self.feature_drift.as_dict(),
            "waiting": list(self.waiting), "not_logged": list(self.not_logged),
            "days": [day.as_dict() for day in self.days],
        }  # fmt: skip


def audit_decisions(
    log: DecisionLog | Path | str, costs: Any, *, workers: int | None = 1, time_limit: float | None = None,
    progress: bool | None = None,
) -> Audit:  # fmt: skip
    """Compare logged decisions with the true costs of their instances.

    Every instance, such as a day, is solved exactly twice: at the true costs, and at the costs predicted by two-stage.
    While an audit runs, its solves are stored in a file beside the log: after an interruption none is repeated.

    Args:
        log: of decisions, or its file.
        costs: file or data frame of true costs; the column ``instance``, or the one of ``--id``, holds the names under
            which the decisions were logged.
        workers: solver threads.
        time_limit: seconds per solve; by default that of the run.
        progress: show a bar; by default on a terminal.

    Raises:
        FileError, InputError: the log is empty, or no logged instance has costs; nothing was solved.
    """
    if not isinstance(log, DecisionLog):
        with DecisionLog(log, create=False) as opened:
            return audit_decisions(opened, costs, workers=workers, time_limit=time_limit, progress=progress)
    records = log.records()
    if not records:
        raise FileError(f"{log.path} holds no decision yet")
    latest = {row_key(record.instance): record for record in records}
    names = dict.fromkeys(record.run for record in latest.values())
    runs = {run: AuditedRun(log, run, workers=workers, time_limit=time_limit) for run in names}
    last = runs[records[-1].run]
    for run in runs.values():
        if run.saved.cost_names != last.saved.cost_names or run.saved.sense != last.saved.sense:
            raise InputError(
                f"{log.path} holds decisions of runs with different costs: audit them in logs of their own"
            )
    true = last.saved.costs(costs)
    source = "costs" if hasattr(costs, "columns") else costs
    if true.instance is None:
        raise InputError(
            f"{source} must have a column {last.saved.id!r} with the names that the decisions were logged under"
        )
    with_costs = {row_key(name): name for name in true.instance}
    if not set(with_costs) & set(latest):
        logged = [record.instance for record in latest.values()]
        raise InputError(
            f"no instance of {source} ({listed(true.instance)}) is in {log.path} ({listed(logged)}): use the "
            "names of the log"
        )
    not_logged, waiting = missing_and_unknown(tuple(latest), tuple(with_costs))
    pairs = [(latest[name], true.values[i]) for i, name in enumerate(with_costs) if name in latest]
    with kept_until_done(beside(log.path)) as begun:
        days = [
            runs[record.run].day(record, values, begun=begun)
            for record, values in track(pairs, total=len(pairs), label="audit", show=progress)
        ]
    return Audit(
        days=tuple(days),
        sense=last.saved.sense,
        verdict=verdict_of(days),
        regret_drift=_regret_drift([days[i] for i in _as_logged(records, [record for record, _ in pairs])], last.view),
        feature_drift=_feature_drift([record for record, _ in pairs if record.run == records[-1].run], last),
        waiting=tuple(latest[key].instance for key in waiting),
        not_logged=tuple(with_costs[key] for key in not_logged),
        superseded=len(records) - len(latest),
        infeasible=sum(record.found == "infeasible" for record, _ in pairs),
    )


def _as_logged(records: Sequence[Record], some: Sequence[Record]) -> list[int]:
    """The positions of some records in the order of the log: costs may come in any order, such as the newest first."""
    place = {id(record): i for i, record in enumerate(records)}
    return sorted(range(len(some)), key=lambda i: place[id(some[i])])


def _regret_drift(days: Sequence[AuditedDay], view: HeldOutView | None) -> Drift:
    """Compare the regrets of days in the order of the log."""
    regrets = np.array([np.nan if day.regret is None else day.regret for day in days])
    if view is not None and view.on == "test":
        return regret_drift(view.regrets.numpy(), regrets, what="the test data of training")
    half = len(regrets) // 2
    return regret_drift(regrets[:half], regrets[half:], what="the first half of the log")


def _feature_drift(records: Sequence[Record], run: AuditedRun) -> Drift:
    shape = run.saved.shape
    names = run.saved.feature_names or tuple(f"feature {j}" for j in range(shape[-1]))
    seen = np.stack([record.features.reshape(shape) for record in records]) if records else np.zeros((0, *shape))
    # The same mean as in training: another one differs by rounding, and the test would take that for a change.
    seen = per_instance(torch.from_numpy(seen)).numpy()
    reference = np.zeros((0, shape[-1])) if run.view is None else run.view.features.numpy()
    return feature_drift(reference, seen, names, what="the training data")
