"""Tables as text: CSV, Markdown and LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from regretless.storage import csv_text

Row = dict[str, Any]
NOTHING = "–"


def as_csv(columns: Sequence[str], rows: Sequence[Row]) -> str:
    """One line per cell, in full precision; missing values are empty."""
    return csv_text(columns, ({name: "" if _empty(cell) else cell for name, cell in row.items()} for row in rows))


def as_markdown(about: Row, rows: Sequence[Row]) -> str:
    """One line per method, problems side by side: our value, then the published one."""
    head, *body = layout(rows)
    lines = [_line(head), _line(["---", *["---:"] * (len(head) - 1)]), *map(_line, body)]
    return f"### {about['title']}\n\n" + "\n".join(lines) + f"\n\n{about['caption']}\n"


def as_latex(about: Row, rows: Sequence[Row]) -> str:
    """The same in LaTeX with booktabs."""
    head, *body = layout(rows)
    lines = [
        r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule",
        " & ".join(map(_escape, head)) + r" \\", r"\midrule",
    ]  # fmt: skip
    lines += [" & ".join(map(_escape, cells)) + r" \\" for cells in body]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{_escape(about['caption'])}}}"]
    return "\n".join([*lines, rf"\label{{{about['label']}}}", r"\end{table}", ""])


def layout(rows: Sequence[Row]) -> list[list[str]]:
    """Arrange cells as rows of texts, the header first."""
    if rows and "ratio" in rows[0]:
        return _ratios(rows)
    return _budgets(rows) if rows and "policy" in rows[0] else _values(rows)


def _values(rows: Sequence[Row]) -> list[list[str]]:
    several = len({row["init"] for row in rows if row["init"]}) > 1
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    problems = list(dict.fromkeys(row["problem"] for row in rows))
    compared = any(not _empty(row["published"]) for row in rows)
    names = ("ours", "paper") if compared else ("ours",)
    table: dict[str, dict[str, list[str]]] = {}
    for row in sorted(rows, key=lambda row: metrics.index(row["metric"])):
        label = row["method"] + (f", {row['metric']}" if len(metrics) > 1 else "")
        label += f" ({row['init']} init)" if several and row["init"] else ""
        ours = value(row["ours"], row["ours_deviation"]) + ("*" if row["outside"] else "")
        cells = [ours, value(row["published"], row["published_deviation"])]
        table.setdefault(label, {})[row["problem"]] = cells[: len(names)]
    head = ["method", *(f"{problem}, {name}" for problem in problems for name in names)]
    blank = [NOTHING] * len(names)
    return [head, *([label, *(c for p in problems for c in cells.get(p, blank))] for label, cells in table.items())]


def _ratios(rows: Sequence[Row]) -> list[list[str]]:
    head = ["problem", "methods", "engine", "s cached", "s exact", "ratio", "paper's s cached", "paper's s exact"]
    names = ("seconds_cached", "seconds_exact", "ratio", "published_cached", "published_exact", "published_ratio")
    body = [
        [row["problem"], f"{row['cached']} / {row['exact']}", row["engine"], *(value(row[name]) for name in names)]
        for row in rows
    ]
    return [[*head, "paper's ratio"], *body]


def _budgets(rows: Sequence[Row]) -> list[list[str]]:
    budgets = sorted({row["p_solve"] for row in rows})
    table: dict[tuple[str, str], dict[float, str]] = {}
    for row in rows:
        cell = value(row["ours"], row["ours_deviation"])
        table.setdefault((row["problem"], row["policy"]), {})[row["p_solve"]] = cell
    body = [[*names, *(cells.get(p, NOTHING) for p in budgets)] for names, cells in table.items()]
    return [["problem", "policy", *(f"{100 * p:g} %" for p in budgets)], *body]


def value(mean: Any, deviation: Any = None) -> str:
    """Write ``mean (deviation)`` with a sensible number of digits.

    >>> value(764.3, 2.0), value(0.4862, 0.0031), value(None)
    ('764 (2)', '0.486 (0.003)', '–')
    """
    if _empty(mean):
        return NOTHING
    digits = 0 if abs(mean) >= 100 else 1 if abs(mean) >= 10 else 3
    # Zeros in place of a small number would say that it is nothing.
    small = mean and not round(mean, digits)
    form = ".2g" if small else f".{digits}f"
    return f"{mean:{form}}" + ("" if _empty(deviation) else f" ({deviation:{form}})")


def _empty(item: Any) -> bool:
    return item is None or (isinstance(item, float) and math.isnan(item))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("*", r"\*") for cell in cells) + " |"


def _escape(text: str) -> str:
    for plain, command in (("\\", r"\textbackslash{}"), ("_", r"\_"), ("%", r"\%"), ("&", r"\&"), ("^", r"\^{}")):
        text = text.replace(plain, command)
    return text.replace(NOTHING, "--").replace("*", r"$^{*}$")
