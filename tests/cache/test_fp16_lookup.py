"""The coarse pass never loses objective; the certificate refuses what it cannot show. Runs on the CPU as on a GPU."""

from __future__ import annotations

import pytest
import torch

from regretless.cache import fp16_lookup as half
from regretless.cache.fp16_lookup import HalfMirror


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(half, "SMALLEST", 1)
    monkeypatch.setattr(half, "CHUNK", 256)


def mirror_of(rows: torch.Tensor) -> HalfMirror:
    mirror = HalfMirror(rows.shape[1], rows.device)
    for start in range(0, len(rows), 100):
        part = rows[start : start + 100]
        mirror.put(part, torch.arange(start, start + len(part)), start + len(part))
    return mirror


@pytest.mark.parametrize("size", [5, 64, 65, half.CANDIDATES * half.BLOCK, 1000])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_certified_answers_are_as_good_as_the_exact_ones(size, scale):
    generator = torch.Generator().manual_seed(size)
    rows = (torch.rand(size, 40, generator=generator) < 0.4).float()
    costs = scale * torch.randn(16, 40, generator=generator)
    found, certified = mirror_of(rows).look_up(costs, len(rows))
    assert bool(certified.any())
    found, costs = found[certified], costs[certified]
    best = (costs.double() @ rows.double().T).min(dim=1).values
    mine = (costs.double() * rows[found].double()).sum(dim=1)
    assert bool((mine <= best + 1e-6 * best.abs()).all())


def test_rows_that_half_precision_cannot_hold_are_not_mirrored():
    rows = torch.rand(100, 4) + 1e-4
    mirror = mirror_of(rows)
    assert not mirror.exact
    assert mirror.look_up(torch.randn(2, 4), len(rows)) is None


def test_near_ties_beyond_the_candidates_are_refused_and_not_guessed():
    # Every block holds an optimum: the first one left out cannot be ruled out.
    rows = torch.zeros(20 * half.BLOCK, 3)
    rows[:: half.BLOCK] = 1.0
    _, certified = mirror_of(rows).look_up(torch.tensor([[-1.0, -1.0, -1.0]]), len(rows))
    assert certified.tolist() == [False]


def test_overwritten_rows_are_seen():
    rows = torch.zeros(200, 3)
    rows[:, 0] = torch.arange(200) % 7
    mirror = mirror_of(rows)
    rows[150] = 9.0
    mirror.put(rows[150:151], torch.tensor([150]), 200)
    assert mirror.look_up(torch.tensor([[-1.0, -1.0, -1.0]]), len(rows))[0].tolist() == [150]


def test_global_switch_of_torch_is_left_as_it_was():
    before = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
    rows = torch.eye(100)
    mirror_of(rows).look_up(torch.randn(3, 100), len(rows))
    assert torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction == before
