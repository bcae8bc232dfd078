from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from regretless.deciding.audited_run import Day
from regretless.report.days import differences, every_table, held_out_days, worst_table
from regretless.runs.held_out import HeldOutView

from .audits import make_audit


def view(sense: str = "max") -> HeldOutView:
    return HeldOutView(
        "test", ("mon", "tue", "wed"), ("x", "y"), sense, torch.tensor([10.0, 20.0, 30.0]),
        torch.tensor([1.0, float("nan"), 0.0]), torch.tensor([2.0, 0.0, float("nan")]), torch.eye(3)[:, :2],
        torch.zeros(3, 2), torch.zeros(3, 2), torch.zeros(4, 2),
    )  # fmt: skip


def test_objectives_of_held_out_days_are_worse_than_the_best_by_the_regret() -> None:
    first, last = held_out_days(view())
    assert (first.instance, first.objective, first.best, first.regret, first.gain) == ("mon", 9.0, 10.0, 1.0, 1.0)
    assert (last.instance, last.objective, last.gain) == ("wed", 30.0, None)
    assert held_out_days(view("min"))[0].objective == 11.0


def test_days_of_an_audit_without_a_regret_are_left_out() -> None:
    days = make_audit((1.0, 3.0), (None, 2.0)).known
    assert [(day.instance, day.gain) for day in days] == [("2024-01-01", 2.0)]


def test_the_worst_come_first_with_both_decisions() -> None:
    table = worst_table(make_audit(*[(float(k), 1.0) for k in range(14)]).known)
    assert table is not None
    assert len(table.rows) == 10
    assert [row[1].value for row in table.rows] == [13.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0]
    assert [cell.text for cell in table.rows[0][-2:]] == ["x = 1", "x = 0"]


def test_days_without_a_regret_are_not_among_the_worst() -> None:
    days = make_audit((0.0, 1.0), (2.0, 1.0), (1e-9, 1.0)).known
    table = worst_table(days)
    assert table is not None
    assert (len(table.rows), table.caption) == (1, "The instance of largest regret")
    assert worst_table(days[:1]) is None
    assert len(every_table(days).rows) == 3


def test_many_differences_are_counted() -> None:
    decided, best = {f"x{j}": 1.0 for j in range(20)}, {f"x{j}": 0.0 for j in range(20)}
    assert differences(decided, best)[0].endswith("x5 = 1 and 14 more")
    assert differences(decided, decided) == ("–", "–")


def test_rounding_of_a_large_value_is_no_difference() -> None:
    assert differences({"p": 466666.6, "q": 1.0}, {"p": 466666.60001, "q": 0.0}) == ("q = 1", "q = 0")


def test_objective_and_best_sum_up() -> None:
    day = held_out_days(view())[0]
    assert day.best - day.objective == pytest.approx(day.regret)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_worst_are_the_same_in_every_unit(unit: float) -> None:
    days = [
        Day(str(k), unit * (10 + regret), unit * 10, unit * regret) for k, regret in enumerate((0.0, 1e-9, 0.5, 2.0))
    ]
    table = worst_table(days)
    assert table is not None
    assert [row[0].text for row in table.rows] == ["3", "2"]


def test_beside_an_optimum_of_zero_every_regret_but_rounding_is_a_loss() -> None:
    table = worst_table([Day("a", 0.01, 0.0, 0.01), Day("b", 1e-16, 0.0, 1e-16), Day("c", 0.0, 0.0, 0.0)])
    assert table is not None
    assert [row[0].text for row in table.rows] == ["a"]
    assert worst_table([Day("c", 0.0, 0.0, 0.0)]) is None


def test_a_decision_that_was_not_solved_says_how_it_was_found() -> None:
    audit = make_audit((1.0, None), (2.0, None))
    first, second = audit.days
    table = worst_table(replace(audit, days=(first, replace(second, found="known"))).known)
    assert table is not None
    assert [row[0].text for row in table.rows] == ["2024-01-02 (known)", "2024-01-01"]


def test_without_names_instances_are_counted_and_costs_too() -> None:
    day = held_out_days(replace(view(), names=None, cost_names=None))[0]
    assert (day.instance, list(day.decided)) == ("0", ["c0", "c1"])
    assert differences(day.decided, day.hindsight) == ("c0 = 0", "c0 = 1")
