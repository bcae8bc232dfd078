"""The best k items by name, with values from a formula."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import InputError
from regretless.milp import MILP, Floats
from regretless.problems.generated_problem import Sizes, exact_problem, generated_problem
from regretless.problems.polynomial_costs import Costs, check_counts, random
from regretless.problems.seeded_models import shared_linear
from regretless.problems.top_k.oracle import TopKOracle


def top_k_data(instances: int, *, items: int = 50, seed: int = 135) -> tuple[Floats, Costs]:
    """Features ``(n, items, 1)`` from U(-1, 1) and values ``10 (x^3 - 0.65 x)``, ``(n, items)``."""
    check_counts(instances=instances, items=items)
    x = random(seed).uniform(-1, 1, (instances, items))
    return x[:, :, None], (10 * (x**3 - 0.65 * x)).astype(np.float32)


def load_top_k(
    name: str,
    *,
    items: int = 50,
    k: int = 2,
    train: int = 1000,
    test: int = 1000,
    validation: int = 0,
    split_seed: int | None = None,
    seed: int = 135,
    engine: str = "oracle",
    workers: int = 1,
    time_limit: float | None = None,
    store: Path | str | None = None,
) -> BenchmarkProblem:
    """Load ``top-k``: choose the k items of most value, whose value is a cubic of one feature (Shah et al., 2022).

    The model is one linear function shared by all items: it cannot fit the cubic, so what it fits best decides.

    Args:
        name: ``top-k``.
        items: number of items per instance.
        k: how many are chosen.
        train, test, validation, split_seed: of the parts; see ``Sizes``.
        seed: of the data.
        engine: ``oracle``, or an engine for the model.
        workers: threads, for engines.
        time_limit: seconds for one solve, for engines.
        store: folder that keeps true optima.
    """
    check_counts(k=k)
    if k > items:
        raise InputError(f"k must be at most the number of items, {items}, got {k}")
    sizes = Sizes(train, test, validation, split_seed)
    x, c = top_k_data(sizes.total, items=items, seed=seed)
    problem = exact_problem(
        MILP(np.ones((1, items)), row_lower=float(k), row_upper=float(k)),
        partial(TopKOracle, k),
        sense="max",
        engine=engine,
        workers=workers,
        time_limit=time_limit,
    )
    return generated_problem(name, problem, x, c, sizes, store=store, model=shared_linear(1))
