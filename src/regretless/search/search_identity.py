"""What makes two searches the same search: only then may one continue from the other's checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from regretless.data import Dataset
from regretless.problem import Problem
from regretless.search.candidates import Candidate
from regretless.tensors import hash_of, tensor
from regretless.training.checkpoint import digest_of
from regretless.training.linear_model import find_linear


def search_identity(
    problem: Problem,
    data: Dataset,
    model: nn.Module,
    candidates: Sequence[Candidate],
    solutions: tuple[Tensor, Tensor | None] | None,
    *,
    start: str,
    **settings: Any,
) -> dict[str, Any]:
    """Return everything that determines the numbers of a search, by name, as plain data.

    Limits are not part of it: a search that one of them ended continues with a larger one.

    Args:
        problem, data, candidates, solutions, start: as in ``auto``.
        model: with its initial weights. They are part of the identity unless the two-stage fit, in closed form, does
            not depend on them.
        settings: numbers and choices of ``auto``.
    """
    given = [] if solutions is None else [tensor("solutions", part) for part in solutions if part is not None]
    free = start == "two-stage" and find_linear(model) is not None
    return settings | {
        "problem": problem.fingerprint,
        "data": digest_of(data),
        "candidates": [repr(candidate) for candidate in candidates],  # names round their numbers
        "solutions": hash_of(given) if given else None,
        "start": start,
        "model": repr(model),
        "precision": str(next(model.parameters()).dtype),
        "initial weights": None if free else hash_of(model.state_dict().values()),
    }
