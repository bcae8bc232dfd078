"""A step of Algorithm 2 for costs in NumPy's arrays: the common case of ``SolutionCache.answer``, in fewer calls."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import torch

from regretless.arrays import Array, as_array
from regretless.cache.growing import Growing
from regretless.cache.overlay import FEW, LookUp, overlay
from regretless.cache.policies import Policy


def answer_arrays(
    growing: Growing, policy: Policy, queries: Sequence[Array], predicted: Array, look_up: LookUp
) -> list[Array]:
    """Answer costs of a problem that is no family; a solve that fails is raised.

    Args:
        growing: solves and inserts.
        policy: decides which instances are solved.
        queries: arrays ``(batch, width)`` of minimizing costs.
        predicted: ``(batch, width)`` predicted costs.
        look_up: the look-up for tensors.
    """
    heads = growing.step(policy, queries, predicted, None)
    solved = heads if growing.grow_at == "transformed" else None
    count = 0 if solved is None else solved.positions.shape[0]
    remain = (predicted.shape[0] - count) * len(queries)
    growing.count_lookups(remain)
    if solved is not None and count > FEW * predicted.shape[0]:
        answers, _ = overlay([torch.from_numpy(query) for query in queries], None, solved, None, look_up)
        return [as_array(answer) for answer in answers]
    start = time.perf_counter()
    costs = torch.from_numpy(queries[0] if len(queries) == 1 else np.concatenate(queries))
    with growing.lock:
        found = growing.store.best_arrays(costs)
        growing.statistics.seconds += time.perf_counter() - start
    found_by_query = [found] if len(queries) == 1 else np.split(found, len(queries))
    if solved is not None:
        places = solved.positions.numpy()
        for answer, solution in zip(found_by_query, solved.solutions, strict=True):
            answer[places] = as_array(solution)
    return found_by_query
