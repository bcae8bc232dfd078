from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from regretless.report.attachments import MAX_BYTES, Attachment, leading_number, read_attachments

from .conftest import EVIL

SVG = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 9"></svg>'


def attach(results: Path, name: str, content: str | bytes, sidecar: object = None) -> None:
    folder = results / ("tables" if name.endswith(".csv") else "figures")
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    if sidecar is not None:
        text = sidecar if isinstance(sidecar, str) else json.dumps(sidecar)
        (folder / name).with_suffix(".json").write_text(text)


def read(results: Path) -> Attachment:
    remarks: list[str] = []
    (found,) = read_attachments(results, remarks)
    assert remarks == []
    return found


def texts(found: Attachment) -> list[list[str]]:
    assert found.table is not None
    return [
        [column.title for column in found.table.columns],
        *([cell.text for cell in row] for row in found.table.rows),
    ]


def outside(found: Attachment) -> set[tuple[int, int]]:
    assert found.table is not None
    return {(i, j) for i, row in enumerate(found.table.rows) for j, cell in enumerate(row) if cell.outside}


def test_a_table_has_the_words_of_its_sidecar(tmp_path: Path) -> None:
    attach(tmp_path, "a.csv", "method,ours\nspo,1\n", {"title": "T", "caption": "C", "question": "q2"})
    found = read(tmp_path)
    assert (found.title, found.caption, found.question) == ("T", "C", "Q2")
    assert texts(found) == [["method", "ours"], ["spo", "1"]]


def test_a_heading_of_ones_own_is_kept_as_it_is_written(tmp_path: Path) -> None:
    attach(tmp_path, "a.csv", "method,ours\nspo,1\n", {"question": " Beyond the paper "})
    assert read(tmp_path).question == "Beyond the paper"


@pytest.mark.parametrize(
    ("name", "title", "question"), [("q3-cache_time", "q3 cache time", "Q3"), ("quality", "quality", "")]
)
def test_without_a_sidecar_the_name_says_title_and_question(
    tmp_path: Path, name: str, title: str, question: str
) -> None:
    attach(tmp_path, f"{name}.csv", "a\n1\n")
    assert (read(tmp_path).title, read(tmp_path).question) == (title, question)


def test_tables_come_before_figures_in_the_order_of_their_names(tmp_path: Path) -> None:
    attach(tmp_path, "a.svg", SVG)
    for name in ("c.csv", "b.csv"):
        attach(tmp_path, name, "a\n1\n")
    assert [item.title for item in read_attachments(tmp_path, [])] == ["b", "c", "a"]


def test_stars_and_sidecar_mark_cells_outside_the_tolerance(tmp_path: Path) -> None:
    cells = {"outside": [[1, "ours"], [1, 2], ["x", 1], 5, [0, "none"]]}
    attach(tmp_path, "a.csv", "method,ours,published\nspo,1 ± 2 *,3\nmap-dc,4,5\n", cells)
    found = read(tmp_path)
    assert outside(found) == {(0, 1), (1, 1), (1, 2)}
    assert texts(found)[1] == ["spo", "1 ± 2", "3"]


def test_ragged_rows_are_filled(tmp_path: Path) -> None:
    attach(tmp_path, "a.csv", "a,b\n1\n1,2,3\n")
    assert texts(read(tmp_path)) == [["a", "b", "–"], ["1", "–", "–"], ["1", "2", "3"]]


def test_columns_of_numbers_sort_by_their_leading_number(tmp_path: Path) -> None:
    attach(tmp_path, "a.csv", 'method,ours\nspo,"1,024 ± 66"\nx,–\n')
    table = read(tmp_path).table
    assert table is not None
    assert [column.numeric for column in table.columns] == [False, True]
    assert [row[1].value for row in table.rows] == [1024.0, None]


@pytest.mark.parametrize(("cells", "numeric"), [("1,2,x", True), ("1,x", False), ("1,–,nan,", True), ("–,", False)])
def test_a_column_is_one_of_numbers_where_most_of_its_cells_are(cells: str, numeric: bool, tmp_path: Path) -> None:
    attach(tmp_path, "a.csv", "method,ours\n" + "".join(f"spo,{cell}\n" for cell in cells.split(",")))
    table = read(tmp_path).table
    assert table is not None
    assert table.columns[1].numeric is numeric


@pytest.mark.parametrize(
    ("name", "content"),
    [("bad.csv", b""), ("bad.csv", b"\xff\xfe\x00"), ("bad.csv", b"\n\n"), ("bad.csv", b" " * (MAX_BYTES + 1)),
     ("bad.svg", b"<html></html>"), ("bad.svg", b'<!DOCTYPE svg [<!ENTITY a "b">]><svg></svg>')],
    ids=["empty", "binary", "blank", "large", "html", "entities"],
)  # fmt: skip
def test_a_file_that_cannot_be_shown_becomes_a_remark(name: str, content: bytes, tmp_path: Path) -> None:
    attach(tmp_path, name, content)
    remarks: list[str] = []
    assert read_attachments(tmp_path, remarks) == ()
    assert f"{name} is left out: " in remarks[0]


@pytest.mark.parametrize("sidecar", ["{", "[]"])
def test_a_damaged_sidecar_costs_the_words_only(sidecar: str, tmp_path: Path) -> None:
    attach(tmp_path, "a.svg", SVG, sidecar)
    remarks: list[str] = []
    assert read_attachments(tmp_path, remarks)[0].title == "a"
    assert "a.json is not used" in remarks[0]


def test_figures_are_images_so_that_their_scripts_cannot_run(tmp_path: Path) -> None:
    content = f"<svg>{EVIL}</svg>"
    attach(tmp_path, "q4-time.svg", content)
    found = read(tmp_path)
    assert found.image == f"data:image/svg+xml;base64,{base64.b64encode(content.encode()).decode()}"
    assert found.question == "Q4"


@pytest.mark.parametrize(
    ("box", "wide"), [("0 0 100 50", True), ("0 0 100 90", False), ("0 0 100 0", False), ("odd", False)]
)
def test_flat_figures_take_the_full_width(box: str, wide: bool, tmp_path: Path) -> None:
    attach(tmp_path, "a.svg", f'<svg viewBox="{box}"></svg>')
    assert read(tmp_path).wide is wide


def test_a_layout_for_people_is_shown_in_place_of_the_figures_for_programs(tmp_path: Path) -> None:
    shown = {"shown": [["method", "k, ours"], ["spo", "886 (25)*"]]}
    attach(tmp_path, "a.csv", "problem,ours\nk,885.9573485355446\n", shown)
    found = read(tmp_path)
    assert texts(found) == [["method", "k, ours"], ["spo", "886 (25)"]]
    assert outside(found) == {(0, 1)}


@pytest.mark.parametrize("shown", ["text", [], [1], [["a", 1]], [[]]])
def test_a_layout_that_is_none_is_not_used(tmp_path: Path, shown: object) -> None:
    attach(tmp_path, "a.csv", "problem,ours\nk,886\n", {"shown": shown})
    assert texts(read(tmp_path))[0] == ["problem", "ours"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1,024 ± 66", 1024.0), ("5 %", 5.0), ("−3.5", -3.5), ("1e3", 1000.0), ("12.5s", 12.5), ("map-2c", None),
     ("2c", None), ("", None), (".", None), ("...", None)],
)  # fmt: skip
def test_leading_numbers(text: str, value: float | None) -> None:
    assert leading_number(text) == value
