from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regretless import metrics
from regretless.losses import MAP, SPOPlus

from .tiny import KINDS, batch, cache, value_and_gradient

KIND = KINDS["mapped and known"]
PROBLEM = KIND.problem()


def test_spo_over_a_cache_is_map_at_twice_the_prediction_less_the_truth():
    for kind in KINDS.values():
        b = batch(kind, seed=8)
        spo = value_and_gradient(SPOPlus(cache(kind.problem(), b), reduction="none"), b)
        contrastive = value_and_gradient(MAP(cache(kind.problem(), b), cost="2c_hat-c", reduction="none"), b)
        assert torch.equal(spo[0], contrastive[0])
        assert torch.equal(spo[1], contrastive[1])


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_it_is_never_below_the_regret_and_never_negative(seed):
    b = batch(KIND, seed=seed)
    losses = SPOPlus(PROBLEM, reduction="none")(b.predicted, b.true, b.solution)
    regrets = metrics.regret(PROBLEM, b.predicted, b.true, b.solution)
    assert (losses >= regrets - 1e-9).all()
    assert (losses >= -1e-9).all()


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_it_is_convex_in_the_prediction(seed, share):
    loss = SPOPlus(PROBLEM, reduction="none")
    a, b = batch(KIND, seed=seed), batch(KIND, seed=seed + 1)

    def value(predicted):
        return loss(predicted, a.true, a.solution)

    between = value(share * a.predicted + (1 - share) * b.predicted)
    assert (between <= share * value(a.predicted) + (1 - share) * value(b.predicted) + 1e-9).all()


def test_a_perfect_prediction_has_no_loss():
    b = batch(KIND, seed=3)
    assert torch.allclose(SPOPlus(PROBLEM)(b.true, b.true, b.solution), torch.zeros((), dtype=torch.float64))
