from __future__ import annotations

import numpy as np
import pytest
import torch
from regretless.cache.mixing import mixed, picked_rows

from regretless.cache import SolutionCache
from regretless.errors import SolveError
from regretless.problem import Problem

ROWS = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
COSTS = torch.tensor([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
LOOKED_UP = ROWS[[0, 1, 0]]
SOLVED = torch.tensor([[0.5, 0.5]], dtype=torch.float64)


def cache(rows=ROWS, **settings) -> SolutionCache:
    problem = Problem(oracle=lambda c: c, dimension=2, **settings)
    return SolutionCache(problem, rows, p_solve=0.0)


def test_without_heads_everything_is_looked_up():
    (answer,) = mixed(cache(), [COSTS], None, [], None, None, whole=True)
    assert torch.equal(answer, LOOKED_UP)


def test_a_head_keeps_what_was_solved_and_is_not_counted_as_looked_up():
    mine = cache()
    (answer,) = mixed(mine, [COSTS], torch.tensor([1]), [SOLVED], None, None, whole=True)
    assert answer.tolist() == [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]]
    assert answer.dtype == torch.float32
    assert mine.statistics.lookups == 2


def test_where_all_are_heads_nothing_is_looked_up():
    mine = cache()
    (answer,) = mixed(mine, [COSTS], torch.arange(3), [SOLVED.repeat(3, 1)], None, None, whole=True)
    assert torch.equal(answer, torch.full((3, 2), 0.5))
    assert mine.statistics.lookups == 0


def test_a_head_that_failed_is_looked_up_or_left_out():
    failed = torch.full((1, 2), torch.nan, dtype=torch.float64)
    heads = torch.tensor([1])
    (answer,) = mixed(cache(), [COSTS], heads, [failed], None, None, whole=False)
    assert torch.equal(answer, LOOKED_UP)
    (answer,) = mixed(cache(), [COSTS], heads, [failed], None, heads, whole=False)
    assert torch.isnan(answer[1]).all()
    assert torch.equal(answer[[0, 2]], LOOKED_UP[[0, 2]])


def test_nothing_solved_and_nothing_cached_is_an_error():
    failed = torch.full((1, 2), torch.nan, dtype=torch.float64)
    with pytest.raises(SolveError, match="every solve of the step failed and the cache is empty"):
        mixed(cache(None, on_failure="cache"), [COSTS], torch.tensor([1]), [failed], None, None, whole=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_rows_of_the_heads_are_picked_in_their_precision(dtype):
    picked = picked_rows(COSTS.to(dtype), np.array([2, 1]), torch.tensor([2, 1]))
    assert picked.dtype == dtype
    assert torch.equal(picked, COSTS[[2, 1]].to(dtype))
