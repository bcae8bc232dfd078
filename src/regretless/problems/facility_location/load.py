"""Facility location by name, with costs from a formula."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist

from regretless.benchmark_problem import BenchmarkProblem
from regretless.milp import Floats
from regretless.problem import Problem
from regretless.problems.facility_location.formulation import facility_milp
from regretless.problems.generated_problem import Sizes, generated_problem
from regretless.problems.polynomial_costs import Costs, check_counts, distance_costs, places, random

SHARE = 0.25
CHEAPEST, DEAREST = 0.01, 100.0
# Each facility could serve a third of the demand; some five of ten are opened at these costs.
PART_OF_DEMAND, OPENING = 1 / 3, (20.0, 60.0)


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


def facility_data(
    instances: int,
    *,
    customers: int = 200,
    facilities: int = 10,
    features: int = 10,
    deg: int = 4,
    noise: float = 0.5,
    seed: int = 135,
) -> FacilityData:
    """Make the data; costs are those of ``distance_costs`` with a share of 0.25, clipped to 0.01 ... 100."""
    check_counts(customers=customers)
    check_counts(4, facilities=facilities)
    rng = random(seed)
    here, there = places(rng, customers), places(rng, facilities)
    demands, opening = rng.uniform(0, 10, customers), rng.uniform(*OPENING, facilities)
    x, c = distance_costs(
        rng, cdist(here, there).ravel(), instances=instances, features=features, deg=deg, noise=noise, share=SHARE
    )
    capacities = np.full(facilities, PART_OF_DEMAND * demands.sum())
    return FacilityData(here, there, demands, capacities, opening, x, np.clip(c, CHEAPEST, DEAREST).astype(np.float32))


def load_facility_location(
    name: str,
    *,
    customers: int = 200,
    facilities: int = 10,
    features: int = 10,
    deg: int = 4,
    noise: float = 0.5,
    train: int = 200,
    test: int = 100,
    validation: int = 0,
    split_seed: int | None = None,
    seed: int = 135,
    engine: str = "highs",
    workers: int = 1,
    time_limit: float | None = None,
    store: Path | str | None = None,
) -> BenchmarkProblem:
    """Load ``facility-location``: open facilities at known costs, so that customers are served at predicted ones.

    Args:
        name: ``facility-location``.
        customers, facilities: how many there are; at least 4 facilities, since three just meet the demand.
        features, deg, noise: of the formula; see ``distance_costs``.
        train, test, validation, split_seed: of the parts; see ``Sizes``. They are smaller than elsewhere, since a solve
            takes some tenths of a second.
        seed: of the data.
        engine: that solves the model.
        workers: threads.
        time_limit: seconds for one solve.
        store: folder that keeps true optima.
    """
    sizes = Sizes(train, test, validation, split_seed)
    data = facility_data(
        sizes.total, customers=customers, facilities=facilities, features=features, deg=deg, noise=noise, seed=seed
    )
    model = facility_milp(data.demands, data.capacities, data.opening_costs)
    problem = Problem(model, sense="min", engine=engine, workers=workers, time_limit=time_limit)
    return generated_problem(name, problem, data.features, data.costs, sizes, store=store)
