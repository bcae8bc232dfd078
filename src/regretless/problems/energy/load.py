"""Load energy-1, -2 and -3, and any other ICON instance, on the prices of the Irish market."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from regretless.benchmark_problem import BenchmarkProblem
from regretless.downloads.fetch import locate
from regretless.errors import InputError
from regretless.problems import irish_market
from regretless.problems.energy.formulation import formulate
from regretless.problems.energy.icon import read_icon
from regretless.problems.energy.instance import Instance
from regretless.problems.energy.oracle import EnergyOracle
from regretless.problems.settings import Solving, shared_linear

NAMES = ("energy-1", "energy-2", "energy-3")
BATCH_SIZE = 24


def load_energy(name: str, *, split: str = "paper", seed: int = 0, **solving: Any) -> BenchmarkProblem:
    """Load an energy-cost-aware scheduling problem with its data and model; see ``regretless.problems.load``.

    Args:
        name: ``energy-1``, ``energy-2``, ``energy-3``, or ``energy:PATH`` with the path of an ICON instance file.
        split: ``paper``, ``chronological`` or ``random``; see ``regretless.problems.irish_market.split_days``.
        seed: of a random split.
        solving: see ``Solving``.

    Raises:
        InputError: an unknown name, or slots whose length differs from that of the prices.
        FileError: an instance or price file is missing or damaged.
    """
    how, instance = Solving(**solving), energy_instance(name)
    features, prices = irish_market.energy_data()
    if instance.slots != prices.shape[1]:
        raise InputError(
            f"the prices have {prices.shape[1]} slots per day, but {name} has {instance.slots} slots "
            f"of {instance.minutes_per_slot} minutes; use 30 minutes per slot"
        )
    model = formulate(instance)
    oracle = partial(EnergyOracle, instance, model=model, time_limit=how.time_limit)
    problem = how.problem(model, "min", oracle, name=name)
    features = irish_market.standardize(features)
    train, validation, test = (
        how.labelled(problem, features[days], prices[days], [range(len(days))])[0]
        for days in irish_market.split_days(split, seed=seed)
    )
    return BenchmarkProblem(name, problem, train, test, validation, shared_linear(features.shape[-1]), BATCH_SIZE)


def energy_instance(name: str) -> Instance:
    """Read the instance with a name: ``energy-1``, ``energy-2``, ``energy-3`` or ``energy:PATH``."""
    kind, _, path = name.partition(":")
    if kind == "energy" and path:
        return read_icon(Path(path).expanduser())
    if name not in NAMES:
        raise InputError(f"name must be one of {', '.join(NAMES)}, or energy:PATH, got {name!r}")
    return read_icon(locate(f"{name}.txt"))
