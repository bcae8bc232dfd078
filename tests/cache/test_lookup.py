"""The look-up in blocks finds what one pass over everything finds."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from regretless.cache.scan import best_rows

from regretless.cache import scan


@given(
    size=st.integers(1, 40),
    batch=st.integers(1, 5),
    budget=st.integers(1, 60),
    whole=st.booleans(),
    seed=st.integers(0),
)
def test_blocks_find_what_one_pass_finds(size, batch, budget, whole, seed):
    generator = torch.Generator().manual_seed(seed % 2**63)
    rows, costs = torch.randn(size, 3, generator=generator), torch.randn(batch, 3, generator=generator)
    serves = torch.rand(2, size, generator=generator) < 0.6
    instance = torch.randint(0, 2, (batch,), generator=generator)
    mask = torch.ones(batch, size, dtype=torch.bool) if whole else serves[instance]
    expected = (costs.double() @ rows.double().T).masked_fill(~mask, torch.inf).min(dim=1).values
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "BLOCK_SCORES", budget)
        family = {} if whole else {"serves": serves, "instance": instance}
        value, position = best_rows(rows, costs, **family)
    torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-6)
    found = torch.isfinite(expected)
    mine = (costs.double() * rows.double()[position]).sum(dim=1)
    torch.testing.assert_close(mine[found], expected[found], rtol=1e-5, atol=1e-6)
    assert bool(mask[torch.arange(batch), position][found].all())


def test_non_linear_objective_is_scored_in_blocks_too(monkeypatch):
    rows, costs = torch.randn(30, 2), torch.randn(4, 2)

    def distance(solutions, at):
        return (solutions - at).square().sum(dim=-1)

    expected = distance(rows[None], costs[:, None]).argmin(dim=1)
    monkeypatch.setattr(scan, "BLOCK_SCORES", 20)
    assert torch.equal(best_rows(rows, costs, objective=distance)[1], expected)
