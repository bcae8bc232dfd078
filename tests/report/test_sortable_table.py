from __future__ import annotations

import pytest

from regretless.report.page import templates
from regretless.report.sortable_table import Cell, Column, SortableTable

from .conftest import EVIL

COLUMNS = [Column("method", numeric=False), Column("regret", explain="lower is better")]


def html(*cells: Cell, caption: str = "C") -> str:
    table = SortableTable(caption, COLUMNS, [[Cell("spo"), *cells]])
    return str(templates().get_template("macros.html").module.sortable(table))  # type: ignore[attr-defined]


def test_headings_are_buttons_and_say_that_they_are_not_sorted() -> None:
    text = html(Cell("1.0", 1.0))
    assert text.count('aria-sort="none"') == 2
    assert '<button type="button">method</button>' in text
    assert '<button type="button" title="lower is better">regret</button>' in text


def test_rows_are_named_by_their_first_cell_and_numbers_carry_their_value() -> None:
    text = html(Cell("1,000", 1000.0, "± 3", "(1 not finite)"))
    assert '<th scope="row">spo</th>' in text
    assert '<td class="number" data-value="1000.0">1,000 <span class="deviation">± 3</span>' in text
    assert '<span class="warn">(1 not finite)</span></td>' in text


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_values_that_are_not_finite_have_nothing_to_sort_by(value: float | None) -> None:
    assert Cell("NaN", value).sort_key is None
    assert "data-value" not in html(Cell("NaN", value))


def test_marks_are_said_and_not_only_colored() -> None:
    text = html(Cell("1", 1.0, best=True, outside=True))
    assert 'class="number best outside"' in text
    assert "(best)" in text
    assert "(outside the tolerance)" in text


def test_everything_is_escaped() -> None:
    assert "<script" not in html(Cell(EVIL, 1.0, EVIL, EVIL), caption=EVIL)
