"""One answer per request, in time: the engine's, or the best decision that is known when time is up.

The clock of a request, in shares of its deadline: at 0.5 the linear relaxation starts beside the engine, for a bound;
at 0.8 the engine's own time limit ends the solve; at 0.93 the caller goes on without an engine that has not answered.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import numpy as np

from regretless.deciding.decision import Found
from regretless.deciding.known_decisions import Choice, KnownDecisions, differ
from regretless.deciding.lanes import Job, LaneEngines, Lanes
from regretless.deciding.safe_bound import Multipliers, safe_bound
from regretless.deciding.violations import least_infeasible, total_violation
from regretless.milp import MILP, Floats
from regretless.solvers import Outcome
from regretless.types import Status

RELAX_AT, ENGINE_ENDS, GIVE_UP_AT = 0.5, 0.8, 0.93
# Each of these still uses a core or memory: an engine that hangs more often is broken.
MOST_HANGING = 32
WORSE = 1e-9  # relative difference of two objectives that rounding explains
Relaxation = Job[Floats | None]


@dataclass(frozen=True, eq=False)
class Request:
    """A model, an objective ``(n,)`` to minimize, and the time from ``began`` on, of ``time.monotonic``.

    Without a deadline the engine has ``time_limit`` seconds, or as long as it takes.
    """

    milp: MILP
    objective: Floats
    began: float
    deadline: float | None
    time_limit: float | None = None

    @property
    def engine_seconds(self) -> float | None:
        """The time limit of the engine."""
        return self.time_limit if self.deadline is None else ENGINE_ENDS * self.deadline

    def at(self, share: float) -> float | None:
        """The time at which a share of the deadline has passed."""
        return None if self.deadline is None else self.began + share * self.deadline

    def left(self, share: float) -> float | None:
        """Seconds until then."""
        until = self.at(share)
        return None if until is None else until - time.monotonic()

    def value(self, x: Floats) -> float:
        """Objective of a decision, without the constant of the model."""
        return float(self.objective @ x)


@dataclass(frozen=True, eq=False)
class Answer:
    """A decision, minimizing, with a lower bound (minus infinity: none); see ``Decision`` for the rest."""

    x: Floats
    found: Found
    status: Status
    bound: float = -np.inf
    second: Floats | None = None
    message: str = ""


class TimelyAnswers:
    """Answers requests of many threads at once.

    Args:
        engines: solve the requests.
        known: decisions to choose from when the engine does not answer; decisions that it finds join them.
        workers: requests that are solved at the same time; threads that hang are not among them.
    """

    def __init__(self, engines: LaneEngines, known: KnownDecisions, *, workers: int) -> None:
        self.engines, self.known = engines, known
        self.multipliers = Multipliers(known.milp.A.shape[0])
        self.lanes = Lanes(workers + MOST_HANGING)
        self._slots = threading.Semaphore(workers)

    def answer(self, request: Request) -> Answer:
        """Answer before the deadline of the request, whatever the engine does."""
        wait = request.left(GIVE_UP_AT)
        if not (self._slots.acquire() if wait is None else self._slots.acquire(timeout=max(0.0, wait))):
            outcome, relaxation = _late(request, "all workers were busy until then"), None
        else:
            try:
                outcome, relaxation = self._outcome(request)
            finally:
                self._slots.release()
        choice = self.known.choose(request.milp, request.objective)
        if outcome.x is not None:
            self.known.add(outcome.x)
            if choice.best is None or not _beats(request, choice.best, outcome.x):
                return self._solved(request, outcome, choice, relaxation)
        if choice.best is not None:
            return self._cached(request, outcome, choice, relaxation)
        return self._nearest(request, outcome, choice)

    def relax(self, request: Request) -> Relaxation:
        """Start the linear relaxation; its multipliers serve this request and later ones."""

        def work() -> Floats | None:
            found = self.engines.multipliers(request.milp, request.objective)
            if found is not None:
                self.multipliers.add(found, request.objective)
            return found

        return self.lanes.submit(work)

    def _outcome(self, request: Request) -> tuple[Outcome, Relaxation | None]:
        """What the engine says, and the relaxation where it was started; an engine that fails early is tried again."""
        relaxation = None
        for last in (False, True):
            job = self.lanes.submit(lambda: self.engines.solve(request.milp, request.objective, request.engine_seconds))
            early = job.wait(request.at(RELAX_AT))
            if not early:
                relaxation = relaxation or self.relax(request)
            if not job.wait(request.at(GIVE_UP_AT)):
                job.abandoned = True
                return _late(request, "the engine had not answered by then"), relaxation
            if job.error is not None:
                said = f"{type(job.error).__name__}: {job.error}"
                return Outcome(None, Status.ERROR, np.inf, said), relaxation
            assert job.answer is not None
            outcome = job.answer
            if last or not early or outcome.x is not None or outcome.status is not Status.ERROR:
                break
        return outcome, relaxation

    def _solved(self, request: Request, outcome: Outcome, choice: Choice, relaxation: Relaxation | None) -> Answer:
        assert outcome.x is not None
        bound = _engine_bound(request, outcome)
        if outcome.status is not Status.OPTIMAL:
            bound = max(bound, self._bound(request, relaxation))
        second = choice.best
        if second is not None and not differ(second, outcome.x):
            second = choice.second
        status = Status.OPTIMAL if outcome.status is Status.OPTIMAL else Status.FEASIBLE
        message = "" if status is Status.OPTIMAL else outcome.message or "the time limit ended the solve"
        return Answer(outcome.x, "solved", status, bound, second, message)

    def _cached(self, request: Request, outcome: Outcome, choice: Choice, relaxation: Relaxation | None) -> Answer:
        assert choice.best is not None
        message = f"{outcome.status}: {outcome.message}" if outcome.message else str(outcome.status)
        bound = -np.inf
        if outcome.x is not None:
            # It calls a decision optimal that a known one beats: then its bound is worth nothing either.
            lies = outcome.status is Status.OPTIMAL
            bound = -np.inf if lies else _engine_bound(request, outcome)
            message = f"a known decision is better than the engine's, which it calls {outcome.status}"
        elif outcome.status is Status.INFEASIBLE:
            message = "the engine calls the model infeasible, which a known decision disproves"
        # An engine that failed early leaves time for the relaxation.
        if (left := request.left(GIVE_UP_AT)) is None or left > 0:
            relaxation = relaxation or self.relax(request)
            relaxation.wait(request.at(GIVE_UP_AT))
        bound = max(bound, self._bound(request, relaxation))
        value = request.value(choice.best)
        # Near zero the size of the costs counts, so that tiny costs do not make every decision optimal.
        size = max(abs(value), min(1.0, float(np.abs(request.objective).max())))
        closed = value - bound <= WORSE * size
        return Answer(
            choice.best, "cached", Status.OPTIMAL if closed else Status.FEASIBLE, bound, choice.second, message
        )

    def _nearest(self, request: Request, outcome: Outcome, choice: Choice) -> Answer:
        """No decision is known to be feasible: the least infeasible one, and perhaps it turns out to be feasible."""
        milp = request.milp
        lower, upper = milp.integer_bounds()
        points = [np.clip(np.zeros(milp.n), lower, upper), *([] if choice.nearest is None else [choice.nearest])]
        left = request.left(GIVE_UP_AT)
        if left is None or left > 0:
            job = self.lanes.submit(lambda: least_infeasible(milp, time_limit=None if left is None else 0.8 * left))
            if job.wait(request.at(GIVE_UP_AT)) and job.answer is not None:
                points.append(job.answer)
            job.abandoned = True
        x = np.stack(points)
        size = total_violation(milp, x, (milp.A @ x.T).T)
        best = x[len(x) - 1 - int(size[::-1].argmin())]  # of equal ones the last: it was made for this model
        message = f"{outcome.status}: {outcome.message}" if outcome.message else str(outcome.status)
        if milp.check(best)[0]:
            self.known.add(best)
            return Answer(best, "cached", Status.FEASIBLE, self._bound(request), None, message)
        status = Status.TIME_LIMIT if outcome.status in (Status.OPTIMAL, Status.FEASIBLE) else outcome.status
        return Answer(best, "infeasible", status, message=message)

    def _bound(self, request: Request, relaxation: Relaxation | None = None) -> float:
        """The best bound of the request's own relaxation, where that has ended, and of earlier ones."""
        rows, objective = request.milp.A.shape[0], request.objective
        own = None if relaxation is None else relaxation.answer
        parts = [np.zeros((1, rows)) if own is None else own[None]]
        if rows == self.multipliers.rows:
            parts.append(self.multipliers.scaled_to(objective))
        return safe_bound(request.milp, objective, np.concatenate(parts))


def _late(request: Request, why: str) -> Outcome:
    return Outcome(None, Status.TIME_LIMIT, np.inf, f"the deadline of {request.deadline or 0:g} s: {why}")


def _engine_bound(request: Request, outcome: Outcome) -> float:
    """The engine's lower bound, from its relative gap."""
    assert outcome.x is not None
    value = request.value(outcome.x)
    if not np.isfinite(outcome.gap):  # also the gap of a value of zero
        return -np.inf
    return value - outcome.gap * abs(value)


def _beats(request: Request, known: Floats, x: Floats) -> bool:
    """Whether a known decision is better than the engine's by more than rounding."""
    size = float(np.abs(request.objective) @ np.maximum(np.abs(known), np.abs(x)))
    return request.value(known) < request.value(x) - max(WORSE * size, 1e-12)
