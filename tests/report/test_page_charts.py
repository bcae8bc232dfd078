from __future__ import annotations

import re
from pathlib import Path

import pytest

from regretless.charts import series_styles
from regretless.deciding.audited_run import Day
from regretless.report import read_folder
from regretless.report.groups import sections
from regretless.report.page_charts import RESTORED, SPREAD, PageChart, day_charts, problem_charts

from .conftest import MakeRun, write_run


def drawn(results: Path) -> dict[str, PageChart]:
    (section,) = sections(read_folder(results).runs)
    styles = series_styles((group.method, group.variant) for group in section.groups)
    return {chart.title: chart for chart in problem_charts(section, styles, "p")}


@pytest.fixture(scope="module")
def charts(usual: Path) -> dict[str, PageChart]:
    """The charts of three methods with two seeds each."""
    return drawn(usual)


def texts(chart: PageChart) -> list[str]:
    return re.findall("<title>(.*?)</title>", chart.svg, re.DOTALL)


def test_values_on_hover_are_means_over_the_seeds(charts: dict[str, PageChart], usual: Path) -> None:
    chart = charts["Learning curves"]
    regrets = [run.history[-1]["test_regret"] or 0 for run in read_folder(usual).runs if run.method == "spo"]
    wanted = f"spo\nepoch 4\ntest regret {sum(regrets) / 2:,.1f}"
    assert any(text.startswith(wanted) and "(2 seeds)" in text for text in texts(chart))
    assert chart.caption.endswith(SPREAD)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PageChart]:
    """The charts of one run."""
    return drawn(write_run(tmp_path_factory.mktemp("alone"), "spo-cache"))


def test_one_run_has_curves_but_no_comparison_of_one_point_and_no_deviation(alone: dict[str, PageChart]) -> None:
    assert list(alone) == ["Regret against time", "Learning curves", "Cache growth"]
    assert not any("deviation" in chart.caption for chart in alone.values())


def test_seconds_on_hover_are_cumulative(alone: dict[str, PageChart]) -> None:
    assert any("epoch 4, 0.2 s of training" in text for text in texts(alone["Regret against time"]))


def test_only_methods_with_a_cache_have_a_growth_line(charts: dict[str, PageChart]) -> None:
    chart = charts["Cache growth"]
    assert set(re.findall(r'data-series="(\d)"', chart.svg)) == {"2"}
    assert any("epoch 4\n540.0 (2 seeds) solutions in the cache" in text for text in texts(chart))


def test_runs_without_any_figure_have_no_chart(make_run: MakeRun) -> None:
    assert drawn(make_run("spo", epochs=0, metrics={"regret": None, "epoch_seconds": None})) == {}


def test_a_run_without_a_regret_has_no_place_in_time(make_run: MakeRun) -> None:
    lost = make_run("nce-c", metrics={"regret": None})
    for folder in (lost, make_run("spo"), make_run("map-dc")):
        (folder / "history.csv").unlink()
    charts = drawn(lost.parent)
    assert list(charts) == ["Regret against time", "Regret against the cost of an epoch"]
    for chart in charts.values():
        assert {text.split("\n")[0] for text in texts(chart) if "\n" in text} == {"spo", "map-dc"}


@pytest.mark.parametrize(("whole", "shown"), [(3.0, "3 s"), (None, "2 s")])
def test_runs_that_recorded_no_regret_still_have_their_last_point(
    make_run: MakeRun, whole: float | None, shown: str
) -> None:
    figures = {"epoch_seconds": 0.5, "epochs": 4, "train_seconds": whole}
    folders = [make_run(method, metrics=figures) for method in ("spo", "map-dc")]
    for folder in folders:
        (folder / "history.csv").unlink()
    chart = drawn(folder.parent)["Regret against time"]
    assert any(f"spo\nat the end, {shown} of training" in text for text in texts(chart))
    assert "line" not in chart.caption
    assert drawn(folder) == {}, "one point alone compares nothing"


def test_a_closed_form_has_a_point_at_its_training_time(make_run: MakeRun) -> None:
    folder = make_run("two-stage", metrics={"epoch_seconds": None, "epochs": 0, "train_seconds": 0.01})
    (folder / "history.csv").unlink()
    make_run("spo")
    chart = drawn(folder.parent)["Regret against time"]
    assert any("two-stage\nat the end, 0.01 s of training" in text for text in texts(chart))


def test_certified_gaps_are_drawn_only_where_a_policy_computed_them(
    make_run: MakeRun, alone: dict[str, PageChart]
) -> None:
    assert "Certified gap" not in alone
    folder = make_run("spo-cache", epochs=3)
    (path,) = folder.rglob("history.csv")
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([f"{header},mean_gap", *(f"{row},0.0{k}" for k, row in enumerate(rows, 1))]) + "\n")
    assert any("mean certified gap 0.03" in text for text in texts(drawn(folder)["Certified gap"]))


def test_restored_weights_are_marked_at_the_regret_of_the_table(make_run: MakeRun) -> None:
    folder = make_run("two-stage", patience=2, metrics={"regret": 366.0})
    rows = [(1, 900.0, 9.0), (2, 366.0, 3.0), (3, 1200.0, 5.0), (4, 3100.0, 8.0)]
    lines = [f"{epoch},0.5,{test},{validation}" for epoch, test, validation in rows]
    (folder / "history.csv").write_text("\n".join(["epoch,seconds,test_regret,validation_regret", *lines, ""]))
    charts = drawn(folder)
    wanted = "two-stage\nearly stopping restored the weights of epoch 2\nfinal test regret 366.0"
    for title in ("Regret against time", "Learning curves"):
        assert wanted in texts(charts[title])
        assert charts[title].caption.endswith(RESTORED)
        assert charts[title].svg.count('class="series restored"') == 1


def test_without_an_early_stop_no_ring_is_mentioned(make_run: MakeRun) -> None:
    folder = make_run("two-stage", seed=0)
    (folder / "metrics.json").write_text('{"regret": 1e9}')
    charts = drawn(folder)
    assert "Learning curves" in charts
    assert not any(RESTORED in chart.caption or "restored" in chart.svg for chart in charts.values())


def days(count: int, two_stage: float | None = 1.0) -> list[Day]:
    return [Day(f"2024-01-{k + 1:02d}", 10.0, 9.0, 1.0 + k, two_stage) for k in range(count)]


def test_both_lines_are_drawn_and_the_axis_has_a_few_names() -> None:
    charts, legend = day_charts(days(28), "a")
    assert [chart.title for chart in charts] == ["Regret per instance", "Regret summed up"]
    assert [label for label, _ in legend] == ["two-stage", "decisions"]
    assert 3 <= sum(f">2024-01-{k + 1:02d}</text>" in charts[0].svg for k in range(28)) <= 6


def test_lines_have_the_keys_of_the_legend_and_every_point_its_own_text() -> None:
    charts, legend = day_charts(days(3), "a")
    assert all(swatch.startswith("<svg ") for _, swatch in legend)
    for chart in charts:
        assert set(re.findall(r'data-series="(\d+)"', chart.svg)) == {"0", "1"}
        for label in ("two-stage", "decisions"):
            assert len(re.findall(rf"<title>2024-01-0\d\n{label}: ", chart.svg)) == 3


def test_the_sum_is_the_sum() -> None:
    charts, _ = day_charts(days(4), "a")
    assert "decisions: 10.00" in charts[1].svg


def test_without_a_baseline_there_is_one_line() -> None:
    charts, legend = day_charts(days(5, None), "a")
    assert [label for label, _ in legend] == ["decisions"]
    assert charts[1].caption == ""


def test_one_day_is_no_chart() -> None:
    assert day_charts(days(1), "a") == ([], [])
    assert len(day_charts(days(2), "a")[0]) == 2
