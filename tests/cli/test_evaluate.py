from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from regretless.cli.evaluate import _compared
from regretless.search.verdict import judge

from .files import ITEMS, CommandLine, Files, write_csv


def test_evaluation_repeats_the_figures_of_training(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words())
    figures = json.loads((files.folder / "run" / "metrics.json").read_text())
    again = cli.ok("evaluate", files.folder / "run", "--json").json
    assert again["regret"] == figures["regret"]
    assert again["ledger"].keys() <= {"labels", "growth", "watching", "scoring", "evaluation", "decisions"}
    assert "test data" in " ".join(cli.ok("evaluate", files.folder / "run").out.split())
    validation = cli.ok("evaluate", files.folder / "run", "--on", "validation", "--json").json
    assert validation["instances"] == 8
    # the run has its own copy of the data
    files.c.write_text("spoiled")
    files.model.unlink()
    after = cli.ok("evaluate", files.folder / "run", "--json").json
    assert after["regret"] == figures["regret"]
    assert after["ledger"]["labels"]["solves"] == 0


def test_files_are_evaluated_when_the_original_ones_are_gone(
    cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    run = trained_files.folder / "run"
    figures = json.loads((run / "metrics.json").read_text())
    x = write_csv(tmp_path / "x.csv", ["b", "a", "c"], trained_files.features[-8:, [1, 0, 2]].tolist())
    c = write_csv(tmp_path / "c.csv", ITEMS, trained_files.costs[-8:].tolist())
    result = cli.ok("evaluate", run, "--features", x, "--costs", c, "--json").json
    assert result["regret"] == pytest.approx(figures["regret"])
    assert result["mse"] == pytest.approx(figures["mse"])
    assert result["on"] == str(x)
    assert cli.ok("evaluate", run, "--json").json["regret"] == pytest.approx(figures["regret"])


def test_a_run_without_its_data_is_evaluated_on_the_original_files_only(cli: CommandLine, files: Files) -> None:
    """Data that were removed, as for a run that others get: figures on other rows would not be those of training."""
    run = files.folder / "run"
    cli.ok(*files.words(epochs=1))
    regret = cli.ok("evaluate", run, "--json").json["regret"]
    (run / "data.safetensors").unlink()
    assert cli.ok("evaluate", run, "--json").json["regret"] == pytest.approx(regret)
    files.x.write_text(files.x.read_text().replace("0.", "1.", 1))
    assert "has no data.safetensors, and the features of training are not in" in cli("evaluate", run).error
    new = "retrain", run, "--features", files.x, "--costs", files.c, "--out", files.folder / "new"
    assert "has no data to go on from: it needs data.safetensors" in cli(*new).error


def test_parts_that_a_split_does_not_have_are_refused(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words(test=None))
    assert "has no test data" in cli("evaluate", files.folder / "run").error
    assert "--on must be" in cli("evaluate", files.folder / "run", "--on", "all").error
    assert "go together" in cli("evaluate", files.folder / "run", "--features", files.x).error
    words = ["--features", files.x, "--costs", files.c, "--on", "test"]
    assert "leave it out" in cli("evaluate", files.folder / "run", *words).error


def test_forecasts_are_compared_on_the_test_data(cli: CommandLine, files: Files) -> None:
    run, folder = files.folder / "run", files.folder
    cli.ok(*files.words())
    own = cli.ok("evaluate", run, "--json").json
    truth = write_csv(folder / "truth.csv", ITEMS, files.costs[-8:].tolist())
    found = cli.ok("evaluate", run, "--forecasts", truth, "--json").json
    assert {name: found[name] for name in own if name != "ledger"} == {n: own[n] for n in own if n != "ledger"}
    assert (found["forecasts"]["regret"], found["forecasts"]["mse"]) == (0.0, pytest.approx(0.0))
    assert found["forecasts_comparison"]["gain"] == pytest.approx(-own["regret"])
    assert found["forecasts_comparison"]["instances"] == 8
    assert found["ledger"]["evaluation"]["solves"] == 24
    wrong = write_csv(folder / "wrong.csv", ITEMS, (-files.costs[-8:]).tolist())
    shown = cli.ok("evaluate", run, "--forecasts", wrong).out
    assert all(name in shown.splitlines()[2] for name in ("model", "two-stage", "forecasts"))
    assert "The model leads to better decisions than the forecasts: gain " in shown


def test_forecasts_are_compared_on_other_data(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    names = ["tuesday", "monday", "friday"]

    def table(name: str, columns: list[str], values: Any, rows: list[str]) -> Path:
        lines = [[row, *values[names.index(row)]] for row in rows]
        return write_csv(tmp_path / name, ["instance", *columns], lines)

    x = table("x.csv", ["a", "b", "c"], trained_files.features[-3:], names)
    c = table("c.csv", ITEMS, trained_files.costs[-3:], names)
    f = table("f.csv", ITEMS, trained_files.costs[-3:], names[::-1])
    words = "evaluate", trained_files.folder / "run", "--features", x, "--costs", c, "--forecasts"
    assert cli.ok(*words, f, "--json").json["forecasts"]["regret"] == 0.0
    few = table("few.csv", ITEMS, trained_files.costs[-3:], names[1:])
    assert f"1 instance of {x} is not in {few}: tuesday" in cli(*words, few).error


@pytest.mark.filterwarnings("default::regretless.errors.RegretlessWarning")
def test_costs_in_other_units_are_reported(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    run = trained_files.folder / "run"
    x = write_csv(tmp_path / "x.csv", ["a", "b", "c"], trained_files.features.tolist())
    for factor, reported in ((1, False), (1000, True)):
        c = write_csv(tmp_path / "c.csv", ITEMS, (factor * trained_files.costs).tolist())
        said = cli.ok("evaluate", run, "--features", x, "--costs", c).err
        assert (f"warning: the costs of {c} are on another scale than those of {run}" in said) is reported


@pytest.mark.parametrize(
    ("mine", "its", "words"),
    [
        ([1.0, 2.0, 1.5], [5.0, 6.0, 5.0], "The model leads to better decisions than the forecasts: gain 3.833 per"),
        ([5.0, 6.0, 5.0], [1.0, 2.0, 1.5], "The forecasts lead to better decisions than the model: gain -3.833 per"),
        ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0], "The difference between model and forecasts is within its uncertainty: "),
        ([1.0], [3.0], "Model and forecasts cannot be compared: that needs two instances, got 1"),
    ],
)
def test_a_comparison_says_which_is_better(mine: list[float], its: list[float], words: str) -> None:
    regrets = [torch.tensor(values, dtype=torch.float64) for values in (its, mine)]
    assert _compared(judge(regrets[0], regrets[1], torch.ones_like(regrets[0])), "forecasts").startswith(words)


def test_a_comparison_with_two_stage_names_it() -> None:
    better, worse = torch.tensor([1.0, 2.0, 1.5]).double(), torch.tensor([5.0, 6.0, 5.0]).double()
    verdicts = [judge(*regrets, torch.ones(3)) for regrets in ((worse, better), (better, worse), (better, better))]
    first, second, same = (_compared(verdict, "two-stage") for verdict in verdicts)
    assert first.startswith("The model leads to better decisions than two-stage: gain 3.833")
    assert second.startswith("Two-stage leads to better decisions than the model: gain -3.833")
    assert same == "The model and two-stage lead to equally good decisions."


def test_the_model_is_evaluated_beside_two_stage(cli: CommandLine, files: Files) -> None:
    run = files.folder / "run"
    cli.ok(*files.words())
    figures = json.loads((run / "metrics.json").read_text())
    found = cli.ok("evaluate", run, "--json").json
    assert found["two_stage"]["regret"] == figures["two_stage_regret"] != figures["regret"]
    assert found["two_stage_comparison"]["gain"] == pytest.approx(figures["two_stage_regret"] - figures["regret"])
    assert found["ledger"]["evaluation"]["solves"] == 16
    x = write_csv(files.folder / "new_x.csv", ["a", "b", "c"], files.features[:9].tolist())
    c = write_csv(files.folder / "new_c.csv", ITEMS, files.costs[:9].tolist())
    new = cli.ok("evaluate", run, "--features", x, "--costs", c, "--json").json
    assert new["two_stage"]["instances"] == new["two_stage_comparison"]["instances"] == 9
    alone = cli.ok("evaluate", run, "--no-two-stage", "--json").json
    assert "two_stage" not in alone
    assert alone["ledger"]["evaluation"]["solves"] == 8
    assert alone["regret"] == found["regret"]


def test_a_model_that_is_its_baseline_is_solved_once(cli: CommandLine, files: Files) -> None:
    cli.ok(*files.words(method="two-stage", epochs=None, lr=None, p_solve=None), "--set", "fit=best")
    found = cli.ok("evaluate", files.folder / "run", "--json").json
    assert found["two_stage"]["regret"] == found["regret"]
    assert found["ledger"]["evaluation"]["solves"] == 8
    shown = " ".join(cli.ok("evaluate", files.folder / "run").out.split())
    assert "The model and two-stage lead to equally good decisions." in shown


def test_a_named_problem_has_two_stage_beside_a_search(cli: CommandLine, tmp_path: Path) -> None:
    words = "train", "synthetic-knapsack-60", "--option", "days=30", "--epochs", 1
    cli.ok(*words, "--set", "methods=map-dc", "--set", "folds=2", "--out", tmp_path / "searched")
    cli.ok(*words, "--method", "map-dc", "--out", tmp_path / "single")
    assert "two_stage" in cli.ok("evaluate", tmp_path / "searched", "--json").json
    assert "two_stage" not in cli.ok("evaluate", tmp_path / "single", "--json").json


def test_a_folder_without_a_run_is_named(cli: CommandLine, tmp_path: Path) -> None:
    assert "is no run" in cli("evaluate", tmp_path).error


@pytest.mark.filterwarnings("default::regretless.errors.RegretlessWarning")
@pytest.mark.parametrize("on_failure", ["skip", None])
def test_a_row_without_a_solution_is_named_and_left_out_as_in_training(
    on_failure: str | None, cli: CommandLine, files: Files
) -> None:
    names = [f"d{i}" for i in range(40)]
    tables = {"features": (["a", "b", "c"], files.features), "costs": (ITEMS, files.costs)}
    tables |= {"constraints": (["row:weight"], [[6]] * 40)}

    def written(part: slice) -> dict[str, Path]:
        return {
            role: write_csv(
                files.folder / f"{role}.csv",
                ["instance", *columns],
                [[name, *row] for name, row in zip(names[part], values[part], strict=True)],
            )
            for role, (columns, values) in tables.items()
        }

    cli.ok(*files.words(on_failure=on_failure, **written(slice(40))))
    tables["constraints"] = (["row:weight"], [[6]] * 38 + [[-9]] * 2)
    words = [word for role, path in written(slice(35, 40)).items() for word in (f"--{role}", path)]
    done = cli("evaluate", files.folder / "run", *words, "--json")
    if on_failure is None:
        assert "no solution for instance 'd38': infeasible: leave it out" in done.error
        assert done.error.endswith(": leave it out, or use a run that was trained with --on-failure skip")
        assert "family member" not in done.error
        return
    assert (done.code, done.json["instances"], done.json["left_out"]) == (0, 3, 2)
    assert done.err == "warning: 2 of 5 instances have no solution and are left out: d38, d39\n"
    files.x.unlink()
    assert cli.ok("evaluate", files.folder / "run", "--json").json["left_out"] == 0


def test_a_two_stage_run_by_gradient_steps_and_its_baseline_have_two_names(files: Files, cli: CommandLine) -> None:
    trained = cli.ok(*files.words(method="two-stage", epochs=2, p_solve=None)).out
    assert "knapsack.lp, two-stage (gradient), seed 0" in trained
    assert "two-stage (best fit) regret" in trained
    shown = cli.ok("evaluate", files.folder / "run").out
    assert "knapsack.lp, two-stage (gradient), test data" in shown
    assert "two-stage (best fit)" in shown.splitlines()[2]
    assert "two-stage (best fit)" in next(line for line in shown.splitlines() if "model and" in line or "than" in line)
    cli.ok("report", files.folder / "run")
    page = (files.folder / "run" / "report.html").read_text()
    assert "two-stage (gradient) on knapsack.lp, seed 0" in page
    assert "gain over two-stage (best fit)" in page
    for word in ("gain over two-stage,", "less than two-stage (", "more than two-stage (", "as two-stage."):
        assert word not in page.replace("two-stage (best fit)", "the other")
