from __future__ import annotations

import torch

from regretless.cache.columns import FEW, Columns, widened


def filled(count: int, size: int) -> Columns:
    columns = Columns(3, torch.float64)
    columns.reserve(size)
    columns.reserved[:, :count] = torch.arange(3.0 * count, dtype=torch.float64).view(count, 3).T
    return columns


def test_solutions_are_read_by_their_places():
    columns = filled(4, 8)
    assert columns.first(2).T.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert columns.take(torch.tensor([3, 0])).tolist() == [[9, 10, 11], [0, 1, 2]]
    assert columns.arrays([3, 0]).tolist() == [[9, 10, 11], [0, 1, 2]]
    many = columns.take(torch.tensor([3, 0]).repeat(FEW))
    assert torch.equal(many, columns.take(torch.tensor([3, 0])).repeat(FEW, 1))
    assert many.is_contiguous()
    assert columns.take(torch.tensor([1])).is_contiguous()


def test_growth_keeps_what_is_there():
    columns = filled(4, 4)
    before = columns.first(4).clone()
    columns.reserve(10)
    assert columns.reserved.shape == (3, 10)
    assert torch.equal(columns.first(4), before)
    assert torch.equal(widened(torch.ones(2), 4), torch.tensor([1.0, 1.0, 0.0, 0.0]))


def test_a_view_follows_the_size():
    columns = filled(4, 8)
    assert columns.first(2) is columns.first(2)
    assert columns.first(3).shape == (3, 3)


def test_free_columns_repeat_the_first_until_they_are_used():
    columns = filled(2, 5)
    assert columns.padded(2).T.tolist() == [[0, 1, 2], [3, 4, 5]] + [[0, 1, 2]] * 3
    columns.reserved[:, 2] = 7.0
    assert columns.padded(3).T.tolist() == [[0, 1, 2], [3, 4, 5], [7, 7, 7]] + [[0, 1, 2]] * 2
    columns.reserve(6)
    assert columns.padded(3).T.tolist()[5] == [0, 1, 2]
