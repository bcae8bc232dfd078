from __future__ import annotations

from pathlib import Path

import pytest

from regretless.cli.output_check import refuse_overwriting, refuse_unwritable
from regretless.errors import FileError, InputError

from .files import CommandLine, Files


def test_another_file_passes_and_the_same_one_is_named(tmp_path: Path) -> None:
    x, link = tmp_path / "x.csv", tmp_path / "link.csv"
    x.write_text("a\n1\n")
    link.symlink_to(x)
    refuse_overwriting(tmp_path / "y.csv", x, None)
    refuse_overwriting(None, x)
    for out in (x, link, tmp_path / "." / "x.csv"):
        with pytest.raises(
            InputError, match=r"csv would be overwritten, and this command uses it: choose another file"
        ):
            refuse_overwriting(out, None, x)


@pytest.mark.parametrize("option", ["--out", "--log"])
def test_decide_does_not_replace_what_it_reads(
    option: str, cli: CommandLine, trained_files: Files, tmp_path: Path
) -> None:
    x = tmp_path / "x.csv"
    x.write_bytes(trained_files.x.read_bytes())
    words = ("decide", trained_files.folder / "run", "--features", x)
    assert "would be overwritten" in cli(*words, option, x).error
    assert x.read_bytes() == trained_files.x.read_bytes()
    assert "would be overwritten" in cli(*words, "--out", tmp_path / "d.csv", "--log", tmp_path / "d.csv").error


def test_decide_replaces_decisions_and_no_other_table(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    words = ("decide", trained_files.folder / "run", "--features", trained_files.x, "--out")
    for _ in range(2):
        cli.ok(*words, tmp_path / "d.csv")
    (tmp_path / "mine.csv").write_text("day,price\n1,2\n")
    assert (
        "holds no decisions of an earlier command, and would be overwritten" in cli(*words, tmp_path / "mine.csv").error
    )
    assert (tmp_path / "mine.csv").read_text() == "day,price\n1,2\n"


def test_a_page_replaces_a_page_of_ours_and_no_other(cli: CommandLine, trained_files: Files, tmp_path: Path) -> None:
    for _ in range(2):
        cli.ok("report", trained_files.folder / "run", "--out", tmp_path / "r.html")
    (tmp_path / "mine.html").write_text("<!DOCTYPE html>")
    said = cli("report", trained_files.folder / "run", "--out", tmp_path / "mine.html").error
    assert "mine.html is no page of regretless, and would be overwritten: choose another file" in said
    assert (tmp_path / "mine.html").read_text() == "<!DOCTYPE html>"


def test_places_that_can_be_made_pass_and_nothing_is_made(tmp_path: Path) -> None:
    refuse_unwritable(tmp_path / "a" / "b")
    refuse_unwritable(tmp_path / "a" / "b.csv", folder=False)
    refuse_unwritable(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, folder in ((tmp_path / "file", True), (tmp_path / "file" / "run", True), (tmp_path, False)):
        with pytest.raises(FileError, match="cannot write"):
            refuse_unwritable(path, folder=folder)
    with pytest.raises(FileError, match="choose another --log"):
        refuse_unwritable(tmp_path / "file" / "d.db", folder=False, option="--log")
