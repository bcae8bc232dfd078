from __future__ import annotations

import pytest

from regretless.report.report_data import DONE, Run


@pytest.mark.parametrize(
    ("spec", "expected"),
    [({"problem": "p", "method": "spo"}, 1.0), ({"problem": "p", "method": "two-stage"}, None),
     ({"problem": "p", "method": "spo-cache"}, 0.05), ({"settings": 3}, None), ({}, None)],
)  # fmt: skip
def test_probability_of_a_solve_follows_from_the_specification(spec: dict[str, object], expected: float | None) -> None:
    assert Run("x", spec, DONE).p_solve == expected


def test_a_run_without_names_has_stand_ins() -> None:
    assert (Run("x", {}, DONE).problem, Run("x", {}, DONE).method) == ("unknown problem", "unknown method")


def test_a_model_file_is_named_without_its_folder() -> None:
    spec = {"problem": "/some/where/plan.lp", "options": {"features": "x.csv"}}
    assert Run("x", spec, DONE).problem == "plan.lp"
    assert Run("x", {"problem": "energy:my/instance.txt"}, DONE).problem == "energy:my/instance.txt"
