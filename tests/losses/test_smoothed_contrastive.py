from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses import QPTL, SmoothedContrastive
from regretless.problem import Problem

from .tiny import KINDS, batch, value_and_gradient


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_lead_over_the_relaxed_solution_at_the_error(kind):
    kind = KINDS[kind]
    b = batch(kind, seed=1)
    loss = SmoothedContrastive(kind.problem(), tau=0.5, reduction="none")
    values, _ = value_and_gradient(loss, b)
    p, c = kind.to_minimization(b.predicted), kind.to_minimization(b.true)
    relaxed = loss.relaxation(p, b.instance)
    torch.testing.assert_close(values, ((p - c) * (b.solution - relaxed)).sum(1))


def test_it_has_a_gradient_where_the_regret_has_none():
    # At a corner of the relaxation the solution does not move.
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    predicted = -50.0 * b.true
    _, of_regret = QPTL(kind.problem(), tau=0.01).loss_and_gradient(predicted, b.true, b.solution)
    _, gradient = SmoothedContrastive(kind.problem(), tau=0.01).loss_and_gradient(predicted, b.true, b.solution)
    still = of_regret.abs().amax(dim=1) < 1e-6
    assert still.any()
    assert (gradient[still].abs().amax(dim=1) > 0.01).any()


def test_it_needs_a_positive_tau_and_a_model():
    with pytest.raises(InputError, match="tau must be a finite number above 0, got 0"):
        SmoothedContrastive(KINDS["plain"].problem(), tau=0.0)
    with pytest.raises(InputError, match="needs the constraints"):
        SmoothedContrastive(Problem(oracle=lambda c: c, dimension=2))
