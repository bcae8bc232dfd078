from __future__ import annotations

import base64

import pytest
from regretless.report.collected import Collected, Figure, Table

from regretless.report.questions import leading_number, questions

from .conftest import EVIL


def table(name: str, question: str = "", **more: object) -> Table:
    return Table(
        name, name, question=question, header=("method", "ours"), rows=(("spo", "1,024 ± 66"), ("x", "–")), **more
    )  # type: ignore[arg-type]


def test_questions_come_in_order_and_the_rest_last() -> None:
    tables = (table("b", "Q10"), table("a"), table("d", "Beyond the paper"), table("c", "Q2"))
    found = questions(Collected("t", tables=tables, figures=(Figure("f", "f", question="Q1"),)))
    assert [name for _, name, _ in found] == ["Q1", "Q2", "Q10", "Beyond the paper", "Further tables and figures"]


def test_nothing_attached_asks_no_question() -> None:
    assert questions(Collected("t")) == []


def test_cells_outside_the_tolerance_are_marked_and_the_mark_is_explained() -> None:
    ((_, _, section),) = questions(Collected("t", tables=(table("a", outside=frozenset({(0, 1)})),)))
    assert section.count('class="number outside"') == 1
    assert "outside the stated tolerance" in section


def test_columns_of_numbers_sort_by_their_leading_number() -> None:
    ((_, _, section),) = questions(Collected("t", tables=(table("a"),)))
    assert 'data-value="1024.0"' in section


def test_figures_are_images_so_that_their_scripts_cannot_run() -> None:
    content = f"<svg>{EVIL}</svg>".encode()
    ((_, _, section),) = questions(Collected("t", figures=(Figure("f", "f", content=content),)))
    assert "<script" not in section
    assert f'src="data:image/svg+xml;base64,{base64.b64encode(content).decode()}"' in section


@pytest.mark.parametrize(
    ("box", "wide"), [("0 0 100 50", True), ("0 0 100 90", False), ("0 0 100 0", False), ("odd", False)]
)
def test_flat_figures_take_the_whole_width(box: str, wide: bool) -> None:
    content = f'<svg viewBox="{box}"></svg>'.encode()
    ((_, _, section),) = questions(Collected("t", figures=(Figure("f", "f", content=content),)))
    assert ("wide" in section) is wide


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,024 ± 66", 1024.0), ("5 %", 5.0), ("−3.5", -3.5), ("1e3", 1000.0), ("12.5s", 12.5), ("map-2c", None),
     ("2c", None), ("", None), (".", None), ("...", None)],
)  # fmt: skip
def test_leading_numbers(text: str, value: float | None) -> None:
    assert leading_number(text) == value


def test_names_are_escaped() -> None:
    evil = Table("x", EVIL, EVIL, EVIL, header=(EVIL,), rows=((EVIL,),))
    ((_, _, section),) = questions(Collected("t", tables=(evil,), figures=(Figure("x", EVIL, EVIL, EVIL),)))
    assert "<script" not in section
