from __future__ import annotations

import subprocess

import pytest

from regretless import __version__
from regretless.cli import doctor
from regretless.solvers import names

from .files import CommandLine


def test_engines_are_tried_and_listed_with_their_limits(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_ray_cluster", lambda: None)
    found = cli.ok("doctor", "--json").json
    engines = {engine["name"]: engine for engine in found["engines"]}
    assert list(engines) == list(names())
    assert engines["highs"]["works"] is True
    assert engines["highs"]["version"] == found["versions"]["highspy"]
    assert "2,000" in engines["gurobi"]["limits"]
    assert engines["gurobi"]["license"] == "commercial"
    for engine in engines.values():
        assert engine["works"] is True or engine["problem"]
    assert found["versions"]["regretless"] == __version__
    assert found["versions"]["ray"]
    assert found["ray_cluster"] is None


def test_the_table_names_engines_data_and_conflicts(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"address": "10.0.0.1:6379", "nodes": 2, "cpus": 8}
    monkeypatch.setattr(doctor, "_ray_cluster", lambda: cluster)
    printed = cli.ok("doctor").out
    for word in ("highs", "commercial", "semo", "torch", "ray", "Ray cluster: 10.0.0.1:6379, 2 nodes, 8 CPUs"):
        assert word in printed
    assert "\nhighs:" not in printed, "an engine without a problem or limits needs no line"


@pytest.mark.slow
def test_a_cluster_that_is_not_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")  # not one that happens to be there, or that hangs
    assert doctor._ray_cluster() is None


def test_a_cluster_that_does_not_answer_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "CLUSTER_SECONDS", 0.01)
    assert doctor._ray_cluster() is None
    assert "none is reachable" in doctor._cluster_line(None)


@pytest.mark.parametrize(
    ("printed", "found"),
    [('a warning\n{"address": "10.0.0.1:6379"}\n', {"address": "10.0.0.1:6379"}), ("null\n", None), ("", None)],
)
def test_a_cluster_is_what_the_last_line_of_its_process_says(
    printed: str, found: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setattr("subprocess.run", lambda command, **_: subprocess.CompletedProcess(command, 0, printed))
    assert doctor._ray_cluster() == found


@pytest.mark.parametrize(
    ("highs", "ortools", "conflict"),
    [
        ("1.14.0", "9.15", False),
        ("1.15.1", "9.15", True),
        ("1.15.1", "missing (pip ...)", False),
        ("missing", "9", False),
    ],
)
def test_the_clash_of_two_highs_libraries_is_told(highs: str, ortools: str, conflict: bool) -> None:
    said = doctor._conflicts({"highspy": highs, "ortools": ortools})
    assert [line.partition(":")[0] for line in said] == ["conflict"] * conflict
