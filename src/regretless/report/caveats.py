"""What a reader must know before relying on the figures: failures, gaps, bounds, values that are not finite."""

from __future__ import annotations

import math
from collections.abc import Sequence

from regretless.listing import listed
from regretless.report.report_data import DAMAGED, DONE, FAILED, UNFINISHED, ReportData, Run

# Count in metrics.json -> what a positive one means.
COUNTS = {
    "not_optimal": "labels that were not solved to optimality: the regret is only a bound there",
    "failed": "test instances whose solve failed: those are left out of the regret",
    "cut_short": "decisions that were not proven optimal: the regret may be larger than the predictions deserve",
    "training_labels_not_optimal": "training labels that were not proven optimal",
    "training_failed": "solves that failed in training",
}
# Which data a run without test data was evaluated on -> its name.
ON = {"validation": "validation", "train": "training"}


def cautions(data: ReportData) -> list[str]:
    """Sentences that limit what the figures say; none where nothing does."""
    done = [run for run in data.runs if run.status == DONE]
    found = [_affected([run for run in done if (run.metric(name) or 0) > 0], words) for name, words in COUNTS.items()]
    lost = [run for run in done if (regret := run.metric("regret")) is None or not math.isfinite(regret)]
    found.append(_affected(lost, "a regret that is missing or not finite: they are not in the means"))
    for on, name in ON.items():
        words = f"no test data: figures are on the {name} data and say little about new data"
        found.append(_affected([run for run in done if run.metrics.get("on") == on], words))
    for status, words in ((FAILED, "failed"), (DAMAGED, "cannot be read"), (UNFINISHED, "not finished")):
        number = sum(run.status == status for run in data.runs)
        verb = ("is " if number == 1 else "are ") if status == UNFINISHED else ""
        found.append(f"{number} of {len(data.runs)} runs {verb}{words}." if number else "")
    remarks = [remark[:1].upper() + remark[1:] + ("" if remark.endswith(".") else ".") for remark in data.remarks]
    return [sentence for sentence in found if sentence] + remarks


def without_result(runs: Sequence[Run]) -> list[tuple[Run, str]]:
    """Runs that did not end well, each with its error or what to do."""
    unfinished = "The run was started and is not finished: the same command continues it."
    return [(run, run.error or unfinished) for run in runs if run.status in (FAILED, DAMAGED, UNFINISHED)]


def _affected(runs: Sequence[Run], words: str) -> str:
    names = sorted({f"{run.method} on {run.problem}" for run in runs})
    return f"{len(runs)} {'run has' if len(runs) == 1 else 'runs have'} {words} ({listed(names, 6)})." if runs else ""
