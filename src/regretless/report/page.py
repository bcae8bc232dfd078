"""The page: sections in order, one style sheet and one script inside, and nothing from outside."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from importlib import resources

from regretless.report.caveats import cautions, failures
from regretless.report.collected import DONE, Collected, Run
from regretless.report.figures import charts
from regretless.report.findings import finding
from regretless.report.groups import Section, sections
from regretless.report.markup import Markup, data_block, tag
from regretless.report.notes import explanation, published_remarks
from regretless.report.numbers import finite, number, show_seconds
from regretless.report.protocol import environment, protocol
from regretless.report.questions import questions
from regretless.report.series_style import Look, looks
from regretless.report.summary import summary

Part = tuple[str, str, Markup]
EMBEDDED = ("regret", "relative_regret", "mse", "auc", "epochs", "epoch_seconds", "solver_seconds", "solves",
            "lookups", "cache_size")  # fmt: skip


def render(collected: Collected) -> str:
    """Write the whole page; a pure function of what was collected.

    Args:
        collected: what ``collect`` read.

    Returns:
        An HTML document that loads nothing.
    """
    found = sections(collected.runs)
    appearance = looks((group.method, group.variant) for section in found for group in section.groups)
    parts: list[Part] = [*questions(collected), *_problems(found, appearance)]
    parts += [("meaning", "What the figures mean", explanation())]
    remarks = published_remarks(run.problem for run in collected.runs)
    parts += [("published", "Beside the published figures", remarks)] if remarks else []
    parts += [("protocol", "Protocol", _protocol(found, collected.runs))] if collected.runs else []
    bad = failures(collected.runs)
    parts += [("failures", "Runs without a result", bad)] if bad else []
    body = [_header(collected, found), _contents(parts), cautions(collected) or "", *(part for _, _, part in parts)]
    if not found:
        body.insert(1, _nothing(collected))
    return _document(collected.title, tag("main", *body), data_block("results", [_row(run) for run in collected.runs]))


def _document(title: str, main: Markup, data: Markup) -> str:
    style, script = _part("style.css"), _part("page.js")
    # Only this script and this style may act, even if something else ever got into the page.
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content="regretless"),
        tag("title", title),
        tag("link", rel="icon", href="data:,"),
        tag("style", style),
    )
    foot = tag("footer", tag("p", "Made by regretless. The figures of every run are in this page as JSON, in the "
               "element with the id “results”."))  # fmt: skip
    body = tag("body", main, foot, data, tag("script", script))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _header(collected: Collected, found: Sequence[Section]) -> Markup:
    done = [run for run in collected.runs if run.status == DONE]
    seconds = math.fsum(finite(run.metric("train_seconds") for run in done))
    facts = [
        ("problems", str(len({run.problem for run in collected.runs}))),
        ("methods", str(len({run.method for run in collected.runs}))),
        ("seeds", str(len({str(run.spec.get("seed")) for run in collected.runs}))),
        ("finished runs", f"{len(done):,} of {len(collected.runs):,}"),
        ("training and watching", show_seconds(seconds)),
    ]
    listed = tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in facts), class_="facts")
    methods = ", ".join(dict.fromkeys(group.method for section in found for group in section.groups))
    what = tag("p", f"Compared: {methods}.", class_="lead") if methods else ""
    return tag("header", tag("h1", collected.title), what, listed if collected.runs else "")


def _contents(parts: Sequence[Part]) -> Markup:
    links = [tag("li", tag("a", heading, href=f"#{anchor}")) for anchor, heading, _ in parts]
    return tag("nav", tag("ul", *links), aria_label="Contents")


def _problems(found: Sequence[Section], appearance: dict[tuple[str, str], Look]) -> list[Part]:
    parts = []
    for index, section in enumerate(found):
        anchor = f"problem-{index}"
        content = [tag("h2", section.label), finding(section) or "", summary(section), charts(section, appearance)]
        parts.append((anchor, section.label, tag("section", *content, id=anchor, class_="problem")))
    return parts


def _protocol(found: Sequence[Section], runs: Sequence[Run]) -> Markup:
    table: list[object] = [protocol(found)] if found else []
    return tag("section", tag("h2", "Protocol"), *table, tag("h3", "Environment"), environment(runs), id="protocol")


def _nothing(collected: Collected) -> Markup:
    why = "None of the runs here is finished." if collected.runs else "There is no run in this folder."
    todo = "Start one with “regretless demo”, “regretless train” or “regretless reproduce”; an unfinished one goes on \
with the same command."
    return tag("p", f"{why} {todo}", class_="note empty")


def _row(run: Run) -> dict[str, object]:
    """A run for the embedded data; JSON has no word for what is not finite."""
    figures = {name: run.metric(name) for name in EMBEDDED}
    kept = {name: value if value is not None and math.isfinite(value) else None for name, value in figures.items()}
    seed, p_solve = number(run.spec.get("seed")), run.p_solve
    row: dict[str, object] = {"run": run.name, "problem": run.problem, "method": run.method, "status": run.status}
    row |= {"seed": seed if seed is not None and math.isfinite(seed) else None}
    row |= {"p_solve": p_solve if p_solve is not None and math.isfinite(p_solve) else None}
    return row | kept


def _part(name: str) -> Markup:
    return Markup(resources.files("regretless.report").joinpath(name).read_text(encoding="utf-8"))


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
