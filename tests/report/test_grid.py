from __future__ import annotations

from regretless.report.grid import Cell, Column, grid

from .conftest import EVIL


def test_headings_are_buttons_and_say_that_they_are_not_sorted() -> None:
    table = grid("C", [Column("method", numeric=False), Column("regret")], [[Cell("spo"), Cell("1.0", 1.0)]])
    assert table.count('aria-sort="none"') == 2
    assert table.count('<button type="button">') == 2


def test_rows_are_named_by_their_first_cell_and_numbers_carry_their_value() -> None:
    table = grid("C", [Column("method", numeric=False), Column("regret")], [[Cell("spo"), Cell("1,000", 1000.0)]])
    assert '<th scope="row">spo</th>' in table
    assert '<td class="number" data-value="1000.0">1,000</td>' in table


def test_values_that_are_not_finite_have_nothing_to_sort_by() -> None:
    assert "data-value" not in grid("C", [Column("a"), Column("b")], [[Cell("x"), Cell("NaN", float("nan"))]])


def test_marks_are_said_and_not_only_coloured() -> None:
    table = grid("C", [Column("a"), Column("b")], [[Cell("x"), Cell("1", 1.0, best=True, outside=True)]])
    assert "(best)" in table
    assert "(outside the tolerance)" in table


def test_everything_is_escaped() -> None:
    assert "<script" not in grid(EVIL, [Column(EVIL, explain=EVIL)], [[Cell(EVIL)]])
