from __future__ import annotations

from math import nan

from regretless.suite.leaderboard_text import CellScore, MethodScore, draw_leaderboard, leaderboard_markdown


def method(name: str, ratio: float, wins: int = 0) -> MethodScore:
    return MethodScore(name, ratio, ratio, 1.0, wins, 100.0, 1.0)


def page(*methods: MethodScore) -> str:
    cells = [CellScore("a", score.method, 2, 10 * score.ratio, 0.5, 100.0, 1.0) for score in methods]
    return leaderboard_markdown(methods, cells, ["a"], None)


def test_the_page_begins_with_the_methods_that_are_worth_trying() -> None:
    text = page(method("auto", 0.5, 1), method("soft", 0.505), method("map-dc", 0.6), method("two-stage", 1.0))
    first = text.splitlines()[0]
    assert "Worth trying: `auto`, `soft`." in first
    assert "map-dc" not in first
    assert first.endswith("The methods named are within 2 % of it.")
    assert (
        page(method("auto", 0.5), method("soft", 0.6)).splitlines()[0].endswith("No other method is within 2 % of it.")
    )


def test_a_method_that_is_not_better_than_two_stage_is_not_worth_trying() -> None:
    first = page(method("auto", 0.99), method("soft", 1.001)).splitlines()[0]
    assert "Worth trying: `auto`." in first
    assert first.endswith("times in its worst cell.")


def test_every_figure_of_a_method_is_in_its_row_and_what_is_not_known_is_a_dash() -> None:
    text = page(
        MethodScore("soft", 0.5, 0.75, 1.25, 3, 1234.4, 2.55), MethodScore("map-dc", nan, nan, nan, 0, nan, nan)
    )
    assert "| soft | 0.500 | 0.750 | 1.2 | 3 of 1 | 1,234 | 2.5 |" in text
    assert "| map-dc | – | – | – | 0 of 1 | – | – |" in text


def test_the_picture_and_the_numbers_of_seeds_are_on_the_page() -> None:
    cells = [CellScore("a", "soft", seeds, 5.0, None, 1.0, 1.0) for seeds in (3, 10, 1)]
    text = leaderboard_markdown([method("soft", 0.5)], cells, ["a"], "leaderboard.svg")
    assert "(leaderboard.svg)" in text
    assert "number of seeds: 1 to 10)" in text
    assert "number of seeds: 2)" in page(method("soft", 0.5))
    assert "](" not in page(method("soft", 0.5))


def test_figures_of_a_wide_table_do_not_break() -> None:
    assert "| a | **5.00\u00a0±\u00a00.50** |" in page(method("auto", 0.5))


def test_a_method_that_wins_nowhere_and_needs_no_less_is_marked() -> None:
    text = page(method("soft", 0.5, 1), method("blackbox-cache", 0.8), method("pfy-cache", 0.9), method("nce-c", 0.95))
    assert "| blackbox-cache † |" in text
    assert "| soft |" in text
    assert "| pfy-cache |" in text  # needs no true costs, and nothing better does without them
    assert "| nce-c † |" in text
    assert "† is best in no cell and needs no less supervision than a method with less regret." in text
    assert "†" not in page(method("soft", 0.5, 1), method("pfy-cache", 0.9))


def test_the_lowest_regret_of_a_cell_is_bold_and_a_missing_one_is_a_dash() -> None:
    scores = [method("soft", 0.5), method("two-stage", 1.0)]
    cells = [
        CellScore("a", "soft", 1, 5.0, None, 1.0, 1.0), CellScore("a", "two-stage", 1, 10.0, None, 0.0, 1.0),
        CellScore("b", "two-stage", 1, 3.0, None, 0.0, 1.0),
    ]  # fmt: skip
    text = leaderboard_markdown(scores, cells, ["a"], None)
    assert "| a | **5.00** | 10.00 |" in text
    assert "| b | – | **3.00** |" in text


def test_a_page_without_a_comparable_cell_says_so() -> None:
    cells = [CellScore("a", "soft", 1, 5.0, None, 1.0, 1.0), CellScore("b", "two-stage", 1, 5.0, None, 1.0, 1.0)]
    for scores, some in (([], []), ([method("soft", nan), method("two-stage", nan)], cells)):
        assert leaderboard_markdown(scores, some, [], None).startswith("No cell has results of every method yet.")


def test_where_nothing_has_less_regret_than_two_stage_that_is_said() -> None:
    first = page(method("two-stage", 1.0, 1), method("soft", 1.25)).splitlines()[0]
    assert first.startswith(
        "**No method has less regret than two-stage.** Over 1 cell `soft` comes closest: 1.250 times"
    )


def test_the_lowest_in_bold_are_those_that_count_as_best_and_no_small_regret_reads_as_zero() -> None:
    scores = [method("soft", 1.0, 1), method("two-stage", 1.0, 1)]
    cells = [
        CellScore("a", "soft", 2, 5.0, 0.0004, 1.0, 1.0), CellScore("a", "two-stage", 1, 5.00005, None, 0.0, 1.0),
        CellScore("b", "soft", 1, 0.00312, None, 0.0, 1.0), CellScore("b", "two-stage", 1, 0.0, None, 0.0, 1.0),
    ]  # fmt: skip
    text = leaderboard_markdown(scores, cells, ["a", "b"], None)
    assert "| a | **5.00\u00a0±\u00a00.0004** | **5.00** |" in text
    assert "| b | 0.0031 | **0.00** |" in text


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
