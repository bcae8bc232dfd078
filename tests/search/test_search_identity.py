from __future__ import annotations

from typing import Any

import torch
from torch import nn

from regretless import Dataset, Problem
from regretless.search.candidates import Candidate
from regretless.search.search_identity import search_identity
from regretless.training.models import make_model

PROBLEM = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
X = torch.linspace(-1, 1, 6)[:, None]
DATA = Dataset.solve(PROBLEM, X, torch.cat([X, -X, X**2], dim=1), progress=False)


def network(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(1, 4), nn.ReLU(), nn.Linear(4, 3))


def identity(model: nn.Module, **changed: Any) -> dict[str, Any]:
    given = {"data": DATA, "candidates": [Candidate("map-dc", 0.1)], "solutions": None, "start": "two-stage", "seed": 0}
    return search_identity(PROBLEM, model=model, **given | changed)


def differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in one if one[name] != other[name]]


def test_equal_searches_have_one_identity_and_each_change_is_named() -> None:
    base = identity(network(0))
    assert identity(network(0)) == base
    changes: dict[str, Any] = {
        "data": DATA[:5], "candidates": [Candidate("map-dc", 0.1000000001)], "start": "random", "seed": 1,
        "solutions": (torch.eye(3), None),
    }  # fmt: skip
    for name, value in changes.items():
        assert differing(base, identity(network(0), **{name: value})) == [name]
    assert set(differing(base, identity(network(0).double()))) == {"precision", "initial weights"}


def test_initial_weights_count_unless_the_closed_form_replaces_them() -> None:
    assert differing(identity(network(0)), identity(network(1))) == ["initial weights"]
    linear = [make_model(X, 3, costs=DATA.costs) for _ in range(2)]
    with torch.no_grad():
        next(linear[1].parameters()).add_(1.0)
    assert identity(linear[0]) == identity(linear[1])
    assert differing(*(identity(model, start="random") for model in linear)) == ["initial weights"]
