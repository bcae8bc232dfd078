"""A family of programmes: one set of variables and costs, constraints that differ from instance to instance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import MILP, TOLERANCE, decisions, inside


class Family:
    """Programmes that share variables and cost map, addressed by an instance id ``0 .. len - 1``.

    A solution found for one instance serves another only where it is feasible for it; ``feasible`` answers that for all
    instances in one sparse product. It works on the cost space, so it needs ``G`` to be the identity; without that a
    solution is known to be feasible only for the instance it was solved for.

    >>> family = Family([MILP([[1.0, 1.0]], row_upper=1.0), MILP([[1.0, 1.0]], row_upper=2.0)])
    >>> family.feasible([[1, 0], [1, 1]]).tolist()
    [[True, False], [True, True]]
    """

    def __init__(self, milps: Sequence[MILP]) -> None:
        if not milps:
            raise InputError("a family needs at least one MILP, got none")
        self.milps = tuple(milps)
        first = self.milps[0]
        for i, milp in enumerate(self.milps):
            if (milp.n, milp.dimension, milp.width) != (first.n, first.dimension, first.width):
                raise InputError(
                    "all MILPs of a family need the same variables and costs, and all or none known costs: "
                    f"instance 0 has n={first.n}, d={first.dimension}, known costs: {first.has_fixed_cost}; "
                    f"instance {i} has n={milp.n}, d={milp.dimension}, known costs: {milp.has_fixed_cost}"
                )
        self.shares = all(milp.cost_map is None and not milp.has_fixed_cost for milp in self.milps)
        self._stacked: sparse.csr_array | None = None

    def __len__(self) -> int:
        return len(self.milps)

    def __getitem__(self, instance: int) -> MILP:
        return self.milps[instance]

    def __iter__(self) -> Iterator[MILP]:
        return iter(self.milps)

    def feasible(self, solutions: ArrayLike, tolerance: float = TOLERANCE) -> NDArray[np.bool_]:
        """Say which solutions ``(m, n)`` are feasible for which instances.

        Returns:
            ``(instances, m)`` mask.

        Raises:
            InputError: the cost map is not the identity, so that the decision cannot be seen in the solution.
        """
        if not self.shares:
            raise InputError("feasibility across instances needs the identity as cost map and no fixed costs")
        x = decisions(solutions, self.milps[0].n)
        if self._stacked is None:
            self._stacked = sparse.csr_array(sparse.vstack([milp.A for milp in self.milps], format="csr"))
        ends = np.cumsum([milp.A.shape[0] for milp in self.milps])
        activities = np.split((self._stacked @ x.T).T, ends[:-1], axis=1)
        return np.stack([inside(milp, x, part, tolerance) for milp, part in zip(self.milps, activities, strict=True)])

    @property
    def fingerprint(self) -> str:
        """Hash of all members, in order."""
        return sha256("".join(milp.fingerprint for milp in self.milps).encode()).hexdigest()[:32]


def member(model: MILP | Family, index: int = 0) -> MILP:
    """The programme of one instance; a programme by itself is that of every instance."""
    return model[index] if isinstance(model, Family) else model
