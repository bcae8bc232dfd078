from __future__ import annotations

import pytest

from regretless.cli.auto_options import refuse_for_auto

from .files import CommandLine, Files

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
