from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import InputError
from regretless.runs import Spec, run
from regretless.runs.evaluate import _positions, evaluate_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    spec = Spec(
        "synthetic-knapsack-60", "auto", epochs=1, settings={"folds": 2, "fallback": False}, options={"days": 40}
    )
    run(spec, folder, progress=False)
    return folder


def test_figures_and_the_comparison_with_two_stage_come_by_name(folder: Path) -> None:
    found = evaluate_run(folder, progress=False)
    assert (found.on, found.left_out) == ("test", 0)
    assert found.figures.keys() == {"model", "two-stage"}
    gain = found.figures["two-stage"].regret - found.figures["model"].regret
    assert found.comparisons["two-stage"].gain == pytest.approx(gain)
    assert found.ledger["evaluation"]["solves"] == 2 * found.figures["model"].instances


def test_another_part_is_evaluated_without_two_stage(folder: Path) -> None:
    found = evaluate_run(str(folder), on="train", two_stage=False, progress=False)
    assert (found.on, list(found.figures), found.comparisons) == ("train", ["model"], {})
    assert found.figures["model"].instances == 28


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"on": "all"}, "must be test, validation or train, got 'all'"),
        ({"features": "x.csv"}, "go together"),
        ({"constraints": "r.csv"}, "is for other data"),
        ({"features": "x.csv", "costs": "c.csv", "on": "test"}, "leave it out"),
    ],
)
def test_arguments_that_do_not_fit_together_are_refused(arguments: dict[str, str], message: str, folder: Path) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_run(folder, **arguments)  # type: ignore[arg-type]


def test_forecasts_of_rows_without_a_solution_are_left_out_with_them() -> None:
    assert _positions(["a", "b", "c"], ("a", "c")) == [0, 2]
    with pytest.raises(InputError, match="without names the forecasts cannot be matched"):
        _positions(None, None)
