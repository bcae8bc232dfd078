"""A family of programmes: one set of variables and costs, constraints that differ from instance to instance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from regretless.errors import InputError
from regretless.milp import MILP, TOLERANCE


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
                    f"all MILPs of a family need the same variables and costs: instance 0 has n={first.n}, "
                    f"d={first.dimension}, instance {i} has n={milp.n}, d={milp.dimension}"
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
        x = np.atleast_2d(np.asarray(solutions, dtype=np.float64))
        if self._stacked is None:
            self._stacked = sparse.csr_array(sparse.vstack([milp.A for milp in self.milps], format="csr"))
        activity = self._stacked @ x.T
        low = np.concatenate([milp.row_lower for milp in self.milps])
        high = np.concatenate([milp.row_upper for milp in self.milps])
        finite_low, finite_high = np.nan_to_num(np.abs(low), posinf=1.0), np.nan_to_num(np.abs(high), posinf=1.0)
        inside = (activity >= (low - tolerance * np.maximum(1.0, finite_low))[:, None]) & (
            activity <= (high + tolerance * np.maximum(1.0, finite_high))[:, None]
        )
        ends = np.cumsum([milp.A.shape[0] for milp in self.milps])
        good = np.stack([block.all(axis=0) for block in np.split(inside, ends[:-1])])
        whole = np.abs(x - np.round(x)) <= tolerance
        for i, milp in enumerate(self.milps):
            good[i] &= (whole | ~milp.integer).all(axis=1)
            good[i] &= ((x >= milp.lower - tolerance) & (x <= milp.upper + tolerance)).all(axis=1)
        return good

    @property
    def fingerprint(self) -> str:
        """Hash of all members, in order."""
        from hashlib import sha256

        return sha256("".join(milp.fingerprint for milp in self.milps).encode()).hexdigest()[:32]
