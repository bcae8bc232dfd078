from __future__ import annotations

from pathlib import Path

from .files import ITEMS, CommandLine, Files, write_csv


def test_an_audit_prints_sums_worst_days_and_sentences(cli: CommandLine, logged: tuple[Path, Path]) -> None:
    log, costs = logged
    said = cli.ok("audit", log, "--costs", costs).out
    assert "its 95 % interval, from" in said
    for words in ("audit: sums over all days", "worst days", "Two-stage would have had a regret of", "drift"):
        assert words in said


def test_an_audit_as_json_and_as_a_page(cli: CommandLine, logged: tuple[Path, Path], tmp_path: Path) -> None:
    log, costs = logged
    page = tmp_path / "audit.html"
    found = cli.ok("audit", log, "--costs", costs, "--json", "--out", page).json
    assert found["totals"]["days"] == 20
    assert found["out"] == str(page)
    assert "Audit of d.db" in page.read_text()


def test_what_cannot_be_audited_is_one_line_and_leaves_no_page(
    cli: CommandLine, logged: tuple[Path, Path], tmp_path: Path
) -> None:
    log, costs = logged
    page = tmp_path / "audit.html"
    assert "there is no log" in cli("audit", tmp_path / "none.db", "--costs", costs, "--out", page).error
    assert "there is no file" in cli("audit", log, "--costs", tmp_path / "none.csv", "--out", page).error
    other = write_csv(tmp_path / "o.csv", ["instance", *ITEMS], [["monday", 1, 2, 3, 4, 5]])
    assert "no instance of" in cli("audit", log, "--costs", other, "--out", page).error
    assert not page.exists()
    assert not (tmp_path / "none.db").exists()
    assert "cannot write" in cli("audit", log, "--costs", costs, "--out", costs / "a.html").error


def test_a_page_that_would_replace_an_input_or_is_no_page_is_refused(
    cli: CommandLine, logged: tuple[Path, Path], tmp_path: Path
) -> None:
    log, costs = logged
    before = [path.read_bytes() for path in logged]
    for out in (log, costs):
        assert "would be overwritten" in cli("audit", log, "--costs", costs, "--out", out).error
    assert [path.read_bytes() for path in logged] == before
    other = tmp_path / "audit.csv"
    assert "its name must end in .html" in cli("audit", log, "--costs", costs, "--out", other).error
    assert not other.exists()


def test_costs_are_named_by_the_column_that_named_the_rows_in_training(cli: CommandLine, files: Files) -> None:
    folder = files.folder
    x, c = (
        write_csv(folder / name, ["day", *columns], [[f"day {i}", *row] for i, row in enumerate(rows.tolist())])
        for name, columns, rows in (("x2.csv", "abc", files.features), ("c2.csv", ITEMS, files.costs))
    )
    words = {"features": x, "costs": c, "id": "day", "method": "two-stage", "p_solve": None, "epochs": 1}
    cli.ok(*files.words(**words))
    cli.ok("decide", folder / "run", "--features", x, "--log", folder / "d.db")
    cli.ok("audit", folder / "d.db", "--costs", c)
    other = folder / "o.csv"
    other.write_text(c.read_text().replace("day,", "instance,", 1))
    error = cli("audit", folder / "d.db", "--costs", other).error
    assert "o.csv, line 1: there is no column 'day', which names the rows; there are" in error
    assert "--id of train" in " ".join(cli.ok("audit", "--help").out.replace("│", "").split())
