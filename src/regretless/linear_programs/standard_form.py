"""The relaxation as ``E z = b`` with bounds on ``z``, in tensors, and the matrix of its normal equations."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.linear_programs.constraint_system import ConstraintSystem
from regretless.milp import Floats

# Largest block of numbers of the dense product A D A'.
BLOCK = 16_000_000
# The sparse product is used if it has at most this share of the terms of the dense product.
SPARSE = 0.05
# Largest table of products of rows that is kept on a GPU, in numbers.
TABLE = 1 << 26


@dataclass(frozen=True)
class StandardForm:
    """``E z = b``, ``lower <= z <= upper`` with ``z = (x, s)`` and ``E z = A x - (0, s)``.

    Equality rows come first and have no slack; every other row ``low <= a . x <= high`` is ``a . x - s = 0`` with the
    slack between its bounds. All rows have length 1, all numbers are float64.

    Attributes:
        A: ``(rows, n)``.
        b: ``(rows,)``.
        lower, upper: ``(n + slacks,)``, 0 if infinite.
        has_lower, has_upper: ``(n + slacks,)``, 1 if the bound is finite, else 0.
        start: ``(n + slacks,)`` a point strictly between the bounds, with ``E z = b`` if such a point is known.
        origin: ``(n,)`` the decision at ``x = 0``: presolve shifts variables, which changes a quadratic term.
        length: ``(rows,)`` lengths of the rows before scaling.
        free: columns without any bound.
        pairs: sparse map from a diagonal D to ``A D A'``, or ``None`` if the dense product is faster.
    """

    A: Tensor
    b: Tensor
    lower: Tensor
    upper: Tensor
    has_lower: Tensor
    has_upper: Tensor
    start: Tensor
    origin: Tensor
    length: Tensor
    free: Tensor
    pairs: Tensor | None

    @classmethod
    def of(cls, system: ConstraintSystem, start: Floats | None = None) -> StandardForm:
        """Order the rows, scale them and add the slacks.

        Args:
            system: the constraints after presolve.
            start: ``(n,)`` a strictly feasible point, or ``None`` for the middle of the bounds.
        """
        equal = system.row_lower == system.row_upper
        order = np.argsort(~equal, kind="stable")
        length = np.linalg.norm(system.A[order], axis=1)
        A = system.A[order] / length[:, None]
        row_lower, row_upper = system.row_lower[order] / length, system.row_upper[order] / length
        equalities = int(equal.sum())
        lower = np.concatenate([system.lower, row_lower[equalities:]])
        upper = np.concatenate([system.upper, row_upper[equalities:]])
        z = _middle(lower, upper)
        if start is not None:
            z = np.concatenate([start, (A @ start)[equalities:]])
        b = np.where(np.arange(len(A)) < equalities, row_lower, 0.0)

        def tensor(values: Floats) -> Tensor:
            return torch.as_tensor(np.asarray(values), dtype=torch.float64)

        return cls(
            A=tensor(A),
            b=tensor(b),
            lower=tensor(np.where(np.isfinite(lower), lower, 0.0)),
            upper=tensor(np.where(np.isfinite(upper), upper, 0.0)),
            has_lower=tensor(np.isfinite(lower)),
            has_upper=tensor(np.isfinite(upper)),
            start=tensor(z),
            origin=tensor(system.offset[system.keep]),
            length=tensor(length),
            free=torch.as_tensor(np.flatnonzero(np.isinf(lower) & np.isinf(upper))),
            pairs=_pairs(A),
        )

    @property
    def n(self) -> int:
        """Number of variables, without slacks."""
        return int(self.A.shape[1])

    @property
    def equalities(self) -> int:
        """Number of equality rows."""
        return int(len(self.A) - (len(self.lower) - self.n))

    @cached_property
    def weights(self) -> Tensor:
        """``(rows,)`` by which residuals are multiplied before they are compared with a tolerance.

        A residual must be small relative to 1 plus the largest right-hand side and, in the units of the model, to 1
        plus the bounds of its row: with coefficients of 1e6, a small residual at length 1 is a large violation.
        """
        rows = self.b.abs()
        rows[self.equalities :] = torch.maximum(self.lower.abs(), self.upper.abs())[self.n :]
        whole = 1.0 + (self.b.abs().amax() if len(rows) else 0.0)
        return (self.length / (1.0 + rows * self.length)).clamp(min=float(1.0 / whole))

    @cached_property
    def steepest(self) -> Tensor:
        """``(n,)`` largest weighted coefficients of the columns: the most that a change of a variable does to a row."""
        return (self.A.abs() * self.weights[:, None]).amax(dim=0) if len(self.A) else torch.zeros_like(self.origin)

    def to(self, device: torch.device) -> StandardForm:
        """The same form on another device."""
        if self.A.device == device:
            return self
        parts: dict[str, Tensor | None] = {f.name: getattr(self, f.name) for f in fields(self)}
        moved: dict[str, Any] = {name: None if part is None else part.to(device) for name, part in parts.items()}
        return replace(self, **moved)

    def remember(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What ``make`` returns, made once per key for this form on this device."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def _made(self) -> dict[Hashable, Any]:
        return {}

    def apply(self, z: Tensor) -> Tensor:
        """``E z``: ``(batch, n + slacks) -> (batch, rows)``."""
        if self._full is not None:
            return z @ self._full.T
        y = z[:, : self.n] @ self.A.T
        y[:, self.equalities :] -= z[:, self.n :]
        return y

    def transposed(self, y: Tensor) -> Tensor:
        """``E' y``: ``(batch, rows) -> (batch, n + slacks)``."""
        if self._full is not None:
            return y @ self._full
        return torch.cat([y @ self.A, -y[:, self.equalities :]], dim=1)

    def normal_matrix(self, diagonal: Tensor) -> Tensor:
        """``E D E'``: ``(batch, n + slacks) -> (batch, rows, rows)``."""
        d, rows = diagonal[:, : self.n], len(self.A)
        if self._table is not None:
            products, places = self._table
            return (diagonal @ products).index_select(1, places).view(len(d), rows, rows)
        if self.pairs is not None:
            matrix = (self.pairs @ d.T).T.reshape(len(d), rows, rows).contiguous()
        else:
            step = max(1, BLOCK // max(1, self.A.numel()))
            blocks = [torch.matmul(self.A * part[:, None], self.A.T) for part in torch.split(d, step)]
            matrix = blocks[0] if len(blocks) == 1 else torch.cat(blocks)
        matrix.diagonal(dim1=1, dim2=2)[:, self.equalities :] += diagonal[:, self.n :]
        return matrix

    @cached_property
    def _full(self) -> Tensor | None:
        """``E`` itself, on a GPU and where it is small: one product is faster there than a product and a sum."""
        rows, slacks = len(self.A), len(self.lower) - self.n
        if not self.A.is_cuda or rows == 0 or rows * len(self.lower) > TABLE // 4:
            return None
        full = torch.cat([self.A, self.A.new_zeros(rows, slacks)], dim=1)
        full[self.equalities :, self.n :] = -torch.eye(slacks, dtype=full.dtype, device=full.device)
        return full

    @cached_property
    def _table(self) -> tuple[Tensor, Tensor] | None:
        """Products ``(n + slacks, pairs)`` of the rows of ``E``, and the place of each entry of a normal matrix there.

        With it the normal matrices of a batch are one matrix product, which a GPU computes at its full speed.
        """
        rows, E = len(self.A), self._full
        if E is None or E.shape[1] * rows * (rows + 1) // 2 > TABLE:
            return None
        first, second = torch.tril_indices(rows, rows, device=E.device)
        places = torch.empty(rows, rows, dtype=torch.int64, device=E.device)
        places[first, second] = places[second, first] = torch.arange(len(first), device=E.device)
        return (E[first] * E[second]).T.contiguous(), places.flatten()


def _middle(lower: Floats, upper: Floats) -> Floats:
    """A point strictly between the bounds."""
    low, high = np.isfinite(lower), np.isfinite(upper)
    with np.errstate(invalid="ignore"):
        middle = np.where(low & high, (lower + upper) / 2, np.where(low, lower + 1.0, np.where(high, upper - 1.0, 0.0)))
    return np.asarray(middle)


def _pairs(A: Floats) -> Tensor | None:
    """Matrix ``P`` with ``vec(A D A') = P d``, as ``(rows * rows, n)`` in compressed rows."""
    rows, n = A.shape
    terms = float((np.count_nonzero(A, axis=0) ** 2).sum())
    if rows < 8 or terms > SPARSE * rows * rows * n:
        return None
    inside = [np.flatnonzero(column) for column in A.T]
    places = np.concatenate([np.add.outer(rows * at, at).ravel() for at in inside])
    values = np.concatenate([np.outer(A[at, j], A[at, j]).ravel() for j, at in enumerate(inside)])
    columns = np.repeat(np.arange(n), [len(at) ** 2 for at in inside])
    index = torch.as_tensor(np.stack([places, columns]))
    size = (rows * rows, n)
    return torch.sparse_coo_tensor(index, torch.as_tensor(values), size, check_invariants=False).coalesce()
