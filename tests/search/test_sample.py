from __future__ import annotations

import warnings

import pytest
import torch

from regretless.data import Dataset
from regretless.errors import InputError, RegretlessWarning
from regretless.problem import Problem
from regretless.search.automatic import auto
from regretless.search.sample import sampled


def data(n: int) -> Dataset:
    problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
    x = torch.arange(n, dtype=torch.float32)[:, None]
    return Dataset.solve(problem, x, torch.cat([x, -x, x**2], dim=1))


def test_a_sample_keeps_the_order_and_follows_the_seed():
    whole = data(60)
    with pytest.warns(RegretlessWarning, match="a sample of 20 of the 60 training instances"):
        part = sampled(whole, 20, least=10, seed=1)
    rows = part.features[:, 0]
    assert len(rows) == 20
    assert (rows.diff() > 0).all()
    assert torch.equal(part.solutions, whole.solutions[rows.long()])
    with pytest.warns(RegretlessWarning):
        again, other = (sampled(whole, 20, least=10, seed=seed).features[:, 0] for seed in (1, 2))
    assert torch.equal(again, rows)
    assert not torch.equal(other, rows)


def test_data_that_are_small_or_asked_for_as_a_whole_stay_whole():
    whole = data(30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sampled(whole, 30, least=10, seed=0) is whole
        assert sampled(whole, None, least=10, seed=0) is whole


def test_a_search_uses_the_sample_only():
    problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
    with pytest.warns(RegretlessWarning, match="a sample of 30 of the 50"):
        found = auto(problem, data(50), sample=30, epochs=1, methods="map-dc", terms="none", progress=False)
    assert found.verdict.instances <= 30
    assert found.solves["growth"] <= 30


def test_a_sample_that_is_too_small_for_the_folds_is_refused():
    with pytest.raises(InputError, match="sample must be an integer, at least 10, got 5"):
        sampled(data(30), 5, least=10, seed=0)
