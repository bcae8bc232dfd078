from __future__ import annotations

from regretless.report.notes import explanation, published_remarks


def test_regret_and_exact_evaluation_are_explained() -> None:
    assert "best decision in hindsight" in explanation()
    assert "Every regret in this report is exact" in explanation()


def test_remarks_are_those_of_the_problems_at_hand() -> None:
    assert published_remarks(["synthetic-knapsack-60", "my-model"]) is None
    text = str(published_remarks(["matching-10"]))
    assert "matching rows" in text
    assert "scheduler" not in text
    assert "shifted cost" in text
