"""An exact oracle out of an engine that solves whole batches, on the device of the costs."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.cuda_graphs import TURN
from regretless.errors import InputError
from regretless.family import Family, member
from regretless.linear_programs.program_answers import Answers
from regretless.milp import MILP, Floats
from regretless.most_recent import MostRecent
from regretless.solvers.batch_answers import BatchAnswerCheck, sparse_or_dense
from regretless.solvers.engine import TABLE
from regretless.solvers.time_limit import limit_or_none
from regretless.types import Solved, Status

MODELS = 64


class BatchBackend:
    """Solves batches with an engine whose table row says ``batched``; see ``types.Backend``.

    A batch is one computation: there are no workers, and threads take turns. Statuses and checks are those of every
    engine.

    Args:
        model: a MILP or a family of them.
        engine: name in the table of engines.
        time_limit: seconds for the programs of one model in one batch; those that are not done get ``TIME_LIMIT``.
        device: where to solve, such as ``"cuda"``; by default on the device of the costs. Labels and evaluations have
            their costs on the CPU.
        options: settings of the engine.
    """

    def __init__(
        self,
        model: MILP | Family,
        *,
        engine: str,
        time_limit: float | None = None,
        device: str | None = None,
        **options: Any,
    ) -> None:
        time_limit = limit_or_none(time_limit)
        self.model, self.engine, self.time_limit, self.workers = model, engine, time_limit, 1
        self._options, self._device = options, None if device is None else _usable(device)
        self._members: MostRecent[tuple[int, torch.device], _Member] = MostRecent(MODELS)
        self._engines: MostRecent[int, Any] = MostRecent(MODELS)
        if isinstance(model, MILP):  # a model that does not fit the engine is refused here, not in training
            self._engine(0)

    def solve(
        self,
        costs: Tensor,
        instance: Tensor | None = None,
        *,
        decision: bool = False,
        starts: Sequence[Floats | None] | None = None,
    ) -> Solved:
        """Solve ``(batch, width)`` costs; see ``types.Backend``. Starting points are not used."""
        home = costs.device
        there = home if self._device is None else self._device
        with TURN:
            solved = self._solve(costs.detach().to(there, torch.float64), instance, decision)
        return solved if there == home else _moved(solved, home)

    def _solve(self, costs: Tensor, instance: Tensor | None, decision: bool) -> Solved:
        if instance is None:
            return self._member(0, costs.device).solve(costs, decision)
        ids = instance.cpu()
        parts, order = [], []
        for i in torch.unique(ids).tolist():
            place = (ids == i).nonzero()[:, 0]
            order.append(place)
            parts.append(self._member(i, costs.device).solve(costs[place.to(costs.device)], decision))
        return _joined(parts, torch.cat(order)) if parts else self._member(0, costs.device).solve(costs, decision)

    def _member(self, i: int, device: torch.device) -> _Member:
        return self._members.find((i, device), lambda: _Member(member(self.model, i), self._engine(i), device))

    def _engine(self, i: int) -> Any:
        build = importlib.import_module(TABLE[self.engine].module).build
        return self._engines.find(i, lambda: build(member(self.model, i), time_limit=self.time_limit, **self._options))


class _Member:
    """One model on one device: its engine, its check, and its maps between decisions and cost space."""

    def __init__(self, milp: MILP, engine: Any, device: torch.device) -> None:
        self.milp, self.engine, self.check = milp, engine, BatchAnswerCheck(milp, device)
        self._map = None if milp.cost_map is None else sparse_or_dense(milp.cost_map.T).to(device)
        self._back = None if milp.cost_map is None else sparse_or_dense(milp.cost_map).to(device)
        self._fixed = torch.as_tensor(milp.fixed_cost, device=device)

    def solve(self, costs: Tensor, decision: bool) -> Solved:
        objective = self._objective(costs)
        answers: Answers = self.engine.solve_batch(objective)
        x, good = self.check.settled(answers.x)
        solution = self._solution(x)
        if bool(good.all()):
            return Solved(solution, decision=x if decision else None)
        status, message = list(answers.status), dict(answers.message)
        finite = torch.isfinite(objective).all(dim=1).tolist()
        for row in (~good).nonzero()[:, 0].tolist():
            if not finite[row]:
                status[row], message[row] = Status.ERROR, "the objective is not finite: it overflows in the cost map"
            elif status[row] is Status.OPTIMAL:
                status[row], message[row] = Status.ERROR, "the engine's answer is infeasible for the model (optimal)"
        lost = ~good[:, None]
        return Solved(
            solution=solution.masked_fill(lost, torch.nan),
            status=status,
            gap=torch.where(good, 0.0, torch.inf).to(torch.float64),
            decision=x.masked_fill(lost, torch.nan) if decision else None,
            message=message,
        )

    def _objective(self, costs: Tensor) -> Tensor:
        d = self.milp.dimension
        objective = costs[:, :d] if self._map is None else (self._map @ costs[:, :d].T).T
        return objective + costs[:, d:] * self._fixed if self.milp.has_fixed_cost else objective

    def _solution(self, x: Tensor) -> Tensor:
        v = x if self._back is None else (self._back @ x.T).T
        if self.milp.has_fixed_cost:
            v = torch.cat([v, (x @ self._fixed + self.milp.constant)[:, None]], dim=1)
        return v


def _joined(parts: list[Solved], order: Tensor) -> Solved:
    """Solves of several models in the order of the batch."""
    place = np.argsort(order.numpy()).tolist()
    first = np.cumsum([0, *(len(part.solution) for part in parts)])
    status = [end for part in parts for end in part.statuses]
    message = {int(order[first[k] + row]): text for k, part in enumerate(parts) for row, text in part.message.items()}
    gaps = [torch.zeros_like(p.solution[:, 0]) if p.gap is None else p.gap for p in parts]
    plain = all(part.status is None for part in parts)
    decisions = [part.decision for part in parts if part.decision is not None]
    return Solved(
        solution=torch.cat([part.solution for part in parts])[place],
        status=None if plain else [status[k] for k in place],
        gap=None if plain else torch.cat(gaps)[place],
        decision=torch.cat(decisions)[place] if decisions else None,
        message=message,
    )


def _moved(solved: Solved, device: torch.device) -> Solved:
    """The same solves on another device."""
    return replace(
        solved,
        solution=solved.solution.to(device),
        gap=None if solved.gap is None else solved.gap.to(device),
        decision=None if solved.decision is None else solved.decision.to(device),
    )


def _usable(device: str) -> torch.device:
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:  # torch raises both for a device that is not there
        raise InputError(
            f"device must name a device of this machine, such as 'cpu' or 'cuda', got {device!r}"
        ) from error
