"""Facility location with capacities: which facilities to open, and which of them serves which customer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import MILP, Floats
from regretless.problems.polynomial_costs import Costs, Formula, check_counts, distance_costs, places
from regretless.problems.settings import Settings

DEFAULTS = {"train": 200, "test": 100}
SHARE = 0.25
CHEAPEST, DEAREST = 0.01, 100.0
# Each facility could serve a third of the demand; some five of ten are opened at these costs.
PART_OF_DEMAND, OPENING = 1 / 3, (20.0, 60.0)


def facility_milp(demands: Floats, capacities: Floats, opening_costs: Floats) -> MILP:
    """``min sum_ij c_ij x_ij + sum_j f_j y_j`` with predicted ``c`` and known ``f``.

    Every customer i is served, ``sum_j x_ij = 1``, by open facilities, ``x_ij <= y_j``, within their capacities,
    ``sum_i demand_i x_ij <= capacity_j y_j``. A customer may be shared by several facilities; ``y`` is binary.

    Args:
        demands: ``(customers,)``.
        capacities: ``(facilities,)``.
        opening_costs: ``(facilities,)`` known costs f.

    Returns:
        The model; its variables are all x, customer by customer, then y.
    """
    n, m = len(demands), len(capacities)
    served = sparse.kron(sparse.eye_array(n), np.ones((1, m)))
    load = sparse.kron(demands[None], sparse.eye_array(m))
    of_facility = sparse.kron(np.ones((n, 1)), sparse.eye_array(m))
    blocks: Any = [[served, None], [load, -sparse.diags_array(capacities)], [sparse.eye_array(n * m), -of_facility]]
    return MILP(
        sparse.block_array(blocks),
        row_lower=np.concatenate([np.ones(n), np.full(m + n * m, -np.inf)]),
        row_upper=np.concatenate([np.ones(n), np.zeros(m + n * m)]),
        integer=np.arange(n * m + m) >= n * m,
        cost_map=sparse.hstack([sparse.eye_array(n * m), sparse.csr_array((n * m, m))]),
        fixed_cost=np.concatenate([np.zeros(n * m), opening_costs]),
    )


@dataclass(frozen=True, eq=False)
class FacilityData:
    """Places ``(customers, 2)`` and ``(facilities, 2)``, what is known about them, features and costs.

    Attributes:
        customers, facilities: coordinates.
        demands: ``(customers,)`` from U(0, 10).
        capacities: ``(facilities,)`` each a third of all demands.
        opening_costs: ``(facilities,)`` from U(20, 60).
        features: ``(n, p)``.
        costs: ``(n, customers * facilities)`` of serving a customer from a facility, customer by customer.
    """

    customers: Floats
    facilities: Floats
    demands: Floats
    capacities: Floats
    opening_costs: Floats
    features: Floats
    costs: Costs


def facility_data(formula: Formula, customers: int, facilities: int) -> FacilityData:
    """Make the data; costs are those of ``distance_costs`` with a share of 0.25, clipped to 0.01 ... 100."""
    check_counts(customers=customers)
    check_counts(4, facilities=facilities)  # three could just meet the demand
    rng = formula.random()
    here, there = places(rng, customers), places(rng, facilities)
    demands, opening = rng.uniform(0, 10, customers), rng.uniform(*OPENING, facilities)
    x, c = distance_costs(rng, formula, cdist(here, there).ravel(), share=SHARE)
    capacities = np.full(facilities, PART_OF_DEMAND * demands.sum())
    costs = np.clip(c, CHEAPEST, DEAREST).astype(np.float32)
    return FacilityData(here, there, demands, capacities, opening, x, costs)


def load_facility_location(
    name: str,
    *,
    customers: int = 200,
    facilities: int = 10,
    features: int = 10,
    deg: int = 4,
    noise: float = 0.5,
    **settings: Any,
) -> BenchmarkProblem:
    """Load ``facility-location``: open facilities at known costs, so that customers are served at predicted ones.

    Args:
        name: ``facility-location``.
        customers, facilities: how many there are; at least 4 facilities.
        features, deg, noise: of the formula; see ``distance_costs``.
        settings: see ``Settings``. There are fewer instances than elsewhere by default, since a solve by HiGHS takes
            half a second.
    """
    given = Settings(**DEFAULTS | settings)
    data = facility_data(Formula(given.instances, features, deg, noise, given.seed), customers, facilities)
    problem = given.problem(facility_milp(data.demands, data.capacities, data.opening_costs), "min")
    return given.load(name, problem, data.features, data.costs)
