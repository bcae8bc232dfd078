from __future__ import annotations

import re
from pathlib import Path

from regretless.report.collect import collect
from regretless.report.figures import charts
from regretless.report.series_style import looks

from regretless.report.groups import sections

from .conftest import MakeRun


def drawn(results: Path) -> str:
    (section,) = sections(collect(results).runs)
    return str(charts(section, looks((group.method, group.variant) for group in section.groups)))


def test_values_on_hover_are_means_over_the_seeds(results: Path) -> None:
    texts = re.findall("<title>(.*?)</title>", drawn(results), re.DOTALL)
    regrets = [run.history[-1]["test_regret"] or 0 for run in collect(results).runs if run.method == "spo"]
    assert any(f"spo\nepoch 4\ntest regret {sum(regrets) / 2:,.1f}" in text and "(2 seeds)" in text for text in texts)


def test_seconds_on_hover_are_cumulative(make_run: MakeRun) -> None:
    assert "after epoch 4, 0.2 s of training" in drawn(make_run("spo", epochs=4))


def test_only_methods_with_a_cache_have_a_growth_line(results: Path) -> None:
    growth = drawn(results).split("<h4>Cache growth</h4>")[1]
    assert re.findall(r'data-series="(\d)"', growth) == ["2"]


def test_runs_without_any_figure_say_so(make_run: MakeRun) -> None:
    folder = make_run("spo", epochs=0, metrics={"regret": None, "epoch_seconds": None})
    assert "There are no histories to draw" in drawn(folder)


def test_certified_gaps_are_drawn_only_where_a_policy_looked_at_them(make_run: MakeRun) -> None:
    folder = make_run("spo-cache", epochs=3)
    assert "Certified gap" not in drawn(folder)
    (path,) = folder.rglob("history.csv")
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([f"{header},mean_gap", *(f"{row},0.0{k}" for k, row in enumerate(rows, 1))]) + "\n")
    assert "mean certified gap 0.03" in drawn(folder)
