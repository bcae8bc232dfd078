"""Rows and bounds of a linear program as sparse tensors, scaled so that a first-order method converges fast."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from regretless.linear_programs.constraint_system import without_huge
from regretless.milp import MILP, Floats

RUIZ = 10


@dataclass(frozen=True)
class ScaledRows:
    """``row_low <= A x' <= row_high``, ``low <= x' <= high`` with ``x = column * x'``, in float64.

    Ten rounds of Ruiz's scaling make the largest entries of rows and columns nearly equal; a last one by sums (Pock and
    Chambolle 2011) bounds the norm of the matrix.

    Attributes:
        A: ``(rows, n)`` scaled, compressed rows.
        transposed: its transpose, compressed rows as well.
        row_low, row_high: ``(rows, 1)`` scaled.
        low, high: ``(n, 1)`` scaled.
        row: ``(rows, 1)`` factors of the rows.
        column: ``(n, 1)`` factors of the columns.
        lower, upper: ``(n,)`` bounds in the units of the model.
        norm: the spectral norm of ``A``, from above.
        size: 1 plus the largest finite bound of a row, in the units of the model.
    """

    A: Tensor
    transposed: Tensor
    row_low: Tensor
    row_high: Tensor
    low: Tensor
    high: Tensor
    row: Tensor
    column: Tensor
    lower: Tensor
    upper: Tensor
    norm: float
    size: float

    @classmethod
    def of(cls, milp: MILP) -> ScaledRows:
        """Scale the constraints of a model, without its integrality."""
        A = sparse.csr_array(milp.A, dtype=np.float64)
        row, column = np.ones(A.shape[0]), np.ones(A.shape[1])
        for last in [False] * RUIZ + [True] if A.nnz else []:
            part = abs(sparse.diags_array(row) @ A @ sparse.diags_array(column)).tocsr()
            tall = part.sum(axis=1) if last else part.max(axis=1).toarray().ravel()
            wide = part.sum(axis=0) if last else part.max(axis=0).toarray().ravel()
            row, column = row / _root(np.asarray(tall)), column / _root(np.asarray(wide))
        scaled = (sparse.diags_array(row) @ A @ sparse.diags_array(column)).tocsr() if A.nnz else A
        row_lower, row_upper = without_huge(milp.row_lower, milp.row_upper)
        lower, upper = without_huge(milp.lower, milp.upper)
        bounds = np.concatenate([row_lower, row_upper])
        return cls(
            A=_compressed(scaled),
            transposed=_compressed(scaled.T.tocsr()),
            row_low=_tensor(row_lower * row)[:, None],
            row_high=_tensor(row_upper * row)[:, None],
            low=_tensor(lower / column)[:, None],
            high=_tensor(upper / column)[:, None],
            row=_tensor(row)[:, None],
            column=_tensor(column)[:, None],
            lower=_tensor(lower),
            upper=_tensor(upper),
            norm=_norm(scaled),
            size=1.0 + float(np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0)),
        )

    def to(self, device: torch.device) -> ScaledRows:
        """The same rows on another device."""
        if self.lower.device == device:
            return self
        parts: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        moved: dict[str, Any] = {k: v.to(device) if isinstance(v, Tensor) else v for k, v in parts.items()}
        return replace(self, **moved)

    @property
    def bound_norm(self) -> float:
        """Length of the vector of the rows' finite bounds, the larger of two per row."""
        return float(torch.maximum(finite(self.row_low).abs(), finite(self.row_high).abs()).norm())


def finite(bounds: Tensor) -> Tensor:
    """Bounds, 0 where there is none."""
    return torch.where(torch.isfinite(bounds), bounds, 0.0)


def _root(sizes: Floats) -> Floats:
    return np.sqrt(np.where(sizes > 0, sizes, 1.0))


def _norm(A: sparse.csr_array) -> float:
    """The root of the largest row sum times the largest column sum of absolute values: never below the norm."""
    if A.nnz == 0:
        return 1.0
    return float(np.sqrt(abs(A).sum(axis=1).max() * abs(A).sum(axis=0).max()))


def _tensor(values: Floats) -> Tensor:
    return torch.as_tensor(np.asarray(values, dtype=np.float64))


def _compressed(A: sparse.csr_array) -> Tensor:
    pointers, columns = torch.as_tensor(A.indptr.astype(np.int64)), torch.as_tensor(A.indices.astype(np.int64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch calls compressed rows a beta feature
        return torch.sparse_csr_tensor(pointers, columns, _tensor(A.data), size=A.shape, check_invariants=False)
