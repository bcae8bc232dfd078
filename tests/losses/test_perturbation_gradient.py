from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses import PerturbationGradient

from .tiny import KINDS, batch, best, value_and_gradient


@pytest.mark.parametrize("central", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_with_a_narrow_width_the_loss_is_the_true_cost_of_the_decision(kind, central):
    kind = KINDS[kind]
    b = batch(kind, seed=3)
    loss = PerturbationGradient(kind.problem(), width=1e-7, central=central, reduction="none")
    values, gradient = value_and_gradient(loss, b)
    p, c = kind.to_minimization(b.predicted), kind.to_minimization(b.true)
    for i in range(len(values)):
        points = kind.points(0 if b.instance is None else int(b.instance[i]))
        assert torch.allclose(values[i], c[i] @ best(points, p[i]), atol=1e-6)
    assert gradient.abs().max() == 0.0  # the decision does not change within the width


def test_the_loss_bounds_the_true_cost_by_one_sided_differences():
    kind = KINDS["plain"]
    b = batch(kind, seed=4)
    values = PerturbationGradient(kind.problem(), width=0.5, reduction="none")(b.predicted, b.true, b.solution)
    cost = torch.stack([c @ best(kind.points(), p) for p, c in zip(b.predicted, b.true, strict=True)])
    assert (values <= cost + 1e-9).any()
    # V is concave: the slope to the left of a point is at least the slope there.
    assert (values >= cost - 1e-9).all()


def test_a_width_of_zero_is_refused():
    with pytest.raises(InputError, match="width must be a finite number above 0, got 0"):
        PerturbationGradient(KINDS["plain"].problem(), width=0.0)
