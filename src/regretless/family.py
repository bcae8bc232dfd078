"""A family of models: one set of variables and costs, constraints and known costs that differ between instances."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from regretless.errors import InputError
from regretless.member_checks import feasible_members
from regretless.milp import MILP, TOLERANCE, Floats, decisions
from regretless.variations import varied


class Family:
    """Models that share variables and cost map, addressed by an instance id ``0 .. len - 1``.

    A family is open: ``add``, ``append`` and ``extend`` add members at any time, also after training. Ids never change.

    A solution found for one instance serves every other one where it is feasible. Two things make that possible. The
    cost space of a family holds the whole decision: ``G x``, then the variables that ``G`` does not contain. And known
    costs are added to the predicted costs (``known``), so that they are not part of a solution. The members (``milps``)
    are stored in this form.

    Args:
        milps: the first members; at least one.

    Attributes:
        milps: the members, in the order of their ids.
        dimension: number d of predicted costs; they are the first coordinates of the cost space.
        width: length of a solution in cost space.

    >>> family = Family.vary(MILP([[1.0, 1.0]], row_names=["capacity"]), row_upper={"capacity": [1.0, 2.0]})
    >>> family.feasible([[1, 0], [1, 1]]).tolist()
    [[True, False], [True, True]]
    >>> family.add(row_upper={"capacity": [0.0, 1.0]})
    [2, 0]
    """

    def __init__(self, milps: Iterable[MILP]) -> None:
        given = list(milps)
        if not given:
            raise InputError("a family needs at least one MILP, got none")
        self._base, self._space = given[0], _CostSpace(given[0])
        self.dimension, self.width = self._base.dimension, self._space.width
        self.milps: list[MILP] = []
        self._known: list[Floats] = []
        self._prints: dict[int, str] = {}  # fingerprints of members, which never change
        self._ids: dict[bytes, int] = {}  # by content, to find variations that are members already
        self._table: Floats | None = None
        self._any_known = False
        self.extend(given)

    def __repr__(self) -> str:
        return f"Family({len(self)} members of {self.milps[0]!r})"

    @classmethod
    def vary(
        cls,
        milp: MILP,
        *,
        row_lower: Any = None,
        row_upper: Any = None,
        lower: Any = None,
        upper: Any = None,
        fixed_cost: Any = None,
    ) -> Family:
        """One model, and per instance other sides of rows, bounds or known costs.

        Each argument is an array ``(members, rows)`` or ``(members, variables)``, or a mapping or data frame from names
        of rows or variables to ``(members,)`` values. What is not given is as in ``milp``. Without any argument the
        family has one member, the model itself.

        Raises:
            InputError: an unknown name, numbers of members that differ, or bounds that leave nothing in between; the
                message names the argument, the row or variable, and the member.
        """
        given = {"row_lower": row_lower, "row_upper": row_upper, "lower": lower, "upper": upper}
        members = varied(milp, given | {"fixed_cost": fixed_cost})
        family = cls([milp])
        if members is not None:
            family.milps, family._known, family._ids, family._prints = [], [], {}, {}
            family.extend(members)
        return family

    def add(
        self,
        *,
        row_lower: Any = None,
        row_upper: Any = None,
        lower: Any = None,
        upper: Any = None,
        fixed_cost: Any = None,
    ) -> list[int]:
        """Add variations of the model that ``vary`` started from, and return the id of each.

        Arguments are those of ``vary``. A variation that is a member already has that member's id.
        """
        given = {"row_lower": row_lower, "row_upper": row_upper, "lower": lower, "upper": upper}
        members = varied(self._base, given | {"fixed_cost": fixed_cost}) or [self._base]
        found = []
        for milp in members:
            there = self._ids.get(_key(*self._space.shown(milp)))
            found.append(self.append(milp) if there is None else there)
        return found

    def append(self, milp: MILP) -> int:
        """Add a member and return its id."""
        return self.extend([milp])[0]

    def extend(self, milps: Iterable[MILP]) -> list[int]:
        """Add members and return their ids.

        Raises:
            InputError: a member has other variables or costs than the first one; then none is added.
        """
        new, count = list(milps), len(self.milps)
        for i, milp in enumerate(new, start=count):
            self._space.refuse_another(milp, i)
        shown = [self._space.shown(milp) for milp in new]
        for i, pair in enumerate(shown, start=count):
            self._ids.setdefault(_key(*pair), i)
        self.milps += [milp for milp, _ in shown]
        self._known += [known for _, known in shown]
        self._table, self._any_known = None, self._any_known or any(known.any() for _, known in shown)
        return list(range(count, len(self.milps)))

    def __len__(self) -> int:
        return len(self.milps)

    def __getitem__(self, instance: int) -> MILP:
        return self.milps[instance]

    def __iter__(self) -> Iterator[MILP]:
        return iter(self.milps)

    def variations(self) -> dict[str, Floats]:
        """What ``Family.vary`` needs to make the members again: per vector that differs, one row per member.

        Raises:
            InputError: members differ in more than sides, bounds and known costs.
        """
        base = self._base
        if any(milp.A is not base.A or milp.constant != self.milps[0].constant for milp in self.milps):
            raise InputError("only families made by Family.vary and add are variations of one model")
        arrays = {
            part: np.stack([milp.written(part) for milp in self.milps])
            for part in ("row_lower", "row_upper", "lower", "upper")
        }
        arrays["fixed_cost"] = np.stack(self._known)[:, self._space.place]
        return {part: values for part, values in arrays.items() if (values != base.written(part)).any()}

    @property
    def cost_names(self) -> tuple[str, ...] | None:
        """Names of the predicted costs, as in ``MILP.cost_names``."""
        return self._base.cost_names

    @property
    def known(self) -> Floats | None:
        """``(members, width)`` known costs, which are added to the predicted ones; ``None`` where there is no need."""
        if self._table is None and (self.width > self.dimension or self._any_known):
            self._table = np.stack(self._known)
        return self._table

    def decisions(self, solutions: ArrayLike) -> Floats:
        """The decisions ``(m, n)`` that solutions ``(m, width)`` show."""
        rows = decisions(solutions, self.width)
        return np.ascontiguousarray(rows[:, self._space.place])

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
        chosen = self.milps if members is None else [self.milps[i] for i in members]
        return feasible_members(chosen, decisions(x, self._base.n), tolerance)

    def relax(self) -> Family:
        """Return the family of the linear relaxations."""
        relaxed = copy.copy(self)
        relaxed._base = self._base.relax()
        relaxed.milps, relaxed._known = [milp.relax() for milp in self.milps], list(self._known)
        relaxed._prints = {}
        relaxed._find_ids()
        return relaxed

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_ids": {}}  # a copy has rows of its own

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._find_ids()

    def _find_ids(self) -> None:
        """Find the members by content again; of equal ones the first."""
        self._ids = {_key(self.milps[i], self._known[i]): i for i in reversed(range(len(self.milps)))}

    @property
    def fingerprint(self) -> str:
        """Hash of all members, in order."""
        return self.fingerprint_of(len(self.milps))

    def fingerprint_of(self, count: int) -> str:
        """Hash of the first ``count`` members: what the fingerprint was before later members were added."""
        return sha256("".join(map(self.member_fingerprint, range(count))).encode()).hexdigest()[:32]

    def member_fingerprint(self, index: int) -> str:
        """Hash of one member with its known costs."""
        if index not in self._prints:
            known = self._known[index]
            more = sha256(known.tobytes()).hexdigest()[:32] if known.any() else ""
            self._prints[index] = self.milps[index].fingerprint + more
        return self._prints[index]


class _CostSpace:
    """The cost space of a family: ``G x``, the variables that ``G`` does not show, and 1 where there is a constant.

    Args:
        first: the model whose variables and cost map all members must have.

    Attributes:
        width: number of coordinates.
        place: ``(n,)`` coordinate that shows each variable.
    """

    def __init__(self, first: MILP) -> None:
        self.first, n, d = first, first.n, first.dimension
        self.map, self.place = None, np.arange(n)
        if first.cost_map is not None:
            G = first.cost_map
            unit_rows = np.flatnonzero(np.diff(G.indptr) == 1)
            unit_rows = unit_rows[G.data[G.indptr[unit_rows]] == 1.0][::-1]  # of equal rows the first one counts
            shown = dict(zip(G.indices[G.indptr[unit_rows]].tolist(), unit_rows.tolist(), strict=True))
            rest = [j for j in range(n) if j not in shown]
            unit = sparse.csr_array((np.ones(len(rest)), (np.arange(len(rest)), rest)), shape=(len(rest), n))
            self.map = sparse.csr_array(sparse.vstack([G, unit]))
            shown |= {j: d + k for k, j in enumerate(rest)}
            self.place = np.array([shown[j] for j in range(n)], dtype=np.int64)
        self.variables = n if self.map is None else int(self.map.shape[0])
        self.width = self.variables + int(first.constant != 0.0)

    def refuse_another(self, milp: MILP, index: int) -> None:
        """Raise an ``InputError`` for a model with other variables, cost map or constant."""
        first = self.first
        here, there = ((m.n, m.dimension, m.constant != 0.0) for m in (first, milp))
        if here != there:
            raise InputError(
                "all MILPs of a family need the same variables and costs, and all or none a constant: "
                f"instance 0 has n={here[0]}, d={here[1]}, a constant: {here[2]}; "
                f"instance {index} has n={there[0]}, d={there[1]}, a constant: {there[2]}"
            )
        if milp.cost_map is not first.cost_map and (
            milp.cost_map is None or first.cost_map is None or (milp.cost_map != first.cost_map).nnz
        ):
            raise InputError(
                f"all MILPs of a family need the same cost map: instance {index} has another than instance 0"
            )

    def shown(self, milp: MILP) -> tuple[MILP, Floats]:
        """The model in this cost space, without known costs, and its known costs ``(width,)``."""
        known = np.zeros(self.width)
        known[self.place] = milp.fixed_cost
        if milp.constant != 0.0:
            known[-1] = milp.constant
        if self.map is None and not known.any():
            return milp, known
        constant = 1.0 if milp.constant != 0.0 else 0.0
        return milp.replaced(cost_map=self.map, fixed_cost=np.zeros(milp.n), constant=constant), known


def _key(milp: MILP, known: Floats) -> bytes:
    """Identify the variations of one model: the matrix of their rows is one object."""
    vectors = (milp.row_lower, milp.row_upper, milp.lower, milp.upper, milp.integer, known)
    return b"".join([id(milp.A).to_bytes(8, "little"), *(vector.tobytes() for vector in vectors)])


def member(model: MILP | Family, index: int = 0) -> MILP:
    """The model of one instance; a model that is not a family is that of every instance."""
    return model[index] if isinstance(model, Family) else model
