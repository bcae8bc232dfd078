"""Audits made by hand."""

from __future__ import annotations

from dataclasses import replace

import torch

from regretless.deciding.audit import Audit
from regretless.deciding.audited_run import AuditedDay
from regretless.deciding.drift import Drift
from regretless.search.verdict import judge

NO_DRIFT = Drift("Mann-Whitney U", 0.5, False, (), "No drift of the regret was found.")


def audited_day(k: int, regret: float | None, two_stage: float | None = None) -> AuditedDay:
    value = None if regret is None else 100.0 + regret
    return AuditedDay(
        f"2024-01-{k + 1:02d}", value, 100.0, regret, two_stage, {"x": 1.0, "y": 0.0}, {"x": 0.0, "y": 0.0},
        at="2024-01-01T00:00:00+00:00", status="optimal", two_stage={"x": 1.0, "y": 0.0}, proven=True,
        two_stage_objective=None if two_stage is None else 100.0 + two_stage,
        changed=None if two_stage is None else regret != two_stage,
    )  # fmt: skip


def make_audit(*pairs: tuple[float | None, float | None], **changed: object) -> Audit:
    days = tuple(audited_day(k, *pair) for k, pair in enumerate(pairs))
    both = [(two_stage, regret) for regret, two_stage in pairs if regret is not None and two_stage is not None]
    both = [(*pair, 100.0) for pair in both]
    verdict = judge(*torch.tensor(both, dtype=torch.float64).T) if both else None
    made = Audit(days, "min", verdict, NO_DRIFT, replace(NO_DRIFT, test="Kolmogorov-Smirnov"), (), (), 0, 0)
    return replace(made, **changed)  # type: ignore[arg-type]
