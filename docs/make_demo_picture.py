"""The README's picture and table: regret, solves and seconds of every method of the demo.

regretless demo --out demo && python docs/make_demo_picture.py demo docs/pictures/demo.svg README.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from regretless.charts import Chart, chart_style, svg_file
from regretless.charts.style import COLORS
from regretless.storage import write_text

ORDER = ("two-stage", "spo", "spo-cache", "map-dc", "auto")
OWN_COLOR = {"two-stage": COLORS[0], "spo": COLORS[2]}
CACHED = COLORS[1]
MARKS = ("<!-- demo figures: written by docs/make_demo_picture.py -->", "<!-- end of demo figures -->")
TITLES = {"regret": "test regret", "training_solves": "solver calls in training", "epoch_seconds": "seconds per epoch"}


def written(value: float | None) -> str:
    """A number with three digits; two-stage has no epochs."""
    if value is None:
        return "closed form"
    return f"{value:.0f}" if value >= 100 or not value else f"{value:.3g}"


def read_runs(results: Path) -> dict[str, dict[str, Any]]:
    """Figures of every method, in the order of the picture."""
    rows = {}
    for folder in (results / "runs").iterdir():
        spec = json.loads((folder / "spec.json").read_text())
        rows[spec["method"]] = json.loads((folder / "metrics.json").read_text())
    for row in rows.values():
        row["training_solves"] = row["solves"] + row.get("scoring_solves", 0)
    return {name: rows[name] for name in ORDER if name in rows}


def picture(rows: dict[str, dict[str, Any]]) -> str:
    """One panel per column."""
    names = list(rows)
    with chart_style():
        figure = Figure(figsize=(9, 2.9), layout="constrained")
        panels = figure.subplots(1, len(TITLES), sharey=True)
        for axes, (column, title) in zip(panels, TITLES.items(), strict=True):
            values = [row[column] for row in rows.values()]
            lengths = [value or 0.0 for value in values]
            axes.barh(names, lengths, color=[OWN_COLOR.get(name, CACHED) for name in names], height=0.62)
            for place, value in enumerate(values):
                at = (lengths[place], place)
                axes.annotate(written(value), at, (4, 0), textcoords="offset points", va="center")
            axes.set_title(title, loc="left")
            axes.spines["bottom"].set_visible(False)
            axes.grid(visible=False)
            axes.set_xticks([])
            axes.set_xlim(0, 1.3 * max(lengths))
        panels[0].invert_yaxis()
        return svg_file(Chart(figure))


def table(rows: dict[str, dict[str, Any]]) -> str:
    """The same figures as a Markdown table."""
    lines = [f"| method | {' | '.join(TITLES.values())} | training seconds |", "|---|" + "---:|" * (len(TITLES) + 1)]
    for name, row in rows.items():
        cells = [written(row[column]) for column in (*TITLES, "train_seconds")]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(results: Path, out: Path, page: Path | None = None) -> None:
    """Draw the picture, and write the table between the marks of a page."""
    rows = read_runs(results)
    write_text(out, picture(rows))
    if page is not None:
        before, rest = page.read_text(encoding="utf-8").split(f"{MARKS[0]}\n")
        after = rest.split(MARKS[1])[1]
        write_text(page, f"{before}{MARKS[0]}\n{table(rows)}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
