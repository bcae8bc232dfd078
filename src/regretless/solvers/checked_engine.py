"""Every engine behind one check: answers are rounded and feasible, and with large integers optimality is proven."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.number_checks import check_number
from regretless.solvers import highs
from regretless.solvers.answers import answer_check
from regretless.solvers.engine import TABLE, Engine, Outcome, relative_gap
from regretless.solvers.intervals import Intervals
from regretless.solvers.objective_scale import scaled_objectives
from regretless.solvers.proof import Prover
from regretless.solvers.time_limit import limit_or_none
from regretless.types import Status

PROOF_NODES = 2000
# Integer variables with more values than this, or rows of integers that reach further, are beyond what the tolerances
# of engines distinguish. Both were measured: see docs/engines.md.
MANY_VALUES, FAR = 500.0, 1e5
# From this size on, a coefficient times the tolerance of integers, 1e-6 in most engines, is one unit or more.
BIG_M = 1e6


def make_engine(
    name: str,
    milp: MILP,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    proof_nodes: int = PROOF_NODES,
    **options: Any,
) -> Engine:
    """Build engine ``name`` for ``milp``.

    Args:
        name: a key of the table of engines.
        milp: the model, kept by the engine.
        time_limit: seconds for one solve; ``None`` for none.
        gap: relative distance to the optimum at which a solve with integer variables may end.
        proof_nodes: most nodes of the search that proves the answers of models with large integers
            (``solvers.proof``); 0 takes the engine's word.
        options: settings of the engine itself.
    """
    if name not in TABLE:
        raise InputError(f"engine must be one of {', '.join(TABLE)}, got {name!r}")
    time_limit = limit_or_none(time_limit)
    if not proof_nodes >= 0:
        raise InputError(f"proof_nodes must be at least 0, got {proof_nodes}")
    if check_number("gap", gap, least=0, most=1):
        if not TABLE[name].gap:
            raise InputError(f"engine {name!r} takes no integer variables, and so no gap: leave out gap={gap}")
        options = {TABLE[name].gap: float(gap)} | options
    engine = importlib.import_module(TABLE[name].module).build(milp, time_limit=time_limit, **options)
    return CheckedEngine(engine, milp, time_limit=time_limit, proof_nodes=proof_nodes)


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuse options that an engine does not know before it gets its model, by a model of one variable.

    Raises:
        InputError: names the option and its value.
    """
    if not options:
        return
    try:
        make_engine(name, MILP([[1.0]], upper=1.0), **options)
    except InputError:
        raise
    except Exception:  # such as a package or a license that only the workers of a cluster have
        pass


class CheckedEngine:
    """Wraps an engine: objectives are scaled; answers are rounded, checked and, where that is needed, proven.

    Args:
        engine: returns answers as its solver gives them; with ``exact = True`` they need no proof.
        milp: its model.
        time_limit: seconds for one solve, the proof included.
        proof_nodes: most nodes of a proof; 0 takes the engine's word.
    """

    def __init__(
        self, engine: Engine, milp: MILP, *, time_limit: float | None = None, proof_nodes: int = PROOF_NODES
    ) -> None:
        self.engine, self.milp, self.time_limit = engine, milp, time_limit
        self._check = check = answer_check(milp)
        values = np.where(milp.integer, check.upper - check.lower, 0.0)
        self._endless = ~np.isfinite(values)
        if (values > MANY_VALUES).any() and (box := Intervals(check).tightened(check.lower, check.upper)) is not None:
            # rows may make them few: 0 <= x <= 1e9 with 3 x <= 700 is a small integer
            values = np.where(milp.integer, box[1] - box[0], 0.0)
        self._many = bool((values[~self._endless] > MANY_VALUES).any())
        self._doubtful = self._many or bool(self._endless.any()) or check.reach > FAR
        self._proof_nodes = 0 if getattr(engine, "exact", False) else proof_nodes
        self._prover: Prover | None = None

    def solve(self, objective: Floats, start: Floats | None = None) -> Outcome:
        """Minimize ``objective . x``, at the first of its scales at which the engine does not fail; see ``Engine``."""
        for scaled in scaled_objectives(objective):
            outcome = self._solve(scaled, start)
            if outcome.status is not Status.ERROR:
                break
        return outcome

    def _solve(self, objective: Floats, start: Floats | None) -> Outcome:
        began = time.monotonic()
        outcome = self.engine.solve(objective, start)
        x = None
        if outcome.x is not None:
            given = np.asarray(outcome.x, dtype=np.float64)
            if given.shape != (self.milp.n,):
                said = f"the engine's answer must have shape ({self.milp.n},), got {given.shape}"
                return Outcome(None, Status.ERROR, np.inf, said)
            x = self._check.settled(given)
        broken = outcome.x is not None and x is None
        if self._proof_nodes and self._needs_proof(outcome, x, broken):
            return self._proven(objective, outcome, x, began)
        if broken:
            said = f"the engine's answer is infeasible for the model ({outcome.status}) {outcome.message}"
            largest = float(abs(self.milp.A).max()) if self.milp.A.nnz else 0.0
            if largest >= BIG_M:
                said += f"; its tolerances do not suit coefficients as large as {largest:g}: use a smaller big M"
            return Outcome(None, Status.ERROR, np.inf, said)
        return Outcome(x, outcome.status, outcome.gap, outcome.message)

    def _needs_proof(self, outcome: Outcome, x: Floats | None, broken: bool) -> bool:
        if not self._doubtful:
            return False
        if broken:
            return bool(np.isfinite(outcome.x).all())  # type: ignore[arg-type]
        if outcome.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            return False
        return self._many or (x is not None and bool((np.abs(x[self._endless]) > MANY_VALUES).any()))

    def _proven(self, objective: Floats, outcome: Outcome, x: Floats | None, began: float) -> Outcome:
        deadline = None if self.time_limit is None else began + self.time_limit
        if self._prover is None:
            self._prover = Prover(self.milp, nodes=self._proof_nodes)
        if x is None and (deadline is None or time.monotonic() < deadline):
            x = self._second_opinion(objective, deadline)
        proof = self._prover.prove(objective, x, deadline=deadline)
        if proof.closed:
            if proof.x is None:
                return Outcome(None, Status.INFEASIBLE, np.inf, outcome.message)
            return Outcome(proof.x, Status.OPTIMAL, 0.0, "")
        gap = relative_gap(proof.value, proof.bound)
        said = f"the engine calls it {outcome.status}, which {self._prover.nodes} nodes did not prove"
        if proof.late:
            return Outcome(proof.x, Status.TIME_LIMIT, gap, f"the time limit ended the proof: {said}")
        return Outcome(proof.x, Status.ERROR if proof.x is None else Status.FEASIBLE, gap, said)

    def _second_opinion(self, objective: Floats, deadline: float | None) -> Floats | None:
        """A feasible decision of HiGHS without presolve, where the engine has none."""
        limit = None if deadline is None else max(deadline - time.monotonic(), 0.001)
        found = highs.build(self.milp, time_limit=limit, presolve="off").solve(objective).x
        return None if found is None else self._check.settled(np.asarray(found))
