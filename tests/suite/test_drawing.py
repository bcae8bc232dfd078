from __future__ import annotations

from regretless.suite.drawing import draw_leaderboard
from regretless.suite.scores import CellScore


def score(cell: str, method: str, regret: float) -> CellScore:
    return CellScore(cell, method, 1, regret, None, 1.0, 1.0)


def test_there_is_one_panel_per_number_of_instances() -> None:
    cells = [
        score(f"shortest-path deg {degree} n {n}", method, regret)
        for degree in (1, 4)
        for n in (100, 1000)
        for method, regret in (("two-stage", 2.0), ("soft", 1.0))
    ]
    chart = draw_leaderboard(cells, "two-stage")
    assert chart is not None
    assert len(chart.figure.axes) == 2
    assert any("degree 4: 1.00 %, two-stage 2.00 %" in text for texts in chart.hover.values() for text in texts)


def test_without_degrees_there_is_no_figure() -> None:
    assert draw_leaderboard([score("top-k n 100", "soft", 1.0)], "two-stage") is None


def test_regrets_of_zero_have_the_ratio_of_the_table() -> None:
    cell = "shortest-path deg 1 n 100"
    chart = draw_leaderboard([score(cell, "two-stage", 0.0), score(cell, "soft", 0.0)], "two-stage")
    assert chart is not None
    assert [line.get_ydata()[0] for line in chart.figure.axes[0].lines] == [1.0]


def test_other_problems_stay_out_and_sizes_and_degrees_rise() -> None:
    places = [(4, 1000), (1, 1000), (2, 5000), (1, 100)]
    cells = [
        score(f"shortest-path deg {degree} n {n}", name, 1.0) for degree, n in places for name in ("two-stage", "soft")
    ]
    cells += [score("top-k n 500", name, 9.0) for name in ("two-stage", "soft")]
    chart = draw_leaderboard(cells, "two-stage")
    assert chart is not None
    assert [axes.get_title().strip() for axes in chart.figure.axes] == ["n = 100", "n = 1000", "n = 5000"]
    assert [tick.get_text() for tick in chart.figure.axes[1].get_xticklabels()] == ["1", "4"]
    assert not any("9.00" in text for texts in chart.hover.values() for text in texts)
