from __future__ import annotations

import json
from pathlib import Path

import pytest

from regretless.report.attachments import MAX_BYTES, read_figures, read_tables

SVG = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 5"></svg>'


def test_a_table_has_the_words_of_its_sidecar(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("method,ours\nspo,1\n")
    (tmp_path / "a.json").write_text(json.dumps({"title": "T", "caption": "C", "question": "q2"}))
    (table,) = read_tables(tmp_path, [])
    assert (table.title, table.caption, table.question) == ("T", "C", "Q2")
    assert (table.header, table.rows) == (("method", "ours"), (("spo", "1"),))


def test_a_heading_of_ones_own_is_kept_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("method,ours\nspo,1\n")
    (tmp_path / "a.json").write_text(json.dumps({"question": " Beyond the paper "}))
    (table,) = read_tables(tmp_path, [])
    assert table.question == "Beyond the paper"


def test_without_a_sidecar_the_name_says_title_and_question(tmp_path: Path) -> None:
    (tmp_path / "q3-cache_time.csv").write_text("a\n1\n")
    (tmp_path / "quality.csv").write_text("a\n1\n")
    tables = read_tables(tmp_path, [])
    assert [(table.title, table.question) for table in tables] == [("q3 cache time", "Q3"), ("quality", "")]


def test_stars_and_sidecar_mark_cells_outside_the_tolerance(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("method,ours,published\nspo,1 ± 2 *,3\nmap-dc,4,5\n")
    (tmp_path / "a.json").write_text(json.dumps({"outside": [[1, "ours"], [1, 2], ["x", 1], 5, [0, "none"]]}))
    (table,) = read_tables(tmp_path, [])
    assert table.outside == {(0, 1), (1, 1), (1, 2)}
    assert table.rows[0] == ("spo", "1 ± 2", "3")


def test_ragged_rows_are_filled(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1\n1,2,3\n")
    (table,) = read_tables(tmp_path, [])
    assert table.header == ("a", "b", "")
    assert table.rows == (("1", "", ""), ("1", "2", "3"))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"\n\n"])
def test_a_file_that_is_no_table_becomes_a_remark(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(content)
    remarks: list[str] = []
    assert read_tables(tmp_path, remarks) == ()
    assert "bad.csv is left out" in remarks[0]


def test_figures_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "q4-time.svg").write_text(SVG)
    (figure,) = read_figures(tmp_path, [])
    assert figure.content == SVG.encode()
    assert figure.question == "Q4"


@pytest.mark.parametrize(
    "content", ["<html></html>", '<!DOCTYPE svg [<!ENTITY a "b">]><svg></svg>', " " * (MAX_BYTES + 1)]
)
def test_files_that_are_no_plain_figure_are_left_out(content: str, tmp_path: Path) -> None:
    (tmp_path / "bad.svg").write_text(content)
    remarks: list[str] = []
    assert read_figures(tmp_path, remarks) == ()
    assert "bad.svg is left out" in remarks[0]


@pytest.mark.parametrize("content", ["{", "[]"])
def test_a_damaged_sidecar_costs_the_words_only(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.svg").write_text(SVG)
    (tmp_path / "a.json").write_text(content)
    remarks: list[str] = []
    assert read_figures(tmp_path, remarks)[0].title == "a"
    assert "a.json is not used" in remarks[0]


def test_layout_for_people_is_shown_in_place_of_the_figures_for_programs(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("problem,ours\nk,885.9573485355446\n")
    (tmp_path / "a.json").write_text('{"shown": [["method", "k, ours"], ["spo", "886 (25)*"]]}')
    (table,) = read_tables(tmp_path, [])
    assert (table.header, table.rows) == (("method", "k, ours"), (("spo", "886 (25)"),))
    assert table.outside == {(0, 1)}


@pytest.mark.parametrize("shown", ['"text"', "[]", "[1]", '[["a", 1]]', "[[]]"])
def test_a_layout_that_is_none_is_passed_over(tmp_path: Path, shown: str) -> None:
    (tmp_path / "a.csv").write_text("problem,ours\nk,886\n")
    (tmp_path / "a.json").write_text(f'{{"shown": {shown}}}')
    (table,) = read_tables(tmp_path, [])
    assert table.header == ("problem", "ours")
