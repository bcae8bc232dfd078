"""The field's formulas for costs that are a polynomial of the features, with the random draws in PyEPO's order.

The same seed gives the same arrays as PyEPO 2.2.7, bit for bit, so the order of the operations matters as well:
``benchmarks/peers/same_data.py`` compares both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regretless.milp import Floats
from regretless.number_checks import check_integer, check_number

Costs = NDArray[np.float32]
Random = np.random.RandomState
MOST_DEGREE = 500  # 3.5 to the power of 567 is infinite


def random(seed: int) -> Random:
    """The generator of all draws: numpy's legacy one, as in PyEPO.

    Raises:
        InputError: the seed is no integer between 0 and 2**32 - 1.
    """
    check_integer("seed", seed, least=0, most=2**32 - 1)
    return Random(seed)


def check_counts(least: int = 1, **counts: Any) -> None:
    """Raise an ``InputError`` that names the first of ``counts`` that is no integer from ``least`` on."""
    for name, value in counts.items():
        check_integer(name, value, least=least)


@dataclass(frozen=True)
class Formula:
    """What the formulas share.

    Attributes:
        instances: number n of rows.
        features: number p of features per instance, drawn from N(0, I_p).
        deg: degree of the polynomial; a linear model is wrong from 2 on.
        noise: half-width of the noise factor, which is drawn from U(1 - noise, 1 + noise).
        seed: of all draws.
    """

    instances: int
    features: int
    deg: int
    noise: float
    seed: int

    def __post_init__(self) -> None:
        check_counts(instances=self.instances, features=self.features)
        check_integer("deg", self.deg, least=1, most=MOST_DEGREE)
        check_number("noise", self.noise, least=0)

    def random(self) -> Random:
        """A new generator of this seed."""
        return random(self.seed)


def polynomial_costs(rng: Random, formula: Formula, costs: int, *, factor: float = 1.0) -> tuple[Floats, Floats]:
    """Features ``x`` and costs ``factor ((B x / sqrt p + 3)^deg + 1) / 3.5^deg`` times noise.

    The entries of B are 0 or 1 with equal chance (Elmachtoub and Grigas, Smart "Predict, then Optimize", 2022).

    Args:
        rng: source of all draws.
        formula: size, degree and noise.
        costs: number d of costs per instance.
        factor: multiplies all costs.

    Returns:
        features ``(n, p)`` and costs ``(n, d)``.
    """
    mask = rng.binomial(1, 0.5, (costs, formula.features))
    x = rng.normal(0, 1, (formula.instances, formula.features))
    c = (x @ mask.T / np.sqrt(formula.features) + 3) ** formula.deg + 1
    c *= factor
    c /= 3.5**formula.deg
    return x, c * _noise(rng, formula, costs)


def distance_costs(rng: Random, formula: Formula, distances: Floats, *, share: float = 0.5) -> tuple[Floats, Floats]:
    """Features ``x`` and costs ``distance + (B x / sqrt p + 3)^deg / 3^(deg - 1)``, the last term times noise.

    The entries of B are 0, or with probability ``share`` from U(-2, 2) (Tang and Khalil, PyEPO, 2024).

    Args:
        rng: source of all draws.
        formula: size, degree and noise.
        distances: ``(d,)`` known part of the costs.
        share: of the features that a cost depends on.

    Returns:
        features ``(n, p)`` and costs ``(n, d)``.
    """
    shape = (len(distances), formula.features)
    weights = rng.binomial(1, share, shape) * rng.uniform(-2, 2, shape)
    x = rng.normal(0, 1, (formula.instances, formula.features))
    part = ((x @ weights.T / np.sqrt(formula.features) + 3) ** formula.deg) / 3 ** (formula.deg - 1)
    return x, distances + part * _noise(rng, formula, len(distances))


def _noise(rng: Random, formula: Formula, costs: int) -> Floats:
    return rng.uniform(1 - formula.noise, 1 + formula.noise, (formula.instances, costs))


def places(rng: Random, nodes: int) -> Floats:
    """Coordinates ``(nodes, 2)``: the first half from U(-2, 2), the others from N(0, 1)."""
    half = nodes // 2
    return np.concatenate((rng.uniform(-2, 2, (half, 2)), rng.normal(0, 1, (nodes - half, 2))))
