from __future__ import annotations

import pytest
import torch

from regretless.cache.heads import Heads
from regretless.cache.overlay import overlay

COSTS = torch.tensor([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
FOUND = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
SOLVED = torch.tensor([[0.5, 0.5]], dtype=torch.float64)
FAILED = torch.full((1, 2), torch.nan, dtype=torch.float64)


class LookUp:
    """Answers with the unit vector of the smaller cost, and keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[tuple[list[torch.Tensor], torch.Tensor | None]] = []

    def __call__(self, queries, instance):
        self.calls.append((list(queries), instance))
        return [(query == query.min(dim=1, keepdim=True).values).to(query.dtype) for query in queries]


def head(position: int, solution: torch.Tensor, *, failed: bool = False) -> Heads:
    return Heads(torch.tensor([position]), [solution], torch.tensor([True]) if failed else None)


def test_without_heads_every_instance_is_looked_up():
    look_up = LookUp()
    (answer,), count = overlay([COSTS], None, None, None, look_up)
    assert torch.equal(answer, FOUND)
    assert count == 3
    assert len(look_up.calls) == 1


def test_a_head_keeps_its_solution_and_where_many_are_solved_it_is_not_looked_up():
    look_up = LookUp()
    (answer,), _ = overlay([COSTS], None, head(1, SOLVED), None, look_up)
    assert answer.tolist() == [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]]
    assert answer.dtype == torch.float32
    assert torch.equal(look_up.calls[0][0][0], COSTS[[0, 2]])


def test_where_all_are_heads_nothing_is_looked_up():
    look_up = LookUp()
    heads = Heads(torch.arange(3), [SOLVED.repeat(3, 1)])
    (answer,), _ = overlay([COSTS], None, heads, None, look_up)
    assert torch.equal(answer, torch.full((3, 2), 0.5))
    assert look_up.calls == []


def test_a_head_that_failed_is_looked_up_or_left_out():
    failed = head(1, FAILED, failed=True)
    assert failed.failed_positions.tolist() == [1]
    (answer,), _ = overlay([COSTS], None, failed, None, LookUp())
    assert torch.equal(answer, FOUND)
    (answer,), _ = overlay([COSTS], None, failed, failed.failed_positions, LookUp())
    assert torch.isnan(answer[1]).all()
    assert torch.equal(answer[[0, 2]], FOUND[[0, 2]])


def test_an_instance_can_be_left_out_where_every_answer_is_a_look_up():
    (answer,), _ = overlay([COSTS], None, None, torch.tensor([0]), LookUp())
    assert torch.isnan(answer[0]).all()
    assert torch.equal(answer[1:], FOUND[1:])


def test_where_all_are_left_out_nothing_is_looked_up():
    look_up = LookUp()
    (answer,), _ = overlay([COSTS], None, None, torch.arange(3), look_up)
    assert torch.isnan(answer).all()
    assert look_up.calls == []


def test_every_query_has_its_own_answer_and_ids_go_with_the_instances_that_remain():
    look_up, ids = LookUp(), torch.tensor([7, 8, 9])
    heads = Heads(torch.tensor([1]), [SOLVED, 2 * SOLVED])
    (first, second), count = overlay([COSTS, -COSTS], ids, heads, None, look_up)
    assert first.tolist() == [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]]
    assert second.tolist() == [[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]]
    assert look_up.calls[0][1].tolist() == [7, 9]
    assert count == 2


def test_where_few_are_solved_it_is_faster_to_look_up_all_of_them():
    look_up, ids = LookUp(), torch.arange(6)
    (answer,), count = overlay([COSTS.repeat(2, 1)], ids, head(1, SOLVED), None, look_up)
    assert torch.equal(answer, torch.cat([FOUND[:1], SOLVED.float(), FOUND[2:], FOUND]))
    assert count == 5  # answers that were looked up and used
    assert look_up.calls[0][1].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_answers_have_the_precision_of_the_queries(dtype):
    (answer,), _ = overlay([COSTS.to(dtype)], None, head(1, SOLVED), None, LookUp())
    assert answer.dtype == dtype


def test_without_a_failure_there_are_no_failed_positions():
    assert head(0, SOLVED).failed_positions is None
