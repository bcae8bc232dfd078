"""What a reader must know before relying on the figures: failures, gaps, bounds, values that are not finite."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from regretless.report.report_data import DAMAGED, DONE, FAILED, UNFINISHED, ReportData, Run

# Count in metrics.json -> what a positive one means.
COUNTS = {
    "not_optimal": "labels that were not solved to optimality: the regret is only a bound there",
    "failed": "test instances whose solve failed: those are left out of the regret",
    "cut_short": "decisions that were not proven optimal: the regret may be larger than the predictions deserve",
    "training_labels_not_optimal": "training labels that were not proven optimal",
    "training_failed": "solves that failed in training",
}


def cautions(data: ReportData) -> list[str]:
    """Sentences that limit what the figures say; none where nothing does."""
    done = [run for run in data.runs if run.status == DONE]
    found = [
        _affected(done, lambda run, name=name: (run.metric(name) or 0) > 0, words) for name, words in COUNTS.items()
    ]
    found.append(_affected(done, _not_finite, "a regret that is missing or not finite: they are not in the means"))
    for status, one, many in (
        (FAILED, "run failed", "runs failed"),
        (DAMAGED, "run cannot be read", "runs cannot be read"),
        (UNFINISHED, "run is not finished", "runs are not finished"),
    ):
        number = sum(run.status == status for run in data.runs)
        if number:
            found.append(f"{number} of {len(data.runs)} {one if len(data.runs) == 1 else many}.")
    return [sentence for sentence in found if sentence] + [_sentence(remark) for remark in data.remarks]


def without_result(runs: Sequence[Run]) -> list[tuple[Run, str]]:
    """Runs that did not end well, each with its error or what to do."""
    unfinished = "The run was started and is not finished: the same command continues it."
    return [(run, run.error or unfinished) for run in runs if run.status in (FAILED, DAMAGED, UNFINISHED)]


def _affected(runs: Sequence[Run], test: Callable[[Run], bool], words: str) -> str:
    affected = [run for run in runs if test(run)]
    names = sorted({f"{run.method} on {run.problem}" for run in affected})
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    count = "1 run has" if len(affected) == 1 else f"{len(affected)} runs have"
    return f"{count} {words} ({listed})." if names else ""


def _not_finite(run: Run) -> bool:
    value = run.metric("regret")
    return value is None or not math.isfinite(value)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
