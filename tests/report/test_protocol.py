from __future__ import annotations

from pathlib import Path

from regretless.report import read_folder
from regretless.report.groups import sections
from regretless.report.protocol import environment, protocol
from regretless.report.report_data import DONE, Run
from regretless.report.sortable_table import Cell

from .conftest import MakeRun


def rows(results: Path) -> list[dict[str, Cell]]:
    table = protocol(sections(read_folder(results).runs))
    return [dict(zip((column.title for column in table.columns), row, strict=True)) for row in table.rows]


def test_specification_and_defaults_of_the_method_are_shown(tmp_path: Path, make_run: MakeRun) -> None:
    for seed in (0, 1, 2, 5):
        make_run("map-dc", seed=seed, lr=0.1)
    make_run("two-stage", lr=100.0)
    two_stage, map_dc = rows(tmp_path / "results")
    assert map_dc["seeds"].text == "0–2, 5"
    assert map_dc["settings"].text == "select shifted"
    assert map_dc["batch size"].text == "default"
    assert (two_stage["batch size"].text, two_stage["batch size"].value) == ("1", 1.0)
    (row,) = rows(make_run("spo-cache", settings={"p_solve": 0.2, "grow_at": "predicted"}))
    assert (row["p_solve"].text, row["settings"].text) == ("20 %", "grow_at predicted")
    assert (map_dc["learning rate"].text, two_stage["learning rate"].text) == ("0.1", "100")


def test_a_search_shows_the_epochs_it_did_and_no_single_learning_rate(make_run: MakeRun) -> None:
    (row,) = rows(make_run("auto", epochs=0, metrics={"epochs": 80}))
    assert (row["epochs"].text, row["learning rate"].text) == ("80", "several")
    assert row["initial weights"].text == "two-stage"


def test_initial_weights_are_those_that_training_started_from(make_run: MakeRun) -> None:
    (row,) = rows(make_run("spo", start="two-stage"))
    assert row["initial weights"].text == "two-stage"


def test_odd_values_are_shown_as_they_are(make_run: MakeRun) -> None:
    (row,) = rows(make_run("invented", lr="<odd>", epochs=0, settings={"p_solve": None}))
    assert (row["learning rate"].text, row["p_solve"].text) == ("<odd>", "–")


def test_environments_that_differ_are_counted() -> None:
    runs = [Run(str(i), {}, DONE, environment={"torch": version}) for i, version in enumerate(["2.8", "2.9", "2.9"])]
    assert environment(runs) == [("torch", "2.8 (1 run), 2.9 (2 runs)")]
    assert environment(runs[1:]) == [("torch", "2.9")]
    assert environment([]) == []


def test_a_closed_form_has_no_settings_of_steps(tmp_path: Path, make_run: MakeRun) -> None:
    make_run("two-stage", epochs=20, settings={"fit": "best"}, metrics={"epochs": 0})
    make_run("two-stage", epochs=20, settings={"fit": "gradient"}, metrics={"epochs": 20})
    titles = ("epochs", "learning rate", "batch size", "initial weights", "patience")
    closed, steps = ([row[title].text for title in titles] for row in rows(tmp_path / "results"))
    assert closed == ["–"] * 5
    assert steps == ["20", "0.5", "1", "random", "none"]


def test_a_direct_search_has_no_learning_rate(make_run: MakeRun) -> None:
    (row,) = rows(make_run("direct"))
    assert [row[title].text for title in ("epochs", "learning rate", "initial weights")] == ["–", "–", "random"]


def test_numbers_are_sorted_as_numbers(make_run: MakeRun) -> None:
    table = protocol(sections(read_folder(make_run("spo", batch_size=32, patience=5, epochs=2000)).runs))
    assert [column.title for column in table.columns if column.numeric] == [
        "epochs", "learning rate", "batch size", "patience", "p_solve",
    ]  # fmt: skip
    shown = {column.title: cell for column, cell in zip(table.columns, table.rows[0], strict=True)}
    assert (shown["batch size"].text, shown["batch size"].value) == ("32", 32.0)
    assert (shown["epochs"].text, shown["epochs"].value) == ("2,000", 2000.0)
    assert (shown["patience"].text, shown["p_solve"].text) == ("5", "100 %")
