from __future__ import annotations

from regretless.report.display_order import method_order, natural_order, run_order
from regretless.report.report_data import DONE, Run


def test_numbers_in_names_count_as_numbers() -> None:
    assert sorted(["knapsack-120", "knapsack-60"], key=natural_order) == ["knapsack-60", "knapsack-120"]


def test_strange_digits_do_not_break_the_order() -> None:
    assert sorted(["a-²", "a-" + "9" * 5000, "a-٣", ""], key=natural_order)[0] == ""


def test_methods_come_in_the_order_of_the_paper_and_unknown_ones_last() -> None:
    assert sorted(["zeta", "map-dc", "spo", "alpha", "two-stage"], key=method_order) == [
        "two-stage", "spo", "map-dc", "alpha", "zeta",
    ]  # fmt: skip


def test_runs_are_ordered_by_problem_method_and_seed() -> None:
    specs = [("matching-10", "spo", 0), ("knapsack-60", "spo", 1), ("knapsack-60", "spo", 0), ("energy-1", "spo", "x")]
    runs = [Run(f"{p}{s}", {"problem": p, "method": m, "seed": s}, DONE) for p, m, s in specs]
    assert [run.name for run in sorted(runs, key=run_order)] == [
        "knapsack-600",
        "knapsack-601",
        "energy-1x",
        "matching-100",
    ]
