"""The answers of one step: solutions that were solved, over solutions that were looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from regretless.cache.heads import Heads

LookUp = Callable[[Sequence[Tensor], Tensor | None], list[Tensor]]


def overlay(
    queries: Sequence[Tensor], instance: Tensor | None, heads: Heads | None, left_out: Tensor | None, look_up: LookUp
) -> list[Tensor]:
    """Combine solved and looked-up solutions.

    Args:
        queries: tensors ``(batch, width)``; one answer is returned per query.
        instance: ``(batch,)`` ids, for families.
        heads: what was solved; a head whose solve failed is looked up like the rest.
        left_out: positions whose answer is a row of NaN, or ``None``.
        look_up: ``(queries, instance) -> answers``, called for the instances that remain, if any.
    """
    if heads is None and left_out is None:
        return look_up(queries, instance)
    rest = torch.ones(len(queries[0]), dtype=torch.bool, device=queries[0].device)
    answers = [torch.full_like(query, torch.nan) for query in queries]
    if heads is not None:
        good = slice(None) if heads.failed is None else ~heads.failed
        positions = heads.positions[good]
        rest[positions] = False
        for answer, solved in zip(answers, heads.solutions, strict=True):
            answer[positions] = solved[good].to(answer.dtype)
    if left_out is not None:
        rest[left_out] = False
    if bool(rest.any()):
        looked_up = look_up([query[rest] for query in queries], None if instance is None else instance[rest])
        for answer, found in zip(answers, looked_up, strict=True):
            answer[rest] = found
    return answers
