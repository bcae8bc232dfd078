from __future__ import annotations

from pathlib import Path

import pytest

from regretless.cli.spec_options import check_files, given, parse
from regretless.errors import InputError
from regretless.progress import PlainLine

from .files import CommandLine


def test_values_are_numbers_words_or_nothing() -> None:
    words = ["tau=0.1", "select=predicted", "days=100", "fast=true", "capacity=null", "note=a=b"]
    expected = {"tau": 0.1, "select": "predicted", "days": 100, "fast": True, "capacity": None, "note": "a=b"}
    assert parse(words) == expected
    assert parse(None) == {}


@pytest.mark.parametrize("word", ["tau", "=3", "two words=1", "a-b=1", ""])
def test_other_words_are_refused(word: str) -> None:
    with pytest.raises(InputError, match="NAME=VALUE"):
        parse([word])


def test_what_was_not_given_is_left_out() -> None:
    assert given(a=None, b=0, c=Path("x.csv"), d=[], e=False) == {"b": 0, "c": "x.csv", "e": False}


def test_a_model_file_needs_data_and_a_problem_by_name_has_its_own() -> None:
    check_files("m.lp", {"features": "x", "costs": "c", "model": "mlp", "hidden": 3})
    with pytest.raises(InputError, match="add --model mlp, or leave --hidden out"):
        check_files("m.lp", {"features": "x", "costs": "c", "hidden": 3})
    check_files("knapsack-60", {})
    with pytest.raises(InputError, match="give its data with --features and --costs"):
        check_files("m.mps.gz", {})
    with pytest.raises(InputError, match="--cost-variables is for model files"):
        check_files("knapsack-60", {"cost_variables": ["x"]})


def test_a_program_that_reads_json_gets_no_lines_of_progress(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlainLine, "wanted", True)
    cli.ok("data", "list", "--json")
    assert not PlainLine.wanted
    cli.ok("data", "list")
    assert PlainLine.wanted
