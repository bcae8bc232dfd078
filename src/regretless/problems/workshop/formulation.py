"""Orders of a workshop as a MILP: every step once, in sequence, and one step per machine and hour."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from regretless.milp import MILP

HOURS = 24


@dataclass(frozen=True)
class Step:
    """One step of an order: it occupies ``machine`` for ``hours`` and draws ``power`` megawatts."""

    machine: int
    hours: int
    power: float


Order = tuple[Step, ...]  # steps in their sequence


def random_orders(orders: int, machines: int, *, seed: int = 0) -> list[Order]:
    """Draw orders that visit every machine once, each in a sequence of its own.

    >>> sorted(step.machine for step in random_orders(1, 2)[0])
    [0, 1]
    """
    generator = np.random.default_rng(seed)
    return [
        tuple(
            Step(int(machine), int(generator.integers(1, 4)), float(generator.integers(1, 9)) / 10)
            for machine in generator.permutation(machines)
        )
        for _ in range(orders)
    ]


def workshop_milp(orders: list[Order]) -> MILP:
    """Write a day of the workshop as ``min_x c . (G x)`` over hourly prices ``c``.

    ``x_kot`` is 1 if step ``o`` of order ``k`` starts in hour ``t``. Every step starts once. In every hour a machine
    runs at most one step. A step starts after the step before it has ended: with ``d`` hours for step ``o``,
    ``sum_{s <= t} x_k,o+1,s <= sum_{s <= t - d} x_k,o,s`` for every ``t``. The cost map ``G`` sums the energy that is
    bought in every hour, so the cost space has 24 coordinates.

    >>> workshop_milp([(Step(0, 2, 0.5),)]).cost_map.shape
    (24, 23)
    """
    steps = [(k, o) for k, order in enumerate(orders) for o in range(len(order))]
    starts = {(k, o): _starts(orders[k], o) for k, o in steps}
    keys = [(k, o, t) for k, o in steps for t in starts[k, o]]
    column = {key: i for i, key in enumerate(keys)}

    rows: list[dict[int, float]] = []
    bounds: list[tuple[float, float]] = []
    for k, o in steps:
        rows.append({column[k, o, t]: 1.0 for t in starts[k, o]})
        bounds.append((1.0, 1.0))
    for machine in sorted({step.machine for order in orders for step in order}):
        own = [(k, o, t) for k, o, t in keys if orders[k][o].machine == machine]
        for hour in range(HOURS):
            rows.append({column[k, o, t]: 1.0 for k, o, t in own if t <= hour < t + orders[k][o].hours})
            bounds.append((-np.inf, 1.0))
    for k, order in enumerate(orders):
        for before, after in pairwise(range(len(order))):
            for hour in starts[k, after]:
                started = {column[k, after, t]: 1.0 for t in starts[k, after] if t <= hour}
                ended = {column[k, before, t]: -1.0 for t in starts[k, before] if t <= hour - order[before].hours}
                rows.append(started | ended)
                bounds.append((-np.inf, 0.0))
    energy = {(t + i, column[k, o, t]): orders[k][o].power for k, o, t in keys for i in range(orders[k][o].hours)}
    lower, upper = np.array(bounds).T
    return MILP(
        _matrix({(r, c): value for r, row in enumerate(rows) for c, value in row.items()}, (len(rows), len(keys))),
        row_lower=lower,
        row_upper=upper,
        cost_map=_matrix(energy, (HOURS, len(keys))),
        names=tuple(f"order{k}_step{o}_hour{t}" for k, o, t in keys),
    )


def _starts(order: Order, step: int) -> range:
    """Hours in which a step can start, so that all steps of its order fit into the day."""
    earliest = sum(one.hours for one in order[:step])
    return range(earliest, HOURS - sum(one.hours for one in order[step:]) + 1)


def _matrix(entries: dict[tuple[int, int], float], shape: tuple[int, int]) -> sparse.csr_array:
    row, column = np.array(list(entries), dtype=np.int64).T
    return sparse.csr_array((np.array(list(entries.values())), (row, column)), shape=shape)
