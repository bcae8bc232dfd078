"""Data: features, costs, and the true optima, solved once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import InputError
from regretless.problem import Problem, refuse_failures
from regretless.progress import track
from regretless.storage import load_state, save_state
from regretless.types import Status

LABEL_BATCH = 32


@dataclass(frozen=True)
class Dataset:
    """Instances to learn from: what is seen, what was to be predicted, and what would have been best.

    Attributes:
        features: ``(n, ...)`` whatever the model takes.
        costs: ``(n, d)`` true costs in the user's sense, float64.
        solutions: ``(n, width)`` true optima in cost space, float64.
        instance: ``(n,)`` ids, for families.
        status: how each label's solve ended; anything but optimal makes a regret a bound, and is flagged as such.
    """

    features: Tensor
    costs: Tensor
    solutions: Tensor
    instance: Tensor | None = None
    status: tuple[Status, ...] | None = None

    def __len__(self) -> int:
        return len(self.costs)

    def __getitem__(self, index: Any) -> Dataset:
        """Select instances by slice, mask or ids."""
        keep = torch.arange(len(self))[index]
        if keep.ndim == 0:
            keep = keep[None]
        return replace(
            self,
            features=self.features[keep],
            costs=self.costs[keep],
            solutions=self.solutions[keep],
            instance=None if self.instance is None else self.instance[keep],
            status=None if self.status is None else tuple(self.status[i] for i in keep.tolist()),
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
        progress: bool | None = None,
    ) -> Dataset:
        """Solve the true optima once and return the labelled data.

        Args:
            problem: what to solve, with its workers.
            features: ``(n, ...)`` array, tensor or data frame.
            costs: ``(n, d)`` array, tensor or data frame of true costs in the user's sense.
            instance: ``(n,)`` ids, for families.
            store: folder that keeps the optima by content, so that the next run need not solve them again.
            progress: show a bar; by default on a terminal.

        Raises:
            SolveError: an instance has no solution and ``problem.on_failure`` is ``"raise"``; otherwise such instances
                are left out of the data.
        """
        x, c = tensor("features", features), tensor("costs", costs).to(torch.float64)
        if c.ndim != 2 or c.shape[1] != problem.dimension:
            raise InputError(f"costs must have shape (n, {problem.dimension}), got {tuple(c.shape)}")
        if len(x) != len(c):
            raise InputError(f"features and costs must have as many rows, got {len(x)} and {len(c)}")
        if x.is_floating_point() and not torch.isfinite(x).all():
            row = int((~torch.isfinite(x)).nonzero()[0][0])
            raise InputError(f"features must be finite, got NaN or infinity in row {row}")
        ids = None if instance is None else tensor("instance", instance).to(torch.int64)
        problem.check_instance(ids, len(c))
        solutions, status = _stored_labels(problem, c, ids, store, progress)
        found = ~torch.isnan(solutions).any(dim=1)
        plain = all(s is Status.OPTIMAL for s in status)
        data = cls(x, c, solutions, ids, None if plain else tuple(status))
        return data if bool(found.all()) else data[found]

    def split(self, *shares: float, seed: int | None = None) -> tuple[Dataset, ...]:
        """Cut into consecutive parts, after a shuffle where a seed is given.

        Args:
            shares: share of each part; they sum to at most 1, and a last part takes what is left.
            seed: shuffle with this seed first; ``None`` keeps the order (time series).

        >>> data = Dataset(torch.zeros(10, 1), torch.zeros(10, 2), torch.zeros(10, 2))
        >>> [len(part) for part in data.split(0.7, 0.1)]
        [7, 1, 2]
        """
        if not shares or min(shares) <= 0 or sum(shares) > 1 + 1e-9:
            raise InputError(f"shares must be positive and sum to at most 1, got {shares}")
        order = torch.arange(len(self))
        if seed is not None:
            order = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))
        ends = [round(sum(shares[: i + 1]) * len(self)) for i in range(len(shares))]
        if ends[-1] < len(self):
            ends.append(len(self))
        starts = [0, *ends[:-1]]
        if any(a == b for a, b in zip(starts, ends, strict=True)):
            raise InputError(f"shares {shares} leave a part of {len(self)} instances empty")
        return tuple(self[order[a:b]] for a, b in zip(starts, ends, strict=True))


def tensor(name: str, value: Any) -> Tensor:
    """Array, nested list or data frame to a tensor; float64 features become torch's default dtype."""
    if isinstance(value, Tensor):
        return value
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    try:
        array = np.ascontiguousarray(value)
        if array.dtype == object:
            array = array.astype(np.float64)
        out = torch.as_tensor(array)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be numbers, got {type(value).__name__}: {error}") from error
    return out.to(torch.get_default_dtype()) if name == "features" and out.is_floating_point() else out


def _stored_labels(
    problem: Problem, costs: Tensor, ids: Tensor | None, store: Path | str | None, progress: bool | None
) -> tuple[Tensor, list[Status]]:
    if store is None:
        return _labels(problem, costs, ids, progress)
    digest = hashlib.sha256(f"{problem.fingerprint}:{problem.sense}".encode())
    digest.update(costs.contiguous().numpy().tobytes())
    digest.update(b"" if ids is None else ids.numpy().tobytes())
    path = Path(store) / f"labels-{digest.hexdigest()[:32]}.safetensors"
    if path.exists():
        state = load_state(path, kind="labels")
        return state["solutions"], [Status(s) for s in state["status"]]
    solutions, status = _labels(problem, costs, ids, progress)
    if all(s is Status.OPTIMAL for s in status):  # a label that a slow day spoiled is worth another try
        save_state(path, {"solutions": solutions, "status": [str(s) for s in status]}, kind="labels")
    return solutions, status


def _labels(problem: Problem, costs: Tensor, ids: Tensor | None, progress: bool | None) -> tuple[Tensor, list[Status]]:
    solutions, status = [], []
    inward = problem.inward(costs)
    for part in track(_batches(len(costs)), total=-(-len(costs) // LABEL_BATCH), label="true optima", show=progress):
        instance = None if ids is None else ids[part]
        solved = problem.attempt(inward[part], instance)
        if problem.on_failure == "raise":
            refuse_failures(solved, instance, range(part.start, part.stop))
        solutions.append(solved.solution.to(torch.float64).cpu())
        status += solved.statuses
    return torch.cat(solutions) if solutions else costs.new_zeros(0, problem.width), status


def _batches(n: int) -> Iterator[slice]:
    for start in range(0, n, LABEL_BATCH):
        yield slice(start, min(start + LABEL_BATCH, n))
