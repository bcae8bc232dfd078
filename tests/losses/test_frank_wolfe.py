from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.losses.frank_wolfe import regularized_minimum


def answer_of(points):
    return lambda costs: points[(costs @ points.T).argmin(dim=1)]


@given(seed=st.integers(0, 10_000), size=st.integers(1, 12), known=st.booleans())
def test_the_minimum_over_the_hull_is_proven_by_all_points(seed, size, known):
    generator = torch.Generator().manual_seed(seed)
    points = torch.randint(0, 3, (size, 4), generator=generator).double()
    costs = torch.randn(5, 4, generator=generator, dtype=torch.float64)
    curvature = torch.full((4,), 0.8, dtype=torch.float64)
    curvature[3] = 0.0 if known else 0.8
    found = regularized_minimum(answer_of(points), costs, curvature, tolerance=1e-9, max_iterations=2000)
    # A convex combination of points ...
    assert (found.weights >= 0).all()
    assert torch.allclose(found.weights.sum(1), torch.ones(5, dtype=torch.float64))
    assert torch.allclose((found.weights[:, :, None] * found.vertices).sum(1), found.point, atol=1e-9)
    assert all((vertex == points).all(1).any() for row in found.vertices for vertex in row)
    # ... from which no point lies downhill.
    slope = costs + curvature * found.point
    gap = (slope * found.point).sum(1) - (slope @ points.T).min(dim=1).values
    assert (gap <= 1e-8).all()


def test_the_iteration_ends_at_the_tolerance_or_at_the_limit():
    points, calls = torch.eye(4, dtype=torch.float64), []

    def answer(costs):
        calls.append(1)
        return answer_of(points)(costs)

    costs, curvature = torch.zeros(1, 4).double(), torch.ones(4).double()
    exact = regularized_minimum(answer, costs, curvature, tolerance=1e-12, max_iterations=1000)
    assert torch.allclose(exact.point, torch.full((1, 4), 0.25).double(), atol=1e-5)
    assert len(calls) < 1000
    calls.clear()
    regularized_minimum(answer, costs, curvature, tolerance=0.0, max_iterations=3)
    assert len(calls) == 4


def test_a_strong_linear_term_leaves_one_solution():
    points = torch.eye(3, dtype=torch.float64)
    found = regularized_minimum(
        answer_of(points), torch.tensor([[-9.0, 0.0, 0.0]]).double(), torch.ones(3).double(),
        tolerance=1e-12, max_iterations=50,
    )  # fmt: skip
    assert found.point.tolist() == [[1.0, 0.0, 0.0]]
    assert int((found.weights > 0).sum()) == 1
