"""A family of models: one set of variables and costs, constraints and known costs that differ between instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import MILP, TOLERANCE, Floats, decisions, inside_bounds, inside_rows


class Family:
    """Models that share variables and cost map, addressed by an instance id ``0 .. len - 1``.

    A family is open: ``append`` and ``extend`` add members at any time, also after training. Ids never change.

    A solution found for one instance serves another one only where it is feasible for it. ``feasible`` answers that for
    all instances in one sparse product. It needs the full decision, so a cache shares solutions only where the cost map
    is the identity (``shares``).

    >>> family = Family([MILP([[1.0, 1.0]], row_upper=1.0)])
    >>> family.append(MILP([[1.0, 1.0]], row_upper=2.0))
    1
    >>> family.feasible([[1, 0], [1, 1]]).tolist()
    [[True, False], [True, True]]
    """

    def __init__(self, milps: Iterable[MILP]) -> None:
        self.milps: list[MILP] = []
        self.extend(milps)
        if not self.milps:
            raise InputError("a family needs at least one MILP, got none")

    def append(self, milp: MILP) -> int:
        """Add a member and return its id."""
        return self.extend([milp])[0]

    def extend(self, milps: Iterable[MILP]) -> list[int]:
        """Add members and return their ids.

        Raises:
            InputError: a member has other variables, costs or known costs than the first one; then none is added.
        """
        new, count = list(milps), len(self.milps)
        first = self.milps[0] if self.milps else new[0] if new else None
        for i, milp in enumerate(new, start=count):
            assert first is not None
            if (milp.n, milp.dimension, milp.width) != (first.n, first.dimension, first.width):
                raise InputError(
                    "all MILPs of a family need the same variables and costs, and all or none known costs: "
                    f"instance 0 has n={first.n}, d={first.dimension}, known costs: {first.has_fixed_cost}; "
                    f"instance {i} has n={milp.n}, d={milp.dimension}, known costs: {milp.has_fixed_cost}"
                )
        self.milps += new
        self._stacked: tuple[int, sparse.csr_array] | None = None
        return list(range(count, len(self.milps)))

    def __len__(self) -> int:
        return len(self.milps)

    def __getitem__(self, instance: int) -> MILP:
        return self.milps[instance]

    def __iter__(self) -> Iterator[MILP]:
        return iter(self.milps)

    @property
    def shares(self) -> bool:
        """Whether a solution shows its decision, so that it can be checked for other instances."""
        return all(milp.cost_map is None for milp in self.milps)

    def feasible(
        self, x: ArrayLike, tolerance: float = TOLERANCE, *, members: Sequence[int] | None = None
    ) -> NDArray[np.bool_]:
        """Say which decisions ``(m, n)`` are feasible for which instances.

        Args:
            x: decisions.
            tolerance: relative to the bounds, as in ``MILP.check``.
            members: ids of the instances; all of them when ``None``.

        Returns:
            ``(instances, m)`` mask.
        """
        points = decisions(x, self.milps[0].n)
        chosen = self.milps if members is None else [self.milps[i] for i in members]
        mask = np.empty((len(chosen), len(points)), dtype=np.bool_)
        activity = self._matrix(chosen, cache=members is None) @ points.T
        bounded: dict[bytes, NDArray[np.bool_]] = {}  # most families share one box: check it once
        start = 0
        for i, milp in enumerate(chosen):
            stop = start + milp.A.shape[0]
            box = milp.lower.tobytes() + milp.upper.tobytes() + milp.integer.tobytes()
            if box not in bounded:
                bounded[box] = inside_bounds(milp, points, tolerance)
            mask[i] = bounded[box] & inside_rows(milp, activity[start:stop], tolerance)
            start = stop
        return mask

    def known_groups(self) -> list[tuple[MILP, list[int]]]:
        """Members with equal known costs, as pairs of one of them and the ids of all."""
        groups: dict[bytes, tuple[MILP, list[int]]] = {}
        for i, milp in enumerate(self.milps):
            key = milp.fixed_cost.tobytes() + np.float64(milp.constant).tobytes()
            groups.setdefault(key, (milp, []))[1].append(i)
        return list(groups.values())

    @property
    def fingerprint(self) -> str:
        """Hash of all members, in order."""
        return self.fingerprint_of(len(self.milps))

    def fingerprint_of(self, count: int) -> str:
        """Hash of the first ``count`` members: what the fingerprint was before later members were added."""
        return sha256("".join(milp.fingerprint for milp in self.milps[:count]).encode()).hexdigest()[:32]

    def _matrix(self, milps: list[MILP], *, cache: bool) -> sparse.csr_array:
        if cache and self._stacked is not None and self._stacked[0] == len(milps):
            return self._stacked[1]
        stacked = sparse.csr_array(sparse.vstack([milp.A for milp in milps], format="csr"))
        if cache:
            self._stacked = (len(milps), stacked)
        return stacked


def member(model: MILP | Family, index: int = 0) -> MILP:
    """The model of one instance; a model that is not a family is that of every instance."""
    return model[index] if isinstance(model, Family) else model


def shared_rows(family: Family, solutions: Floats, ids: Sequence[int]) -> tuple[Floats, NDArray[np.bool_]]:
    """Rows for a cache of all that solutions found for some instances offer to all instances.

    Where members have different known costs, the last coordinate of a solution differs between them: then one decision
    becomes one row per group of members with equal known costs.

    Args:
        family: whose solutions show their decisions (``family.shares``).
        solutions: ``(m, width)`` in cost space.
        ids: the instance that each was found for.

    Returns:
        Rows ``(k, width)`` and a mask ``(instances, k)`` of the instances that each serves.
    """
    n = family[0].n
    x, own = solutions[:, :n], np.asarray(ids)
    mask = family.feasible(x)
    # An instance's own solution is feasible by proof, whatever a tolerance says.
    mask[own, np.arange(len(x))] = True
    if not family[0].has_fixed_cost:
        return solutions, mask
    rows, serves = [], []
    for milp, members in family.known_groups():
        part = np.zeros_like(mask)
        part[members] = mask[members]
        mine = np.isin(own, members)  # their known cost is in the solution, bit for bit
        row = np.where(mine[:, None], solutions, milp.solution(x))
        keep = part.any(axis=0)
        rows.append(row[keep])
        serves.append(part[:, keep])
    return np.concatenate(rows), np.concatenate(serves, axis=1)
