"""The README's picture: regret and solver calls of every method of the demo.

regretless demo --out demo && python docs/make_demo_picture.py demo docs/pictures/demo.svg
"""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from regretless.storage import write_text

ORDER = ("two-stage", "nce-c", "spo", "spo-cache", "map-dc")
COLOURS = {"two-stage": "#8a94a0", "spo": "#c76a1a"}
CACHED = "#1f5fa8"


def main(results: Path, out: Path) -> None:
    """Read the runs and draw them."""
    rows = {}
    for folder in sorted((results / "runs").iterdir()):
        spec = json.loads((folder / "spec.json").read_text())
        rows[spec["method"]] = json.loads((folder / "metrics.json").read_text())
    names = [name for name in ORDER if name in rows]
    colours = [COLOURS.get(name, CACHED) for name in names]
    mpl.rcParams.update({"svg.hashsalt": "regretless", "font.size": 11, "svg.fonttype": "none"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 2.9), sharey=True, layout="constrained")
    for axes, column, title in ((left, "regret", "test regret (lower is better)"), (right, "solves", "solver calls")):
        values = [rows[name][column] for name in names]
        axes.barh(names, values, color=colours, height=0.62)
        for place, value in enumerate(values):
            axes.text(value, place, f" {value:,.0f}", va="center")
        axes.set_title(title, loc="left", fontsize=11)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
        axes.set_xticks([])
        axes.set_xlim(0, 1.18 * max(values))
    left.invert_yaxis()
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    write_text(out, text.getvalue())


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
