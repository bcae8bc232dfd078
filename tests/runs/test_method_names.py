from __future__ import annotations

from regretless.runs.method_names import method_and_baseline


def test_only_a_two_stage_run_by_gradient_steps_has_another_name_than_its_baseline() -> None:
    assert method_and_baseline("auto", {}) == ("auto", "two-stage")
    assert method_and_baseline("two-stage", {"fit": "best"}) == ("two-stage", "two-stage")
    assert method_and_baseline("two-stage", {"fit": "gradient"}) == ("two-stage (gradient)", "two-stage (best fit)")
