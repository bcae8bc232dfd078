"""A random packing program, with values from a formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import MILP, Floats
from regretless.problems.polynomial_costs import Costs, Formula, check_counts, polynomial_costs
from regretless.problems.settings import Settings

DEFAULTS = {"train": 500}


def random_program_data(formula: Formula, variables: int, rows: int) -> tuple[Floats, Floats, Costs]:
    """Rows ``(rows, variables)`` from U(0, 1), features ``(n, p)``, and values ``(n, variables)``."""
    check_counts(variables=variables, rows=rows)
    rng = formula.random()
    A = rng.uniform(0, 1, (rows, variables))
    x, c = polynomial_costs(rng, formula, variables)
    return A, x, c.astype(np.float32)


def load_random_linear_program(
    name: str,
    *,
    variables: int = 100,
    rows: int = 50,
    features: int = 5,
    deg: int = 8,
    noise: float = 0.5,
    **settings: Any,
) -> BenchmarkProblem:
    """Load ``random-lp``: ``max c . x`` subject to ``A x <= 1`` and ``x >= 0``, with random rows.

    Args:
        name: ``random-lp``.
        variables, rows: size of A.
        features, deg, noise: of the formula; see ``polynomial_costs``.
        settings: see ``Settings``.
    """
    given = Settings(**DEFAULTS | settings)
    A, x, c = random_program_data(Formula(given.instances, features, deg, noise, given.seed), variables, rows)
    return given.load(name, given.problem(MILP(A, row_upper=1.0, upper=np.inf, integer=False), "max"), x, c)
