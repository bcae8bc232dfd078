"""The README's picture: regret, solves and seconds of every method of the demo.

regretless demo --out demo && python docs/make_demo_picture.py demo docs/pictures/demo.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from matplotlib.figure import Figure

from regretless.charts import Chart, chart_style, svg_file
from regretless.charts.style import COLORS
from regretless.storage import write_text

ORDER = ("two-stage", "spo", "spo-cache", "map-dc", "auto")
OWN_COLOR = {"two-stage": COLORS[0], "spo": COLORS[2]}
CACHED = COLORS[1]
TITLES = {"regret": "test regret", "training_solves": "solver calls in training", "epoch_seconds": "seconds per epoch"}


def written(value: float | None) -> str:
    """A number with three digits; two-stage has no epochs."""
    if value is None:
        return "closed form"
    return f"{value:.0f}" if value >= 100 or not value else f"{value:.3g}"


def main(results: Path, out: Path) -> None:
    """Read the runs and draw them."""
    rows = {}
    for folder in sorted((results / "runs").iterdir()):
        spec = json.loads((folder / "spec.json").read_text())
        rows[spec["method"]] = json.loads((folder / "metrics.json").read_text())
    for row in rows.values():
        row["training_solves"] = row["solves"] + row.get("scoring_solves", 0)
    names = [name for name in ORDER if name in rows]
    with chart_style():
        figure = Figure(figsize=(9, 2.9), layout="constrained")
        panels = figure.subplots(1, len(TITLES), sharey=True)
        for axes, (column, title) in zip(panels, TITLES.items(), strict=True):
            values = [rows[name][column] for name in names]
            lengths = [value or 0.0 for value in values]
            axes.barh(names, lengths, color=[OWN_COLOR.get(name, CACHED) for name in names], height=0.62)
            for place, value in enumerate(values):
                axes.annotate(written(value), (lengths[place], place), (4, 0), textcoords="offset points", va="center")
            axes.set_title(title, loc="left")
            axes.spines["bottom"].set_visible(False)
            axes.grid(visible=False)
            axes.set_xticks([])
            axes.set_xlim(0, 1.3 * max(lengths))
        panels[0].invert_yaxis()
        write_text(out, svg_file(Chart(figure)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
