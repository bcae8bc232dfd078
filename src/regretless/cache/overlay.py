"""The answers of one step: solutions that were solved, over solutions that were looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from regretless.cache.heads import Heads
from regretless.tensors import rows_at, write_rows

LookUp = Callable[[Sequence[Tensor], Tensor | None], list[Tensor]]


# Where at most this share of a batch is solved, all of it is looked up: to pick the rest takes longer.
FEW = 0.25


def overlay(
    queries: Sequence[Tensor], instance: Tensor | None, heads: Heads | None, left_out: Tensor | None, look_up: LookUp
) -> tuple[list[Tensor], int]:
    """Combine solved and looked-up solutions.

    Args:
        queries: tensors ``(batch, width)``; one answer is returned per query.
        instance: ``(batch,)`` ids, for families.
        heads: what was solved; a head whose solve failed is looked up like the rest.
        left_out: positions whose answer is a row of NaN, or ``None``.
        look_up: ``(queries, instance) -> answers``, tensors of their own; called if an instance remains.

    Returns:
        The answers, and how many instances were answered by a look-up.
    """
    batch = queries[0].shape[0]
    if heads is None and left_out is None:
        return look_up(queries, instance), batch
    good = None if heads is None or heads.failed is None else ~heads.failed  # ``None``: all of them
    solved_at = None if heads is None else heads.positions
    if solved_at is not None and good is not None:
        solved_at = solved_at[good]
    solved = 0 if solved_at is None else solved_at.shape[0]
    remain = batch - solved - (0 if left_out is None else left_out.shape[0])
    if left_out is None and remain and solved <= FEW * batch:
        answers = look_up(queries, instance)
    else:
        answers = [torch.empty_like(query) for query in queries]
        if remain:
            rest = _rest(batch, solved_at, left_out).to(queries[0].device)
            some = [rows_at(query, rest) for query in queries]
            looked_up = look_up(some, None if instance is None else instance.index_select(0, rest))
            for answer, found in zip(answers, looked_up, strict=True):
                write_rows(answer, rest, found)
    if heads is not None and solved_at is not None:
        for answer, solution in zip(answers, heads.solutions, strict=True):
            found = solution if good is None else solution[good]
            write_rows(answer, solved_at, found)
    if left_out is not None:
        for answer in answers:
            answer.index_fill_(0, left_out, torch.nan)
    return answers, remain


def _rest(batch: int, *taken: Tensor | None) -> Tensor:
    """Positions that are not taken. They are listed by NumPy: masks are several times slower to read and to write."""
    free = np.ones(batch, dtype=bool)
    for positions in taken:
        if positions is not None:
            free[positions.cpu().numpy()] = False
    return torch.from_numpy(np.flatnonzero(free))
