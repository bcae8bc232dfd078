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
