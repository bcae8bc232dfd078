"""A random packing program by name, with values from a formula."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import MILP, Floats
from regretless.problem import Problem
from regretless.problems.generated_problem import Sizes, generated_problem
from regretless.problems.polynomial_costs import Costs, check_counts, polynomial_costs, random


def random_program_data(
    instances: int,
    *,
    variables: int = 100,
    rows: int = 50,
    features: int = 5,
    deg: int = 8,
    noise: float = 0.5,
    seed: int = 135,
) -> tuple[Floats, Floats, Costs]:
    """Rows ``(rows, variables)`` from U(0, 1), features ``(n, p)``, and values ``(n, variables)``."""
    check_counts(variables=variables, rows=rows)
    rng = random(seed)
    A = rng.uniform(0, 1, (rows, variables))
    x, c = polynomial_costs(rng, instances=instances, costs=variables, features=features, deg=deg, noise=noise)
    return A, x, c.astype(np.float32)


def load_random_linear_program(
    name: str,
    *,
    variables: int = 100,
    rows: int = 50,
    features: int = 5,
    deg: int = 8,
    noise: float = 0.5,
    train: int = 500,
    test: int = 1000,
    validation: int = 0,
    split_seed: int | None = None,
    seed: int = 135,
    engine: str = "highs",
    workers: int = 1,
    time_limit: float | None = None,
    store: Path | str | None = None,
) -> BenchmarkProblem:
    """Load ``random-lp``: ``max c . x`` subject to ``A x <= 1`` and ``x >= 0``, with random rows.

    Args:
        name: ``random-lp``.
        variables, rows: size of A.
        features, deg, noise: of the formula; see ``polynomial_costs``.
        train, test, validation, split_seed: of the parts; see ``Sizes``.
        seed: of the data.
        engine: that solves the model.
        workers: threads.
        time_limit: seconds for one solve.
        store: folder that keeps true optima.
    """
    sizes = Sizes(train, test, validation, split_seed)
    A, x, c = random_program_data(
        sizes.total, variables=variables, rows=rows, features=features, deg=deg, noise=noise, seed=seed
    )
    model = MILP(A, row_upper=1.0, upper=np.inf, integer=False)
    problem = Problem(model, sense="max", engine=engine, workers=workers, time_limit=time_limit)
    return generated_problem(name, problem, x, c, sizes, store=store)
