"""What a batched solver of linear programs returns, and what it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from regretless.types import Status


@dataclass(frozen=True)
class Answers:
    """A batch of solves of one linear program with many costs.

    Attributes:
        x: ``(batch, n)``; rows of NaN where there is no solution.
        status: one per program.
        message: what went wrong, by position.
    """

    x: Tensor
    status: list[Status]
    message: dict[int, str] = field(default_factory=dict)


class ProgramSolver(Protocol):
    """Solves one linear program for many costs."""

    def solve(self, c: Tensor, *, deadline: float | None = None) -> Answers:
        """Minimize ``c . x`` for costs ``(batch, n)``; ``deadline`` is a value of ``time.monotonic()``."""


def none_of(c: Tensor, status: Status) -> Answers:
    """The answers to costs ``(batch, n)`` that all end in the same way, without a solution."""
    return Answers(torch.full_like(c, torch.nan), [status] * len(c))


def unsolved(x: Tensor, status: list[Status], tolerance: float, *, late: bool) -> Answers:
    """Answers in which programs whose status is ``ERROR`` get a message, or ``TIME_LIMIT`` if time ran out."""
    message = {}
    for place, end in enumerate(status):
        if end is Status.ERROR and late:
            status[place] = Status.TIME_LIMIT
        elif end is Status.ERROR:
            message[place] = f"the linear program did not converge to {tolerance:g}"
    found = torch.tensor([end is Status.OPTIMAL for end in status], dtype=torch.bool, device=x.device)
    return Answers(torch.where(found[:, None], x, torch.nan), status, message)
