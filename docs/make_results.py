"""Write ``results.md`` and its pictures from the results folder of full runs.

    regretless reproduce all --seeds 10 --workers 14 --out RESULTS
    regretless reproduce knapsack --seeds 10 --workers 2 --init shared --out RESULTS \\
        --methods nce-c,nce-dc,nce-2c,map-c,blackbox,blackbox-cache,spo-relax,qptl,interior
    regretless reproduce energy --engine highs --workers 6 --out RESULTS
    regretless reproduce knapsack --engine highs --workers 9 --out RESULTS
    python docs/make_results.py RESULTS

This script runs no training, and every number comes from the results.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regretless.paper.grid import GROUPS, load_grid
from regretless.paper.reproduce import write_outcome
from regretless.paper.result_tables import TableData
from regretless.paper.table_text import as_markdown
from regretless.runs.results import Result, mean_and_deviation, select
from regretless.storage import read_json, write_text

PAGE = Path(__file__).with_name("results.md")
PICTURES = PAGE.parent / "pictures" / "results"
SHOWN = (
    "curves-energy-3", "q4-knapsack-120", "q4-energy-3", "q4-matching-25",
    "p-solve-knapsack-120", "p-solve-energy-3", "p-solve-matching-25",
)  # fmt: skip
MATCHED = ("two-stage", "map-dc", "map-2c", "spo", "spo-cache")
RELAXED = ("qptl", "interior")


def checks(found: Sequence[Result], tables: dict[str, TableData]) -> Iterator[str]:
    """Compare the runs with the claims of the paper: one line per claim, with its figures."""
    cells = [
        row
        for name in ("variants-knapsack", "sota-knapsack")
        for row in tables[name].rows
        if row["metric"] == "regret" and row["method"] in MATCHED and row["init"] == "random"
    ]
    near = [row for row in cells if row["outside"] is False]
    yield (
        f"Knapsack, {', '.join(MATCHED)}: {len(near)} of {len(cells)} cells are within 3 % or two deviations of the "
        "published means."
    )
    energy = load_grid("energy")
    for method in ("map-dc", "map-2c", "spo", "spo-cache"):
        parts = []
        for problem in energy.problems:
            base, mine = (_regret(found, energy.spec(problem, name)) for name in ("two-stage", method))
            parts.append(f"{100 * (mine / base - 1):+.1f} %")
        yield f"Energy-1/2/3, {method} against a converged two-stage: {' / '.join(parts)}."
    for cached, exact in (("map-dc", "map-dc"), ("spo-cache", "spo")):
        parts = []
        for problem in energy.problems:
            few = _regret(found, energy.spec(problem, cached, settings={"p_solve": 0.05}))
            every = _regret(found, energy.spec(problem, exact, settings={}))
            parts.append(f"{100 * (few / every - 1):+.1f} %")
        yield f"Energy-1/2/3, 5 % of the solves against solving every instance, {exact}: {' / '.join(parts)}."
    rows = {
        (row["problem"], row["method"]): row
        for name in ("variants-matching", "sota-matching")
        for row in (tables[name].rows if name in tables else ())
        if row["metric"] == "regret" and row["method"] not in RELAXED and row["difference"] is not None
    }
    differences = [abs(row["difference"]) for row in rows.values()]
    if differences:
        ours, paper = (statistics.fmean(row[key] for row in rows.values()) for key in ("ours", "published"))
        yield (
            f"Matching, {len(differences)} published rows other than QPTL and Interior: the largest difference is "
            f"{max(differences):.0f}, the mean over the rows {ours:.0f} against {paper:.0f}."
        )


def _regret(found: Sequence[Result], spec: Any) -> float:
    runs = [result for result in select(found, spec) if result.spec.init == "random"]
    return mean_and_deviation(runs, "regret")[0]


def page(folder: Path) -> str:
    """Return the text of the page, and write its pictures."""
    outcome = write_outcome(folder)
    done = [result for result in outcome.results if result.status == "done"]
    tables = {table.about["name"]: table for table in outcome.tables}
    machine = read_json(done[0].folder / "environment.json")
    command = __doc__.split("\n\n")[1] if __doc__ else ""
    lines = [
        "# Results: every table and figure, ours beside the published",
        "<!-- Written by docs/make_results.py from runs. Edit that file, not this page. -->",
        "\n".join(["```", *(line.removeprefix("    ") for line in command.splitlines()), "```"]),
        f"{len(done)} runs, {len(outcome.failed)} failed; "
        f"{', '.join(f'{name} {version}' for name, version in sorted(machine.items()))}. Ours: mean (standard "
        "deviation) over the seeds. The remarks under the tables and [Reproduce](reproduce.md) explain what cannot be "
        "reproduced.",
        "## In short",
        "\n".join(f"- {line}" for line in checks(outcome.results, tables)),
        "## Tables",
        *(as_markdown(table.about, table.rows).strip() for name in GROUPS for table in _of(name, outcome.tables)),
        "## Figures",
    ]
    for name in SHOWN:
        source = folder / "figures" / f"{name}.svg"
        if source.exists():
            about = read_json(source.with_suffix(".json"))
            write_text(PICTURES / source.name, source.read_text(encoding="utf-8"))
            lines += [
                f"![{about['title']}](pictures/results/{source.name})",
                f"**{about['title']}.** {about['caption']}",
            ]
    return "\n\n".join(lines) + "\n"


def _of(group: str, tables: Sequence[TableData]) -> list[TableData]:
    names = {table["name"] for table in load_grid(group).tables}
    return [table for table in tables if table.about["name"] in names]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args()
    write_text(options.out, page(options.results))
    print(f"wrote {options.out}")
    sys.exit(0)
