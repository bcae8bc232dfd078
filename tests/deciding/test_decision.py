from __future__ import annotations

import json

import pytest

from regretless.deciding.decision import Decision, RunnerUp, Violation
from regretless.types import Status

ABOVE = Violation("weight", "row", 7.5, -1e20, 6.0)
BELOW = Violation("x_1", "variable", -0.25, 0.0, 1.0)


@pytest.mark.parametrize(
    ("violation", "said"), [(ABOVE, "row weight: 7.5 is above 6"), (BELOW, "variable x_1: -0.25 is below 0")]
)
def test_a_violation_says_which_bound_is_missed_and_by_what(violation: Violation, said: str) -> None:
    assert str(violation) == said


def test_only_a_decision_that_keeps_all_rows_and_bounds_is_feasible() -> None:
    made = {found: Decision({}, {}, 0.0, Status.OPTIMAL, found) for found in ("solved", "cached", "infeasible")}  # type: ignore[arg-type]
    assert [found for found, decision in made.items() if decision.feasible] == ["solved", "cached"]


def test_a_decision_is_plain_data_with_words_for_status_and_violations() -> None:
    other = RunnerUp({"x": 0.0}, 1.0, 2.0)
    one = Decision({"x": 1.0}, {"x": 3.0}, 3.0, Status.FEASIBLE, "cached", violated=(ABOVE,), runner_up=other)
    plain = json.loads(json.dumps(one.as_dict()))
    assert (plain["status"], plain["violated"]) == ("feasible", ["row weight: 7.5 is above 6"])
    assert plain["runner_up"] == {"decision": {"x": 0.0}, "objective": 1.0, "extra": 2.0}
