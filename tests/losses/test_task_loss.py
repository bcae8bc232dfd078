from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses.task_loss import known_task, task_loss


def values(task, answer, true, solution):
    if task == "regret":
        return ((answer - solution) * true).sum(1).abs()
    error = (answer - solution)[:, :3]
    return (error.square() if task == "squared" else error.abs()).mean(1)


@pytest.mark.parametrize("task", ["regret", "squared", "absolute"])
@pytest.mark.parametrize("width", [3, 4])
def test_value_and_slope_are_those_of_autograd_and_leave_known_costs_out_of_distances(task, width):
    generator = torch.Generator().manual_seed(0)
    answer, true, solution = torch.randn(3, 5, width, generator=generator, dtype=torch.float64)
    leaf = answer.clone().requires_grad_()
    expected = values(task, leaf, true, solution)
    (slope,) = torch.autograd.grad(expected.sum(), leaf)
    value, found = task_loss(task, answer, true, solution, dimension=3)
    assert torch.allclose(value, expected)
    assert torch.allclose(found, slope)


@pytest.mark.parametrize("task", ["regret", "squared", "absolute"])
def test_the_true_optimum_has_neither_loss_nor_slope(task):
    solution = torch.tensor([[0.0, 1.0, 1.0]])
    value, slope = task_loss(task, solution, torch.tensor([[3.0, 1.0, 2.0]]), solution, dimension=3)
    assert value.tolist() == [0.0]
    assert slope.abs().max() == 0.0


@pytest.mark.parametrize("task", ["regret", "absolute"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_vertex_that_differs_by_rounding_has_neither_loss_nor_slope(task, dtype):
    true = torch.tensor([[3.0, 1.0, -2.0]], dtype=dtype)
    solution = torch.tensor([[0.0, 1 / 3, 0.7]], dtype=dtype)
    answer = solution * (1 + 2 * torch.finfo(dtype).eps)
    assert not torch.equal(answer, solution)
    value, slope = task_loss(task, answer, true, solution, dimension=3)
    assert value.tolist() == [0.0]
    assert slope.abs().max() == 0.0


def test_an_unknown_task_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match="task must be one of 'regret', 'squared', 'absolute', got 'cubic'"):
        known_task("cubic")
