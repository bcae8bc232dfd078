"""One Newton system of an interior-point method, solved by Cholesky factors of the normal equations."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.linear_programs.standard_form import StandardForm

# Relative sizes of the term added to a normal matrix that is singular in float64, tried in this order.
JITTER = (1e-14, 1e-12, 1e-10, 1e-8, 1e-6)


class NormalEquations:
    """Solve ``H dz - E' dy = r``, ``E dz = s`` for a diagonal ``H``, batched.

    With ``D = 1 / H`` this is ``(E D E') dy = s - E D r`` and ``dz = D (r + E' dy)``. Variables with neither bounds nor
    a quadratic term have ``H = 0``: their equations ``-E_F' dy = r_F`` are added to the normal matrix with a weight,
    which does not change the solution and makes the matrix regular, and a second, small matrix gives ``dz_F``.

    Args:
        form: the constraints.
        H: ``(batch, n + slacks)`` diagonal, not negative.
        damping: added to the diagonal of the normal matrix, in the units of the rows before scaling.
        checked: whether a singular matrix is noticed and repaired, at the price of a synchronization on a GPU. Without
            it every matrix gets the smallest repair, and one that needs more gives NaN.
    """

    def __init__(self, form: StandardForm, H: Tensor, *, damping: float = 0.0, checked: bool = True) -> None:
        self.form, self.exact = form, damping == 0.0
        # A quadratic term makes H positive on the free variables, too: then they need no special treatment.
        self.free = form.free if len(form.free) and not bool((H[:, form.free] > 0).all()) else None
        if self.free is None:
            self.D = 1.0 / H
        else:
            bounded = torch.ones_like(H[0], dtype=torch.bool)
            bounded[self.free] = False
            D = torch.where(bounded, 1.0 / H, 0.0)
            self.D = torch.where(bounded, D, (D.sum(1) / bounded.sum().clamp(min=1)).clamp(min=1e-8)[:, None])
        M = form.normal_matrix(self.D)
        if damping:
            M.diagonal(dim1=1, dim2=2).add_(damping / form.length.square())
        self.checked = checked
        self.L = _cholesky(M) if checked else _inverse_factor(M)
        if self.free is not None:
            self.columns = form.A[:, self.free].expand(len(H), -1, -1)
            self.within = self._normal(self.columns)
            self.small = _cholesky(self.columns.mT @ self.within)

    def solve(self, r: Tensor, s: Tensor | None = None, *, refine: bool = True) -> tuple[Tensor, Tensor]:
        """Return ``(dz, dy)`` for right-hand sides ``(batch, n + slacks)`` and ``(batch, rows)`` (0 when ``None``)."""
        dz, dy = self._once(r, s)
        if not self.exact or not refine:
            return dz, dy
        # D spans many orders of magnitude near a solution: one refinement step keeps the equations of the rows exact.
        left = -self.form.apply(dz)
        more, more_y = self._once(None, left if s is None else left + s)
        return dz + more, dy + more_y

    def _once(self, r: Tensor | None, s: Tensor | None) -> tuple[Tensor, Tensor]:
        right = s
        if r is not None:
            right = -self.form.apply(self.D * r) if s is None else s - self.form.apply(self.D * r)
        assert right is not None
        dy = self._normal(right[:, :, None])[:, :, 0]
        if self.free is None:
            push = self.form.transposed(dy)
            return self.D * (push if r is None else push + r), dy
        gap = (dy[:, None] @ self.columns)[:, 0]
        part = torch.cholesky_solve((gap if r is None else gap + r[:, self.free])[:, :, None], self.small)
        dy = dy - (self.within @ part)[:, :, 0]
        push = self.form.transposed(dy)
        dz = self.D * (push if r is None else push + r)
        dz[:, self.free] = part[:, :, 0]
        return dz, dy

    def _normal(self, right: Tensor) -> Tensor:
        return torch.cholesky_solve(right, self.L) if self.checked else self.L.mT @ (self.L @ right)


def _cholesky(M: Tensor) -> Tensor:
    """Factors of ``(batch, m, m)``; a small multiple of the diagonal is added to a singular matrix."""
    if M.shape[1] == 0:
        return M
    L: Tensor
    L, info = torch.linalg.cholesky_ex(M)
    for size in JITTER:
        bad = info > 0
        if not bool(bad.any()):
            break
        again = M[bad]
        diagonal = again.diagonal(dim1=1, dim2=2)
        diagonal += size * diagonal.amax(dim=1, keepdim=True).clamp(min=1e-300)
        factor, state = torch.linalg.cholesky_ex(again)
        L, info = L.clone(), info.clone()
        L[bad], info[bad] = factor, state
    return L


def _inverse_factor(M: Tensor) -> Tensor:
    """Inverse ``W`` of the factors of ``(batch, m, m)``: a solve is ``W' W right``; NaN where there is no factor.

    The smallest repair is added to every matrix. On a GPU, products are faster than triangular solves, and a CUDA graph
    can hold them.
    """
    if M.shape[1] == 0:
        return M
    diagonal = M.diagonal(dim1=1, dim2=2)
    diagonal += JITTER[0] * diagonal.amax(dim=1, keepdim=True)
    L, info = torch.linalg.cholesky_ex(M)
    return torch.where((info > 0)[:, None, None], torch.nan, inverse_of_factor(L))


def inverse_of_factor(L: Tensor) -> Tensor:
    """Inverse ``W`` of lower factors ``(batch, m, m)``: a solve with ``L L'`` is ``W' W right``."""
    unit = torch.eye(L.shape[1], dtype=L.dtype, device=L.device)
    W: Tensor = torch.linalg.solve_triangular(L, unit.expand_as(L), upper=False)
    return W
