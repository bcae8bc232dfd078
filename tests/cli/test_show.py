from __future__ import annotations

import json
import math

import pytest

from regretless.cli.show import number, print_json, print_table


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (math.nan, "-"), (12345.6, "12346"), (123.45, "123.5"), (0.123456, "0.1235"), (7, "7"), ("a", "a")],
)
def test_numbers_are_written_the_way_a_person_reads_them(value: object, text: str) -> None:
    assert number(value) == text


def test_json_is_strict(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"a": math.nan, "b": [math.inf, 1.5], "c": {"d": -math.inf}})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.5], "c": {"d": None}}


def test_titles_stay_whole_and_brackets_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("a title that is much longer than its table", ("name", "value"), [("x[0]", 1.0), ("[red]y", 2.0)])
    printed = capsys.readouterr().out
    assert printed.splitlines()[0] == "a title that is much longer than its table"
    assert "x[0]" in printed
    assert "[red]y" in printed
