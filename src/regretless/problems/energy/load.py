"""Load energy-1, -2 and -3, and any other ICON instance, on the prices of the Irish market."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regretless.benchmark_problem import BenchmarkProblem
from regretless.downloads.fetch import locate
from regretless.errors import InputError
from regretless.problem import Problem
from regretless.problems import irish_market
from regretless.problems.energy.formulation import formulate
from regretless.problems.energy.icon import read_icon
from regretless.problems.energy.instance import Instance
from regretless.problems.energy.oracle import EnergyOracle
from regretless.problems.labelled_parts import labelled_parts
from regretless.problems.seeded_models import shared_linear
from regretless.types import OnFailure

NAMES = ("energy-1", "energy-2", "energy-3")
BATCH_SIZE = 24


def load_energy(
    name: str,
    *,
    split: str = "paper",
    engine: str = "oracle",
    workers: int = 1,
    executor: str = "threads",
    seed: int = 0,
    time_limit: float | None = None,
    on_failure: OnFailure = "raise",
    store: Path | str | None = None,
) -> BenchmarkProblem:
    """Load an energy-cost-aware scheduling problem with its data and model; see ``regretless.problems.load``.

    Args:
        name: ``energy-1``, ``energy-2``, ``energy-3``, or ``energy:PATH`` with the path of an ICON instance file.
        split: ``paper``, ``chronological`` or ``random``; see ``regretless.problems.irish_market.split_days``.
        engine, workers, executor, seed, time_limit, on_failure, store: as for every problem.

    Raises:
        InputError: an unknown name, or slots whose length differs from that of the prices.
        FileError: an instance or price file is missing or damaged.
    """
    instance = energy_instance(name)
    features, prices = irish_market.energy_data()
    if instance.slots != prices.shape[1]:
        raise InputError(
            f"the prices have {prices.shape[1]} slots per day, but {name} has {instance.slots} slots "
            f"of {instance.minutes_per_slot} minutes; use 30 minutes per slot"
        )
    model = formulate(instance)
    if engine == "oracle":
        oracle = EnergyOracle(instance, model=model, time_limit=time_limit)
        problem = Problem(model, oracle=oracle, sense="min", name=name)
    else:
        how: dict[str, Any] = {"workers": workers, "executor": executor, "time_limit": time_limit}
        problem = Problem(model, sense="min", engine=engine, name=name, **how)
    features = irish_market.standardize(features)
    train, validation, test = (
        labelled_parts(problem, features[days], prices[days], [range(len(days))], on_failure=on_failure, store=store)[0]
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
