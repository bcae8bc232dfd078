from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import InputError
from regretless.milp import MILP
from regretless.runs import Spec, run
from regretless.runs.evaluate import _positions, evaluate_run, read_forecasts
from regretless.tables.encoded_column import Column
from regretless.tables.encoding import Encoding
from regretless.tables.saved_problem import SavedProblem


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


NAMED = "instance,b,a\nmonday,1,2\ntuesday,3,4\nfriday,5,6\n"
PLAIN = "b,a\n1,2\n3,4\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "f.csv"


def test_rows_are_matched_by_name_and_columns_by_variable(path: Path) -> None:
    path.write_text(NAMED)
    found = read_forecasts(path, ["a", "b"], ["friday", "monday"], 2, where="test data")
    assert found.tolist() == [[6.0, 5.0], [2.0, 1.0]]


def test_a_day_is_matched_however_it_is_written(path: Path) -> None:
    path.write_text("instance,b,a\n2024-01-31,1,2\n2024-02-01,3,4\n")
    found = read_forecasts(path, ["a", "b"], ["01.02.2024"], 1, where="test data")
    assert found.tolist() == [[4.0, 3.0]]


def test_rows_without_names_are_matched_by_position(path: Path) -> None:
    path.write_text(PLAIN)
    assert read_forecasts(path, ["a", "b"], None, 2, where="test data").tolist() == [[2.0, 1.0], [4.0, 3.0]]


def test_one_row_per_variable_is_read_as_for_costs(path: Path) -> None:
    path.write_text("day,variable,price,note\nmonday,a,2,\nmonday,b,1,rain\n")
    encoding = Encoding((Column("wind", "number"),), id="day", ignore=("note",))
    saved = SavedProblem(MILP([[1.0, 1.0]]), "min", ("a", "b"), ("wind",), (1,), encoding=encoding)
    assert read_forecasts(path, ["a", "b"], ["monday"], 1, where="test data", saved=saved).tolist() == [[2.0, 1.0]]


@pytest.mark.parametrize(
    ("text", "names", "count", "message"),
    [
        (
            NAMED,
            ["monday", "sunday"],
            2,
            "1 instance of test data is not in .*f.csv: sunday; those of ",
        ),
        (NAMED, None, 3, "f.csv names its rows and test data does not, so that they cannot be matched"),
        (PLAIN, ["monday", "sunday"], 2, "test data names its rows and .*f.csv does not"),
        (PLAIN, None, 3, "f.csv has 2 instances and test data has 3; the numbers must be equal"),
        ("a\n1\n", None, 1, "missing: b"),
    ],
)
def test_what_cannot_be_matched_is_named(path: Path, text: str, names: list[str], count: int, message: str) -> None:
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_forecasts(path, ["a", "b"], names, count, where="test data")
