from __future__ import annotations

from pathlib import Path

import pytest

from .files import ITEMS, CommandLine, Files, make_files, write_csv


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return make_files(tmp_path)


@pytest.fixture(scope="session")
def trained_files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """One run, trained once for all tests that only read it; the files it was made from are gone."""
    from regretless.runs import Spec, run

    files = make_files(tmp_path_factory.mktemp("trained"))
    options = {"features": str(files.x), "costs": str(files.c), "cost_variables": ["x_*"], "validation": 0.2}
    spec = Spec(str(files.model), "map-dc", epochs=3, options=options | {"test": 0.2}, patience=5)
    run(spec, files.folder / "run", progress=False)
    files.model.unlink()
    return files


@pytest.fixture(scope="session")
def logged(trained_files: Files, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A log of 20 days, and their true costs."""
    from regretless.cli import main

    folder = tmp_path_factory.mktemp("logged")
    names = [f"day {i}" for i in range(20)]
    x = write_csv(
        folder / "x.csv", ["instance", "a", "b", "c"],
        [[name, *row] for name, row in zip(names, trained_files.features.tolist(), strict=False)],
    )  # fmt: skip
    c = write_csv(
        folder / "c.csv", ["instance", *ITEMS],
        [[name, *row] for name, row in zip(names, trained_files.costs.tolist(), strict=False)],
    )  # fmt: skip
    with pytest.raises(SystemExit) as end:
        main(["decide", str(trained_files.folder / "run"), "--features", str(x), "--log", str(folder / "d.db")])
    assert end.value.code == 0
    return folder / "d.db", c
