from __future__ import annotations

import pytest

from regretless.solvers import inventory as module
from regretless.solvers.engine import available, names
from regretless.solvers.inventory import inventory
from regretless.types import Status


def test_every_engine_of_the_table_is_described():
    reports = inventory(probe=False)
    assert [report.name for report in reports] == names()
    assert {report.name: report.installed for report in reports} == available()
    assert all(report.works is None and report.license for report in reports)
    assert all(bool(report.version) == report.installed for report in reports)


def test_the_default_engine_works():
    report = next(report for report in inventory() if report.name == "highs")
    assert (report.works, report.problem, report.license) == (True, "", "MIT")


def test_a_missing_package_comes_with_its_pip_line(monkeypatch):
    monkeypatch.setattr(module, "available", lambda: dict.fromkeys(names(), False))
    report = next(report for report in inventory() if report.name == "scip")
    assert (report.installed, report.works, report.version) == (False, None, "")
    assert "pip install 'pyscipopt'" in report.problem


@pytest.mark.parametrize("fault", ["raises", "fails", "lies"])
def test_an_engine_that_does_not_work_is_found_out(monkeypatch, fault):
    class Broken:
        def solve(self, objective):
            from regretless.solvers.engine import Outcome

            return (
                Outcome(None, Status.ERROR, message="no license")
                if fault == "fails"
                else Outcome(0 * objective, Status.OPTIMAL)
            )

    def make(*_, **__):
        if fault == "raises":
            raise RuntimeError("broken")
        return Broken()

    monkeypatch.setattr(module, "make_engine", make)
    report = inventory()[0]
    assert report.works is False
    assert {"raises": "broken", "fails": "no license", "lies": "wrongly"}[fault] in report.problem
