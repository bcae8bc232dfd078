"""Data: features, costs, and the true optima, solved once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from regretless.begun_solves import BegunSolves
from regretless.cost_columns import refuse_other_rows
from regretless.errors import InputError, RegretlessWarning
from regretless.feature_precision import warn_of_rounding
from regretless.instance_weights import checked_weights
from regretless.known_costs import warn_of_known_costs
from regretless.label_memory import LabelMemory
from regretless.labels import solve_labels
from regretless.listing import listed
from regretless.number_checks import LARGEST_SEED, check_integer
from regretless.problem import Problem
from regretless.tensors import features_tensor, ids, tensor
from regretless.type_checks import check_type
from regretless.types import Status


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Instances to learn from: features, true costs and true optima.

    Arrays, lists and data frames are converted to tensors. ``Dataset.solve`` finds the true optima. A ``DataLoader`` of
    torch takes the parts: ``TensorDataset(data.features, data.costs, data.solutions)``.

    Attributes:
        features: ``(n, ...)`` in the shape that the model takes.
        costs: ``(n, d)`` true costs in the user's sense, float64.
        solutions: ``(n, width)`` true optima in cost space, float64.
        instance: ``(n,)`` ids, for families.
        status: how each label's solve ended; anything but optimal makes a regret a bound, and is flagged as such.
        names: of the n instances, where the data has them.
        weight: ``(n,)`` weights above 0: an instance of weight 2 counts in training and evaluation as two of weight 1
            do. ``None`` where all count the same.

    Raises:
        InputError: parts that are not numbers, of the wrong shape, or with different numbers of rows.
    """

    features: Tensor
    costs: Tensor
    solutions: Tensor
    instance: Tensor | None = None
    status: tuple[Status, ...] | None = None
    names: tuple[str, ...] | None = None
    weight: Tensor | None = None

    if TYPE_CHECKING:  # the attributes are tensors, whatever is given

        def __init__(
            self,
            features: Any,
            costs: Any,
            solutions: Any,
            instance: Any = None,
            status: Sequence[Status | str] | None = None,
            names: Sequence[str] | None = None,
            weight: Any = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        given = {"features": features_tensor(self.features), "instance": ids(self.instance)}
        given |= {name: _matrix(name, getattr(self, name)) for name in ("costs", "solutions")}
        for name, value in given.items():
            object.__setattr__(self, name, value)
        if self.status is not None:
            object.__setattr__(self, "status", tuple(map(_status, self.status)))
        if self.names is not None:
            object.__setattr__(self, "names", tuple(self.names))
        if self.features.ndim == 0:
            raise InputError("features must have shape (n, ...), got one number")
        if self.instance is not None and self.instance.ndim != 1:
            raise InputError(f"instance must have shape (n,), got {tuple(self.instance.shape)}")
        parts = ("features", "costs", "solutions", "instance", "status", "names")
        counts = {name: len(getattr(self, name)) for name in parts if getattr(self, name) is not None}
        if len(set(counts.values())) > 1:
            got = ", ".join(f"{name} has {count}" for name, count in counts.items())
            raise InputError(f"all parts of the data must have the same number of rows: {got}")
        if self.weight is not None:
            object.__setattr__(self, "weight", checked_weights("weight", self.weight, len(self)))
        d, width = self.costs.shape[1], self.solutions.shape[1]
        if width < d:
            raise InputError(f"solutions must have a value for each of the {d} costs, got shape {(len(self), width)}")

    def __repr__(self) -> str:
        """Shapes, and not the numbers."""
        shapes = [f"{name} {tuple(getattr(self, name).shape)}" for name in ("features", "costs", "solutions")]
        if self.instance is not None:
            shapes.append("with ids of instances")
        if self.weight is not None:
            shapes.append("with weights")
        if self.not_optimal:
            shapes.append(f"{self.not_optimal} labels not optimal")
        return f"Dataset({', '.join(shapes)})"

    def __len__(self) -> int:
        return len(self.costs)

    def __getitem__(self, index: Any) -> Dataset:
        """Select instances by slice, mask or ids.

        Raises:
            InputError: anything else, such as a name or numbers that are not integers.
            IndexError: an id or a mask that does not belong to the data.
        """
        keep = _selected(len(self), index)
        return replace(
            self,
            features=self.features[keep],
            costs=self.costs[keep],
            solutions=self.solutions[keep],
            instance=None if self.instance is None else self.instance[keep],
            status=None if self.status is None else tuple(self.status[i] for i in keep.tolist()),
            names=None if self.names is None else tuple(self.names[i] for i in keep.tolist()),
            weight=None if self.weight is None else self.weight[keep],
        )

    @property
    def not_optimal(self) -> int:
        """Labels whose solve did not end optimal."""
        return 0 if self.status is None else sum(status is not Status.OPTIMAL for status in self.status)

    @classmethod
    def solve(
        cls,
        problem: Problem,
        features: Any,
        costs: Any,
        *,
        instance: Any = None,
        store: Path | str | None = None,
        memory: LabelMemory | None = None,
        begun: BegunSolves | None = None,
        names: Sequence[str] | None = None,
        weight: Any = None,
        progress: bool | None = None,
    ) -> Dataset:
        """Solve the true optima once and return the labeled data.

        Args:
            problem: what to solve, with its workers.
            features: ``(n, ...)`` array, tensor or data frame; all but tensors are converted to torch's default
                precision.
            costs: ``(n, d)`` array, tensor or data frame of true costs in the user's sense; columns of a data frame
                are matched to the names of the model's costs.
            instance: ``(n,)`` ids, for families.
            store: folder that keeps the optima by content, so that the next run does not solve them again.
            memory: optima by row that this process has solved before.
            begun: exact solves of a job that stores them itself while it runs, in place of ``store``.
            names: of the n instances.
            weight: ``(n,)`` weights above 0, for instances that count more or less than others.
            progress: show a bar; by default on a terminal.

        Raises:
            InputError: shapes that do not fit, or values that are not finite.
            SolveError: an instance has no solution and ``problem.on_failure`` is ``"raise"``; otherwise such instances
                are left out of the data, with a warning that names them. Also where a label is infeasible or
                beaten by another one, so that the oracle or the sense must be wrong.
            FileError: the stored optima are damaged; the message names the file.
        """
        check_type("problem", problem, Problem, hint="build it with Problem(model)")
        refuse_other_rows(features, costs)
        x, c = features_tensor(features), problem.costs(costs)
        if x.ndim == 0 or len(x) != len(c):
            raise InputError(f"features must have {len(c)} rows as costs have, got shape {tuple(x.shape)}")
        if not torch.isfinite(x).all():
            row = int((~torch.isfinite(x)).nonzero()[0][0])
            raise InputError(f"features must be finite, got NaN or infinity in row {row}")
        if not isinstance(features, Tensor):
            warn_of_rounding(tensor("features", features))
        members = ids(instance)
        problem.check_instance(members, len(c))
        counts = None if weight is None else checked_weights("weight", weight, len(c))
        solutions, status = solve_labels(
            problem, c, members, store=store, memory=memory, begun=begun, progress=progress
        )
        warn_of_known_costs(problem.to_minimization(c, members), solutions, problem.dimension)
        plain = all(s is Status.OPTIMAL for s in status)
        named = None if names is None else tuple(names)
        data = cls(x, c, solutions, members, None if plain else tuple(status), named, counts)
        found = ~torch.isnan(solutions).any(dim=1)
        if bool(found.all()):
            return data
        missing = (~found).nonzero().flatten().tolist()
        which = f"rows {missing[:10]}" if named is None else listed([named[i] for i in missing])
        message = f"{len(missing)} of {len(c)} instances have no solution and are left out: {which}"
        warnings.warn(message, RegretlessWarning, stacklevel=2)
        return data[found]

    def split(self, *shares: float, seed: int | None = None) -> tuple[Dataset, ...]:
        """Cut into consecutive parts, after a shuffle where a seed is given.

        Args:
            shares: share of each part; they sum to at most 1, and a last part takes what is left.
            seed: shuffle with this seed first; ``None`` keeps the order (time series).

        >>> data = Dataset(torch.zeros(10, 1), torch.zeros(10, 2), torch.zeros(10, 2))
        >>> [len(part) for part in data.split(0.7, 0.1)]
        [7, 1, 2]
        """
        given: tuple[Any, ...] = shares
        positive = all(isinstance(one, int | float | np.number) and one > 0 for one in given)
        if not given or not positive or sum(given) > 1 + 1e-9:
            raise InputError(f"shares must be positive numbers that sum to at most 1, got {shares}")
        total = sum(shares)
        order = torch.arange(len(self))
        if seed is not None:
            start = check_integer("seed", seed, least=0, most=LARGEST_SEED)
            order = torch.randperm(len(self), generator=torch.Generator().manual_seed(start))
        ends = [round(sum(shares[: i + 1]) * len(self)) for i in range(len(shares))]
        if total < 1 - 1e-9:
            ends.append(len(self))
        starts = [0, *ends[:-1]]
        if any(a == b for a, b in zip(starts, ends, strict=True)):
            said = ", ".join(f"{share:g}" for share in shares)
            raise InputError(f"the shares {said} leave a part of {len(self)} instances empty: give more rows")
        return tuple(self[order[a:b]] for a, b in zip(starts, ends, strict=True))


def _selected(count: int, index: Any) -> Tensor:
    """Positions ``(m,)`` that a slice, a mask, one id or several select."""
    if isinstance(index, list | tuple | range):
        index = list(index)
        index = torch.as_tensor(index) if index else torch.zeros(0, dtype=torch.int64)
    elif isinstance(index, np.ndarray):
        index = torch.as_tensor(index)
    float_ids = isinstance(index, Tensor) and index.is_floating_point()
    if isinstance(index, Tensor) and not float_ids and index.dtype != torch.bool:
        index = index.to(torch.int64)  # bytes would be a mask
    try:
        if float_ids or not isinstance(index, Tensor | slice | Integral):
            raise TypeError(f"got {index if float_ids else type(index).__name__}")
        return torch.arange(count)[index].reshape(-1)
    except (TypeError, ValueError) as error:
        raise InputError(f"instances are selected by a slice, a mask or ids, which are integers: {error}") from error


def _status(given: Any) -> Status:
    """A status, also by its name, which is no ``Status`` and would count as not optimal."""
    try:
        return given if isinstance(given, Status) else Status(given)
    except ValueError as error:
        known = ", ".join(repr(str(one)) for one in Status)
        raise InputError(f"status must have one of {known} per row, got {given!r}") from error


def _matrix(name: str, value: Any) -> Tensor:
    """Costs or solutions ``(n, width)``: float64, unless they are a tensor of floating-point numbers already."""
    given = tensor(name, value)
    if given.ndim != 2:
        raise InputError(f"{name} must have shape (n, d), got {tuple(given.shape)}")
    return given if isinstance(value, Tensor) and given.is_floating_point() else given.to(torch.float64)
