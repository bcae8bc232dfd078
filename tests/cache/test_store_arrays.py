from __future__ import annotations

import copy
import pickle

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache.row_index import row_bytes
from regretless.cache.store_arrays import FEW, FEW_BYTES, Columns, LastUse, RunningMean, widened


def filled(count: int, size: int) -> Columns:
    columns = Columns(3, torch.float64)
    columns.reserve(size)
    columns.reserved[:, :count] = torch.arange(3.0 * count, dtype=torch.float64).view(count, 3).T
    return columns


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("given", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool])
def test_solutions_of_any_precision_are_written(dtype, given):
    columns = Columns(3, dtype)
    columns.reserve(5)
    rows = torch.tensor([[1.0, -0.0, 0.0], [0.0, 1.0, -1e-50 if given == torch.float64 else 1.0]], dtype=given)
    columns.put(rows.requires_grad_(rows.is_floating_point()), slice(1, 3))
    assert torch.equal(columns.reserved[:, 1:3].T, rows.detach().to(dtype))
    assert not columns.reserved[:, [0, 3, 4]].any()
    assert not columns.reserved.requires_grad


def test_solutions_are_read_by_their_places():
    columns = filled(4, 8)
    assert columns.first(2).T.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert columns.take(torch.tensor([3, 0])).tolist() == [[9, 10, 11], [0, 1, 2]]
    assert columns.arrays([3, 0]).tolist() == [[9, 10, 11], [0, 1, 2]]
    for places in ([3, 0], [3, 0] * FEW_BYTES):
        assert columns.bytes_at(places) == row_bytes(columns.take(torch.tensor(places)).numpy())
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


def test_solutions_are_written_by_their_places():
    columns = filled(4, 8)
    columns.put(torch.ones(2, 3, dtype=torch.float64), slice(4, 6))
    columns.put(torch.zeros(2, 3, dtype=torch.float64), torch.tensor([0, 2]))
    assert columns.first(6).T.tolist() == [[0, 0, 0], [3, 4, 5], [0, 0, 0], [9, 10, 11], [1, 1, 1], [1, 1, 1]]


def test_a_rounded_view_has_16_more_columns_at_a_time_and_the_first_behind_the_last():
    columns = filled(20, 40)
    assert columns.rounded(20).shape == (3, 32)
    assert columns.rounded(20)[:, 20:].T.tolist() == [[0, 1, 2]] * 12
    view = columns.rounded(20)
    columns.put(torch.full((1, 3), 7.0, dtype=torch.float64), slice(20, 21))
    assert columns.rounded(21) is view
    assert columns.rounded(21)[:, 19:22].T.tolist() == [[57, 58, 59], [7, 7, 7], [0, 1, 2]]
    assert columns.rounded(33).shape == (3, 40)
    columns.reserve(64)
    assert columns.rounded(33).shape == (3, 48)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda columns: pickle.loads(pickle.dumps(columns))])
def test_a_copy_is_searched_in_its_own_memory(copied):
    columns = filled(2, 16)
    columns.rounded(2)
    columns.first(2)
    other = copied(columns)
    other.put(torch.full((1, 3), 7.0, dtype=torch.float64), slice(2, 3))
    assert other.rounded(3)[:, 2].tolist() == [7, 7, 7]
    assert columns.rounded(2)[:, 2].tolist() == [0, 1, 2]


def test_free_columns_repeat_the_first_until_they_are_used():
    columns = filled(2, 5)
    assert columns.padded(2).T.tolist() == [[0, 1, 2], [3, 4, 5]] + [[0, 1, 2]] * 3
    columns.reserved[:, 2] = 7.0
    assert columns.padded(3).T.tolist() == [[0, 1, 2], [3, 4, 5], [7, 7, 7]] + [[0, 1, 2]] * 2
    columns.reserve(6)
    assert columns.padded(3).T.tolist()[5] == [0, 1, 2]


def filled_of_last_use(places: int) -> LastUse:
    use = LastUse()
    use.stamps = torch.zeros(places, dtype=torch.int64)
    use.insert(slice(0, places), places)
    return use


def test_the_first_of_a_batch_leaves_first():
    assert filled_of_last_use(4).oldest(4, 3).tolist() == [0, 1, 2]


def test_what_was_used_leaves_later_and_what_was_used_together_in_the_order_of_places():
    use = filled_of_last_use(4)
    use.use([2, 0])
    assert use.oldest(4, 4).tolist() == [1, 3, 0, 2]
    use.use(torch.tensor([1]))
    assert use.oldest(4, 4).tolist() == [3, 0, 2, 1]


def test_a_solution_in_the_place_of_an_old_one_is_new():
    use = filled_of_last_use(3)
    use.insert(torch.tensor([0]), 1)
    assert use.oldest(3, 2).tolist() == [1, 2]
    assert use.clock == 4


def test_what_was_appended_is_stamped_as_what_was_inserted():
    later, at_once = LastUse(), LastUse()
    for use in (later, at_once):
        use.stamps = torch.zeros(9, dtype=torch.int64)
    for start, stop in [(0, 2), (2, 3), (3, 6), (6, 7), (7, 9)]:
        for use in (later, at_once):
            use.insert(slice(start, stop), stop - start)
            if stop == 6:
                use.use([1])
        assert len(at_once.stamps) == 9  # what is read is written
    assert later.clock == at_once.clock
    assert later.stamps.tolist() == at_once.stamps.tolist() == [1, 7, 3, 4, 5, 6, 8, 9, 10]


def test_only_the_places_in_use_are_candidates():
    use = filled_of_last_use(4)
    use.use([0, 1])
    assert use.oldest(2, 1).tolist() == [0]


ROWS = st.lists(st.tuples(*[st.integers(-3, 3).map(float)] * 2), min_size=1, max_size=5)


@given(kept=ROWS, removed=ROWS)
def test_the_mean_is_that_of_the_rows_that_stayed(kept, removed):
    mean = RunningMean(2, None)
    mean.add(torch.tensor(removed), None)
    mean.add(torch.tensor(kept), None)
    before = torch.tensor(removed + kept, dtype=torch.float64).mean(dim=0)
    torch.testing.assert_close(mean.of_all(torch.float64), before)  # is kept until the solutions change
    mean.add(torch.tensor(removed), None, -1.0)
    expected = torch.tensor(kept, dtype=torch.float64).mean(dim=0)
    torch.testing.assert_close(mean.mean(torch.float64)[0], expected)
    torch.testing.assert_close(mean.of_all(torch.float64), expected)
    assert mean.count.tolist() == [len(kept)]


def test_what_was_appended_is_added_up_by_insertion():
    columns, generator = Columns(2, torch.float32), torch.Generator().manual_seed(0)
    columns.reserve(9)
    columns.reserved.copy_(torch.rand(2, 9, generator=generator))
    later, at_once = RunningMean(2, None), RunningMean(2, None)
    for places in (slice(0, 4), slice(4, 5), slice(5, 9)):
        later.append(places)
        at_once.add(columns.reserved[:, places].T.contiguous(), None)
    assert torch.equal(later.of(columns).sum, at_once.sum)
    assert later.of(columns).count.tolist() == [9]


def test_an_instance_has_the_mean_of_the_rows_that_serve_it():
    mean, rows = RunningMean(2, 2), torch.tensor([[1.0, 0.0], [3.0, 4.0]])
    mean.add(rows, torch.tensor([[True, True], [False, True]]))
    assert mean.mean(torch.float32).tolist() == [[2.0, 2.0], [3.0, 4.0]]
    mean.add_instances(rows, torch.tensor([[True, False]]))
    assert mean.mean(torch.float32)[2].tolist() == [1.0, 0.0]


def test_the_first_instance_without_a_solution_is_named():
    mean = RunningMean(1, 3)
    mean.add(torch.ones(1, 1), torch.tensor([[True], [False], [False]]))
    assert mean.mean(torch.float32).tolist() == [[1.0], [0.0], [0.0]]
    assert mean.unserved(torch.tensor([0, 2, 1])) == 2
    assert mean.unserved(torch.tensor([0, 0])) is None
    mean.add(torch.ones(1, 1), torch.tensor([[False], [True], [True]]))
    mean.mean(torch.float32)
    assert mean.unserved(torch.tensor([0, 2, 1])) is None
