from __future__ import annotations

from pathlib import Path

import pytest

from regretless.cli.spec_options import check_files, given, parse, refuse_for_auto
from regretless.errors import InputError
from regretless.progress import PlainLine

from .files import CommandLine, Files


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


SEARCH: dict[str, object] = {"method": None, "p_solve": None, "validation": None, "epochs": 1}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"validation": 0.2}, "chooses by folds of the training data: leave out --validation, or name a method"),
        ({"patience": 2}, "leave out --patience"),
        ({"lr": 0.5}, "leave out --lr"),
        ({"init": "shared"}, "leave out --init shared, or add --start random"),
        ({"epochs": 0}, "needs at least one epoch: leave out --epochs"),
        ({"hidden": 5}, "add --model mlp, or leave --hidden out"),
    ],
)
def test_what_a_search_does_not_use_is_refused_and_leaves_nothing(
    changed: dict[str, object], said: str, cli: CommandLine, files: Files
) -> None:
    assert said in cli(*files.words(**(SEARCH | changed))).error
    assert not (files.folder / "run").exists()


def test_what_changes_nothing_passes() -> None:
    refuse_for_auto()
    refuse_for_auto(epochs=3, patience=0, validation=0.0, init="shared", start="random")


def test_a_search_is_retrained_without_a_learning_rate(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words(**SEARCH))
    words = ("retrain", files.folder / "run", "--features", files.x, "--costs", files.c, "--out", files.folder / "new")
    assert "leave out --lr" in cli(*words, "--lr", 0.1).error
    assert "leave out --epochs" in cli(*words, "--epochs", 0).error
