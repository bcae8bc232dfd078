from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache.running_mean import RunningMean

ROWS = st.lists(st.tuples(*[st.integers(-3, 3).map(float)] * 2), min_size=1, max_size=5)


@given(kept=ROWS, removed=ROWS)
def test_the_mean_is_that_of_the_rows_that_stayed(kept, removed):
    mean = RunningMean(2, None)
    mean.add(torch.tensor(removed), None)
    mean.add(torch.tensor(kept), None)
    mean.add(torch.tensor(removed), None, -1.0)
    expected = torch.tensor(kept, dtype=torch.float64).mean(dim=0)
    torch.testing.assert_close(mean.mean(torch.float64)[0], expected)
    assert mean.count.tolist() == [len(kept)]


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
