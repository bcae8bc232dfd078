"""From the end of an interior path to the vertex: variables at a bound are set to it, the rows give the others."""

from __future__ import annotations

import torch
from torch import Tensor

from regretless.linear_programs.interior_point import Iterate
from regretless.linear_programs.standard_form import StandardForm

REFINEMENTS = 3
# What the projection may violate, relative to 1 plus the size of the values.
EXACT = 1e-9
# Multiple to which values are rounded, so that equal vertices have equal bytes whatever the batch was.
GRAIN = 2.0**33


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
    width = len(form.lower)
    active = (end.multiplier > end.distance) & (torch.cat([form.has_lower, form.has_upper]) > 0)
    lower, upper = active[:, :width], active[:, width:]
    nearer = end.distance[:, :width] <= end.distance[:, width:]
    z = torch.where(upper & ~(lower & nearer), form.upper, end.z)
    z = torch.where(lower & (nearer | ~upper), form.lower, z)
    free = (~(lower | upper)).to(z.dtype)
    if len(form.A):
        matrix = form.normal_matrix(free)
        # Fewer free variables than rows make the matrix singular; refinement removes the error of the added diagonal.
        matrix.diagonal(dim1=1, dim2=2).add_(1e-10)
        factor = torch.linalg.cholesky_ex(matrix)[0]
        for _ in range(REFINEMENTS):
            left = form.b - form.apply(z)
            z = z + free * form.transposed(torch.cholesky_solve(left[:, :, None], factor)[:, :, 0])
    room = EXACT * (1.0 + z.abs())
    inside = ((form.has_lower == 0) | (z >= form.lower - room)) & ((form.has_upper == 0) | (z <= form.upper + room))
    exact = inside.all(dim=1)
    if len(form.A):
        exact &= (form.b - form.apply(z)).abs().amax(dim=1) <= EXACT * (1.0 + form.b.abs().max())
    z = torch.where(exact[:, None], z, end.z)[:, : form.n]
    rounded = torch.round(z * GRAIN) / GRAIN
    return torch.where(z.abs() < 2.0**15, rounded, z)
