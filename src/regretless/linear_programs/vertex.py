"""From the end of an interior path to the vertex: variables at a bound are set to it, the rows give the others."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from regretless.cuda_graphs import CapturedFunction
from regretless.linear_programs.interior_point import Iterate, launch_bound
from regretless.linear_programs.normal_equations import inverse_of_factor
from regretless.linear_programs.standard_form import StandardForm

REFINEMENTS = 3
# What the projection may violate, relative to 1 plus the size of the values.
EXACT = 1e-9
# Multiple to which values are rounded, so that equal vertices have equal bytes whatever the batch was.
GRAIN = 2.0**33
# Variables with larger coefficients are not rounded, since that would violate their rows.
STEEP = 2.0**10


def to_vertex(form: StandardForm, end: Iterate) -> Tensor:
    """Solutions ``(batch, n)`` of converged points.

    A bound whose distance is smaller than its multiplier is active. The other variables are projected onto the rows
    with the active ones fixed. Where the optimum is unique, they have one solution, and the result is that vertex up to
    rounding; otherwise it is a point of the optimal face. A point whose projection leaves the bounds is returned
    unchanged.

    Args:
        form: the constraints.
        end: points of ``solve_interior``, for costs whose largest entry is 1.
    """
    parts = end.z, end.distance, end.multiplier
    if launch_bound(form, len(end.z)):
        captured: CapturedFunction = form.remember("vertex", lambda: CapturedFunction(partial(_vertices, form)))
        return captured(*parts)
    return _vertices(form, *parts)


def _vertices(form: StandardForm, end: Tensor, distance: Tensor, multiplier: Tensor) -> Tensor:
    """The same, of the parts of an ``Iterate``, without a synchronization."""
    width = len(form.lower)
    active = (multiplier > distance) & (torch.cat([form.has_lower, form.has_upper]) > 0)
    lower, upper = active[:, :width], active[:, width:]
    nearer = distance[:, :width] <= distance[:, width:]
    z = torch.where(upper & ~(lower & nearer), form.upper, end)
    z = torch.where(lower & (nearer | ~upper), form.lower, z)
    free = (~(lower | upper)).to(z.dtype)
    if len(form.A):
        matrix = form.normal_matrix(free)
        # Fewer free variables than rows make the matrix singular; refinement removes the error of the added diagonal.
        matrix.diagonal(dim1=1, dim2=2).add_(1e-10)
        factor = torch.linalg.cholesky_ex(matrix)[0]
        inverse = inverse_of_factor(factor) if factor.is_cuda else None  # a CUDA graph cannot hold cholesky_solve
        for _ in range(REFINEMENTS):
            left = (form.b - form.apply(z))[:, :, None]
            y = torch.cholesky_solve(left, factor) if inverse is None else inverse.mT @ (inverse @ left)
            z = z + free * form.transposed(y[:, :, 0])
    room = EXACT * (1.0 + z.abs())
    room[:, form.n :] /= form.weights[form.equalities :].clamp(min=1.0)
    inside = ((form.has_lower == 0) | (z >= form.lower - room)) & ((form.has_upper == 0) | (z <= form.upper + room))
    exact = inside.all(dim=1)
    if len(form.A):
        exact &= ((form.b - form.apply(z)) * form.weights).abs().amax(dim=1) <= EXACT
    z = torch.where(exact[:, None], z, end)[:, : form.n]
    rounded = torch.round(z * GRAIN) / GRAIN
    return torch.where((z.abs() < 2.0**15) & (form.steepest < STEEP), rounded, z)
