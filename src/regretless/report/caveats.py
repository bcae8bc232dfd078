"""What must be known before the figures are believed: failures, gaps, bounds, values that are not finite."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from regretless.report.collected import DAMAGED, DONE, FAILED, UNFINISHED, Collected, Run
from regretless.report.markup import Markup, tag

SHOWN = 40


def cautions(collected: Collected) -> Markup | None:
    """A list of what stands against the figures; ``None`` where nothing does."""
    done = [run for run in collected.runs if run.status == DONE]
    items: list[str] = []
    _count(items, done, lambda run: _positive(run, "not_optimal"), "labels that were not solved to optimality: the "
           "regret is only a bound there")  # fmt: skip
    _count(items, done, lambda run: _positive(run, "failed"), "test instances whose solve failed: those are left out "
           "of the regret")  # fmt: skip
    _count(items, done, lambda run: _positive(run, "cut_short"), "decisions that were not proven optimal: the regret "
           "may be larger than the predictions deserve")  # fmt: skip
    _count(items, done, lambda run: _positive(run, "training_labels_not_optimal"), "training labels that were not "
           "proven optimal")  # fmt: skip
    _count(items, done, lambda run: _positive(run, "training_failed"), "solves that failed in training")
    _count(items, done, _not_finite, "a regret that is missing or not finite: they are not in the means")
    for status, words in ((FAILED, "failed"), (DAMAGED, "cannot be read"), (UNFINISHED, "not finished")):
        number = sum(run.status == status for run in collected.runs)
        if number:
            items.append(f"{number} of {len(collected.runs)} runs {_verb(status, number)}{words}.")
    items += [_sentence(remark) for remark in collected.remarks]
    if not items:
        return None
    listed = tag("ul", *(tag("li", item) for item in items))
    return tag("section", tag("h2", "Read with care"), listed, class_="care", id="care")


def failures(runs: Iterable[Run]) -> Markup | None:
    """Every run that did not end well, with its error."""
    bad = [run for run in runs if run.status in (FAILED, DAMAGED, UNFINISHED)]
    if not bad:
        return None
    items = []
    for run in bad[:SHOWN]:
        seed = f", seed {run.spec['seed']}" if "seed" in run.spec else ""
        name = tag("summary", tag("strong", f"{run.method} on {run.problem}{seed}"), f" {run.status} ",
                   tag("code", run.name))  # fmt: skip
        text = run.error or "The run was started and has not ended: the same command goes on with it."
        items.append(tag("details", name, tag("pre", text), open=len(bad) <= 5))
    if len(bad) > SHOWN:
        items.append(tag("p", f"And {len(bad) - SHOWN} more.", class_="note"))
    return tag("section", tag("h2", "Runs without a result"), *items, id="failures")


def _count(items: list[str], runs: list[Run], test: Callable[[Run], bool], words: str) -> None:
    names = sorted({f"{run.method} on {run.problem}" for run in runs if test(run)})
    if names:
        listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        items.append(f"{sum(test(run) for run in runs)} runs have {words} ({listed}).")


def _positive(run: Run, name: str) -> bool:
    value = run.metric(name)
    return value is not None and value > 0


def _not_finite(run: Run) -> bool:
    value = run.metric("regret")
    return value is None or not math.isfinite(value)


def _verb(status: str, number: int) -> str:
    return {UNFINISHED: "is " if number == 1 else "are "}.get(status, "")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
