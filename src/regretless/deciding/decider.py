"""The decider: a trained run that answers one request after another, in time, from any number of threads."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor

from regretless.deciding.decision import Decision, RunnerUp, Violation
from regretless.deciding.known_decisions import KnownDecisions
from regretless.deciding.lanes import LaneEngines
from regretless.deciding.one_instance import one_instance
from regretless.deciding.timely_answer import Answer, Request, TimelyAnswers
from regretless.deciding.violations import violations
from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.number_checks import check_integer
from regretless.runs.decide import LoadedRun
from regretless.runs.decide import decider as load_run
from regretless.runs.known_files import read_known
from regretless.solvers.engine import relative_gap
from regretless.solvers.ledger import PurposeCount
from regretless.solvers.time_limit import limit_or_none
from regretless.tables.constraints import vary_one
from regretless.tables.encoded_column import Unseen
from regretless.type_checks import check_type

WARM_SECONDS = 10.0


class Decider:
    """Answers requests: features in, a decision by variable name out, within a deadline.

    A request is answered by the engine, or, where that is late, fails or returns something infeasible, by the best
    feasible decision that is known: those of training and those of earlier requests. Threads may share one decider.

    Args:
        run: a trained model with its problem, from ``regretless.runs.decide``.
        known: ``(m, n)`` decisions to start with.
        engine: name of the engine, in place of the run's.
        workers: requests that are solved at the same time.
        options: settings of the engine, such as ``gap``.
    """

    def __init__(
        self,
        run: LoadedRun,
        *,
        known: Floats | None = None,
        engine: str | None = None,
        workers: int = 8,
        **options: Any,
    ) -> None:
        check_integer("workers", workers, least=1)
        if run.saved is None:
            raise InputError("a decider needs a run on a model file: a problem by name has an oracle of its own")
        self.run, self.milp = run, run.saved.milp
        self.model = run.model.eval()
        self.sign, self.time_limit = run.problem.sign, run.saved.time_limit
        self._known = KnownDecisions(self.milp)
        if known is not None and len(known):
            self._known.add(known)
        engines = LaneEngines(engine or run.problem.engine, run.saved.options | options)
        engines.refuse_wrong_settings(self.milp)
        self._answers = TimelyAnswers(engines, self._known, workers=workers)
        self._warm()

    def __repr__(self) -> str:
        return f"Decider({self.milp!r}, engine={self._answers.engines.engine!r}, known={self.known})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Decider has threads and cannot be copied or pickled: load it where it is used, Decider.load")

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        engine: str | None = None,
        workers: int = 8,
        unseen: Unseen | None = None,
        **options: Any,
    ) -> Decider:
        """Load a finished run on a model file, with the decisions that its training found, and solve once.

        Args:
            folder: of the run.
            engine: in place of the one it was trained with.
            workers: requests that are solved at the same time. Solves that hang are not among them.
            unseen: ``"other"`` lets a level of a category that did not occur in training count as none of the known
                ones, ``"refuse"`` makes it an error; by default as in training.
            options: settings of the engine.

        Raises:
            FileError: there is no finished run in the folder, or a file of it is damaged.
            InputError: the run is on a problem by name, or the engine does not have the settings or take the model.
            MissingDependencyError: the package of the engine is not installed.
        """
        run = load_run(folder, unseen=unseen)
        known = read_known(folder, len(run.variable_names))
        return cls(run, known=known, engine=engine, workers=workers, **options)

    def decide(
        self,
        features: Any,
        constraints: Mapping[str, float] | None = None,
        *,
        deadline: float | None = 0.2,
        runner_up: bool = False,
    ) -> Decision:
        """Decide for one instance.

        Args:
            features: by the columns of training (a mapping, or a data frame of one row, for features per variable with
                one row per variable), or an array of features.
            constraints: what differs from the model, by the names of a table of constraints: ``row:NAME`` for a
                right-hand side, ``lower:NAME`` and ``upper:NAME`` for bounds, ``fixed:NAME`` for a known cost.
            deadline: seconds until the answer; ``None`` waits for the engine, up to the time limit of the run.
            runner_up: also return the best other feasible decision that is known.

        Raises:
            InputError: features or constraints that do not fit. Whatever the engine does is an answer, not an error.
        """
        began = time.monotonic()
        if deadline is not None:
            deadline = limit_or_none(deadline, name="deadline")
        if constraints is not None:
            check_type("constraints", constraints, Mapping, hint="such as {'row:capacity': 5}")
        milp = vary_one(self.milp, constraints or {})
        predicted = self._predict(self.seen(features))
        request = Request(milp, self._objective(milp, predicted), began, deadline, self.time_limit)
        return self._decision(request, predicted, self._answers.answer(request), runner_up)

    @property
    def known(self) -> int:
        """Number of decisions that are known."""
        return len(self._known)

    @property
    def solved(self) -> PurposeCount:
        """Solves of the engine, and their seconds."""
        return self._answers.engines.count

    @property
    def hanging(self) -> int:
        """Threads that work or hang at this moment."""
        return self._answers.lanes.busy

    def close(self) -> None:
        """End the idle threads; without it they end by themselves."""
        self._answers.lanes.close()

    def seen(self, given: Any) -> Tensor:
        """Features as the model sees them; ``decide`` says what it takes."""
        assert self.run.saved is not None
        return one_instance(given, self.run.saved).to(self.run.example.dtype)

    def violated(self, decision: Floats, constraints: Mapping[str, float] | None = None) -> tuple[Violation, ...]:
        """Rows and variables that a decision ``(n,)`` violates; ``decide`` says what the constraints are."""
        return self._violated(vary_one(self.milp, constraints or {}), decision)

    def _violated(self, milp: MILP, decision: Floats) -> tuple[Violation, ...]:
        rows = milp.row_names or tuple(str(i) for i in range(milp.A.shape[0]))
        return tuple(violations(milp, decision, self.run.variable_names, rows))

    def _predict(self, features: Tensor) -> Floats:
        # Not training.predict: it switches the model's mode, which threads share.
        with torch.no_grad():
            predicted = self.model(features[None])[0].to(torch.float64).numpy()
        if not np.isfinite(predicted).all():
            raise InputError("the model predicts costs that are not finite for these features: are they in range?")
        return np.asarray(predicted)

    def _objective(self, milp: MILP, predicted: Floats) -> Floats:
        """What to minimize, per variable."""
        costs = np.append(predicted, 1.0) if milp.has_fixed_cost else predicted
        objective: Floats = milp.objective(self.sign * costs[None])[0]
        return objective

    def _decision(self, request: Request, predicted: Floats, answer: Answer, runner_up: bool) -> Decision:
        milp, names = request.milp, self.run.variable_names

        def in_sense(value: float) -> float:
            return self.sign * value + milp.constant

        objective = in_sense(request.value(answer.x))
        bound = gap = second = None
        if answer.found != "infeasible" and np.isfinite(answer.bound):
            bound = in_sense(answer.bound)
            gap = 0.0 if answer.status == "optimal" else relative_gap(objective, bound)
        if runner_up and answer.second is not None:
            other = in_sense(request.value(answer.second))
            # Rounding could make one of two equally good decisions look better.
            second = RunnerUp(_named(names, answer.second), other, max(0.0, self.sign * (other - objective)))
        return Decision(
            decision=_named(names, answer.x),
            predicted=_named(self.run.cost_names, predicted),
            objective=objective,
            status=answer.status,
            found=answer.found,
            gap=gap,
            bound=bound,
            violated=self._violated(milp, answer.x) if answer.found == "infeasible" else (),
            runner_up=second,
            seconds=time.monotonic() - request.began,
            message=answer.message,
        )

    def _warm(self) -> None:
        """Solve once, so that a decision is known and the first request finds everything loaded."""
        with torch.no_grad():
            zero = torch.zeros(1, *self.run.example.shape[1:], dtype=self.run.example.dtype)
            predicted = self.model(zero)[0].to(torch.float64).numpy()
        request = Request(self.milp, self._objective(self.milp, predicted), time.monotonic(), WARM_SECONDS)
        self._answers.answer(request)
        self._answers.relax(request).wait(request.at(1.0))


def _named(names: tuple[str, ...], values: Floats) -> dict[str, float]:
    return dict(zip(names, values.tolist(), strict=True))
