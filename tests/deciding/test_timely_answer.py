from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from regretless.deciding.known_decisions import KnownDecisions
from regretless.deciding.lanes import LaneEngines
from regretless.deciding.timely_answer import Answer, Request, TimelyAnswers
from regretless.milp import MILP, Floats
from regretless.solvers import Outcome
from regretless.types import Status

MODEL = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
COSTS = np.array([-4.0, -5.0, -6.0])
BEST, GOOD, POOR = np.array([1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])


class Engines(LaneEngines):
    """Answers as the test says; the relaxation is real."""

    def __init__(self, *outcomes: Outcome | Callable[[], Outcome]) -> None:
        super().__init__("highs")
        self.outcomes, self.solves = list(outcomes), 0

    def solve(self, milp: MILP, objective: Floats, limit: float | None) -> Outcome:
        outcome = self.outcomes[min(self.solves, len(self.outcomes) - 1)]
        self.solves += 1
        return outcome() if callable(outcome) else outcome


def ask(
    engines: Engines,
    *known: Floats,
    milp: MILP = MODEL,
    costs: Floats = COSTS,
    deadline: float | None = 5.0,
    workers: int = 2,
) -> tuple[Answer, TimelyAnswers]:
    answers = TimelyAnswers(engines, KnownDecisions(MODEL), workers=workers)
    if known:
        answers.known.add(np.stack(known))
    return answers.answer(Request(milp, costs, time.monotonic(), deadline)), answers


def test_an_optimum_of_the_engine_is_the_answer_and_is_remembered() -> None:
    answer, answers = ask(Engines(Outcome(BEST, Status.OPTIMAL)), GOOD, POOR)
    assert (answer.found, answer.status, answer.bound) == ("solved", Status.OPTIMAL, -9.0)
    assert answer.second is not None
    assert answer.second.tolist() == GOOD.tolist()
    assert len(answers.known) == 3


def test_without_a_deadline_the_engine_has_its_own_time_limit() -> None:
    answer, _ = ask(Engines(Outcome(BEST, Status.OPTIMAL)), deadline=None)
    assert (answer.found, answer.status) == ("solved", Status.OPTIMAL)
    answer, _ = ask(Engines(Outcome(None, Status.ERROR, np.inf, "broken")), GOOD, deadline=None)
    assert (answer.found, answer.bound) == ("cached", pytest.approx(-9.0))
    request = Request(MODEL, COSTS, 3.0, None, time_limit=7.0)
    assert (request.engine_seconds, request.at(0.5), request.left(0.5)) == (7.0, None, None)
    request = Request(MODEL, COSTS, 3.0, 10.0, time_limit=7.0)
    assert (request.engine_seconds, request.at(0.5)) == (8.0, 8.0)


def test_the_runner_up_differs_from_the_decision() -> None:
    answer, _ = ask(Engines(Outcome(BEST, Status.OPTIMAL)), BEST, POOR)
    assert answer.second is not None
    assert answer.second.tolist() == POOR.tolist()
    assert ask(Engines(Outcome(BEST, Status.OPTIMAL)), BEST)[0].second is None


def test_a_decision_that_differs_by_rounding_is_no_runner_up() -> None:
    near = BEST + 1e-13
    for outcome in (Outcome(BEST, Status.OPTIMAL), Outcome(None, Status.ERROR, np.inf, "broken")):
        answer, _ = ask(Engines(outcome), near, BEST, POOR)
        assert answer.second is not None
        assert answer.second.tolist() == POOR.tolist()
        assert ask(Engines(outcome), near, BEST)[0].second is None


def test_an_incumbent_at_the_time_limit_has_the_gap_of_the_engine_or_of_the_relaxation() -> None:
    answer, _ = ask(Engines(Outcome(GOOD, Status.TIME_LIMIT, 2.0)))
    assert (answer.found, answer.status) == ("solved", Status.FEASIBLE)
    assert answer.message == "the time limit ended the solve"
    assert answer.bound == pytest.approx(-15.0)  # the box gives -15, the engine -6 - 2 * 6
    answer, _ = ask(Engines(Outcome(GOOD, Status.TIME_LIMIT, 0.6)))
    assert answer.bound == pytest.approx(-9.6)


def test_an_incumbent_of_value_zero_keeps_the_bound_of_the_relaxation() -> None:
    nothing = np.zeros(3)
    answer, _ = ask(Engines(Outcome(nothing, Status.TIME_LIMIT, np.inf)))
    assert (answer.found, answer.bound) == ("solved", pytest.approx(-15.0))


def test_a_known_decision_that_is_better_than_the_incumbent_replaces_it() -> None:
    answer, _ = ask(Engines(Outcome(POOR, Status.TIME_LIMIT, 9.0)), GOOD)
    assert answer.found == "cached"
    assert answer.x.tolist() == GOOD.tolist()
    assert "better than the engine's" in answer.message


def test_an_optimum_that_a_known_decision_beats_proves_nothing() -> None:
    answer, _ = ask(Engines(Outcome(POOR, Status.OPTIMAL)), GOOD)
    assert (answer.found, answer.status) == ("cached", Status.FEASIBLE)
    assert answer.bound == pytest.approx(-9.0)  # of the relaxation: 4 + 5 fill the row


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome(None, Status.ERROR, np.inf, "broken"), "error: broken"),
        (Outcome(None, Status.INFEASIBLE, np.inf), "the engine calls the model infeasible, which a known decision dis"),
        (Outcome(None, Status.UNBOUNDED, np.inf), "unbounded"),
        (Outcome(None, Status.TIME_LIMIT, np.inf), "time limit"),
    ],
)
def test_without_an_answer_of_the_engine_the_best_known_decision_comes_with_its_gap(
    outcome: Outcome, said: str
) -> None:
    answer, _ = ask(Engines(outcome), POOR, GOOD)
    assert (answer.found, answer.status) == ("cached", Status.FEASIBLE)
    assert answer.x.tolist() == GOOD.tolist()
    assert answer.bound == pytest.approx(-9.0)
    assert answer.message.startswith(said)


def test_a_known_decision_that_the_bound_proves_is_optimal() -> None:
    answer, _ = ask(Engines(Outcome(None, Status.ERROR, np.inf, "broken")), BEST)
    assert (answer.found, answer.status) == ("cached", Status.OPTIMAL)


def test_at_tiny_costs_a_known_decision_is_not_optimal_because_the_gap_is_tiny() -> None:
    engines = Engines(Outcome(None, Status.ERROR, np.inf, "broken"))
    answer, _ = ask(engines, POOR, costs=1e-11 * COSTS)
    assert (answer.found, answer.status) == ("cached", Status.FEASIBLE)
    assert answer.bound <= 1e-11 * COSTS @ BEST


def test_an_engine_that_fails_early_is_tried_once_more() -> None:
    engines = Engines(Outcome(None, Status.ERROR, np.inf, "once"), Outcome(BEST, Status.OPTIMAL))
    answer, _ = ask(engines, GOOD)
    assert (answer.found, engines.solves) == ("solved", 2)
    engines = Engines(Outcome(None, Status.ERROR, np.inf, "always"))
    ask(engines, GOOD)
    assert engines.solves == 2


def test_what_an_engine_raises_is_in_the_message() -> None:
    answer, _ = ask(Engines(lambda: cast(Outcome, {}["license"])), GOOD)
    assert (answer.found, answer.message) == ("cached", "error: KeyError: 'license'")


def test_engines_that_hang_block_nobody_and_the_answer_comes_in_time() -> None:
    release = threading.Event()
    engines = Engines(lambda: cast(Outcome, release.wait() and Outcome(BEST, Status.OPTIMAL)))
    answers = TimelyAnswers(engines, KnownDecisions(MODEL), workers=2)
    answers.known.add(GOOD)
    for _ in range(6):  # more than workers
        began = time.monotonic()
        answer = answers.answer(Request(MODEL, COSTS, began, 0.05))
        assert (answer.found, answer.status) == ("cached", Status.FEASIBLE)
        assert "had not answered" in answer.message
    # On a machine that stands still, a request may end before its thread has started.
    assert engines.solves > 2, "engines that hang are in the way of others"
    release.set()


def test_when_more_engines_hang_than_are_allowed_requests_are_still_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regretless.deciding.timely_answer.MOST_HANGING", 2)
    release = threading.Event()
    engines = Engines(lambda: cast(Outcome, release.wait() and Outcome(BEST, Status.OPTIMAL)))
    answers = TimelyAnswers(engines, KnownDecisions(MODEL), workers=1)
    answers.known.add(GOOD)
    found = [answers.answer(Request(MODEL, COSTS, time.monotonic(), 0.02)).found for _ in range(8)]
    assert found == ["cached"] * 8
    assert answers.lanes.alive == 3
    release.set()
    while answers.lanes.busy or answers.lanes._waiting:
        time.sleep(0.001)
    assert engines.solves == 3, "what waited for a lane is not solved after its request has ended"


def test_a_request_that_finds_all_workers_busy_is_answered() -> None:
    release = threading.Event()
    engines = Engines(lambda: cast(Outcome, release.wait() and Outcome(BEST, Status.OPTIMAL)))
    answers = TimelyAnswers(engines, KnownDecisions(MODEL), workers=1)
    answers.known.add(GOOD)
    other = threading.Thread(target=lambda: answers.answer(Request(MODEL, COSTS, time.monotonic(), 5.0)))
    other.start()
    while not engines.solves:
        time.sleep(0.001)
    answer = answers.answer(Request(MODEL, COSTS, time.monotonic(), 0.05))
    assert "all workers were busy" in answer.message
    release.set()
    other.join()


def test_without_a_feasible_decision_the_least_infeasible_one_comes() -> None:
    high = replace(MODEL, row_lower=np.array([20.0]), row_upper=np.array([30.0]))
    answer, _ = ask(Engines(Outcome(None, Status.INFEASIBLE, np.inf)), GOOD, milp=high)
    assert (answer.found, answer.status) == ("infeasible", Status.INFEASIBLE)
    assert answer.x.tolist() == [1.0, 1.0, 1.0]


def test_a_model_that_is_called_infeasible_and_is_not_gets_a_feasible_decision() -> None:
    high = replace(MODEL, row_lower=np.array([9.0]), row_upper=np.array([30.0]))
    answer, answers = ask(Engines(Outcome(None, Status.INFEASIBLE, np.inf)), GOOD, milp=high)
    assert (answer.found, answer.status) == ("cached", Status.FEASIBLE)
    assert answer.message == "infeasible"
    assert high.check(answer.x)[0]
    assert len(answers.known) == 2


def test_with_nothing_known_and_no_engine_there_is_still_an_answer() -> None:
    answer, _ = ask(Engines(lambda: cast(Outcome, time.sleep(0.2))), deadline=0.02)
    assert (answer.found, answer.status) == ("cached", Status.FEASIBLE)  # the decision of zeros is feasible here
    low = replace(MODEL, row_lower=np.array([1.0]))
    answer, _ = ask(Engines(lambda: cast(Outcome, time.sleep(0.2))), milp=low, deadline=0.02)
    assert (answer.found, answer.status) == ("infeasible", Status.TIME_LIMIT)


def test_a_model_with_other_rows_has_the_bound_of_its_own_relaxation() -> None:
    other = MILP([[3.0, 4.0, 5.0], [1.0, 1.0, 1.0]], row_upper=[7.0, 1.0])
    answer, _ = ask(Engines(Outcome(None, Status.ERROR, np.inf, "broken")), POOR, milp=other)
    assert answer.found == "cached"
    assert answer.bound == pytest.approx(-6.0)
