from __future__ import annotations

from pathlib import Path

import pytest

from .files import CommandLine, Files, make_files


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
