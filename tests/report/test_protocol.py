from __future__ import annotations

from pathlib import Path

from regretless.report.collect import collect
from regretless.report.collected import DONE, Run

from regretless.report.groups import sections
from regretless.report.protocol import environment, protocol

from .conftest import MakeRun


def test_specification_and_defaults_of_the_method_are_shown(tmp_path: Path, make_run: MakeRun) -> None:
    for seed in (0, 1, 2, 5):
        make_run("map-dc", seed=seed, lr=0.1)
    make_run("two-stage")
    text = str(protocol(sections(collect(tmp_path / "results").runs)))
    assert "0–2, 5" in text
    assert "select shifted" in text
    assert "the problem’s own" in text
    assert 'data-value="1.0">1<' in text
    assert ">0.1<" in text


def test_odd_values_are_shown_as_they_are(make_run: MakeRun) -> None:
    text = str(protocol(sections(collect(make_run("invented", lr="<odd>", epochs=0, settings={"p_solve": None})).runs)))
    assert "&lt;odd&gt;" in text


def test_environments_that_differ_are_counted() -> None:
    runs = [Run(str(i), {}, DONE, environment={"torch": version}) for i, version in enumerate(["2.8", "2.9", "2.9"])]
    assert "2.8 (1 runs), 2.9 (2 runs)" in environment(runs)
    assert "No environment" in environment([])
