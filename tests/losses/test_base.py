from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses import Loss, SPOPlus, TwoStage
from regretless.losses.base import dot
from regretless.problem import Problem

from .tiny import KINDS, batch


class Spy(Loss):
    """Keeps what the formula was given."""

    def per_instance(self, predicted, true, solution, instance):
        self.seen = predicted, true, solution, instance
        return predicted.sum(dim=1)


def test_the_formula_sees_minimising_costs_with_the_weight_of_known_costs():
    kind = KINDS["known"]
    b = batch(kind)
    one = torch.ones(6, 1, dtype=torch.float64)
    for sense, sign in (("min", 1.0), ("max", -1.0)):
        spy = Spy(kind.problem(sense))
        spy(b.predicted, b.true, b.solution)
        assert torch.equal(spy.seen[0], sign * torch.cat([b.predicted, one], dim=1))
        assert torch.equal(spy.seen[1], sign * torch.cat([b.true, one], dim=1))
        assert torch.equal(spy.seen[2], b.solution)


def test_without_an_oracle_costs_are_passed_as_they_are():
    spy = Spy(None)
    predicted = torch.randn(2, 3)
    assert spy.problem is None
    spy(predicted, predicted, torch.zeros(2, 9))
    assert spy.seen[0] is predicted


def test_the_oracle_is_asked_without_a_gradient():
    asked = []

    class Oracle:
        problem = Problem(oracle=lambda c: c * 0, dimension=2)

        def answer(self, queries, predicted, instance=None):
            asked.extend([*queries, predicted])
            assert not torch.is_grad_enabled()
            return [query * 0 for query in queries]

    predicted = torch.randn(3, 2, requires_grad=True)
    SPOPlus(Oracle())(predicted, torch.randn(3, 2), torch.zeros(3, 2)).backward()
    assert len(asked) == 2
    assert not any(tensor.requires_grad for tensor in asked)
    assert predicted.grad is not None


def test_when_every_instance_is_left_out_the_loss_and_its_gradient_are_zero():
    def no_luck(costs):
        raise RuntimeError("no luck")

    problem = Problem(oracle=no_luck, dimension=2, on_failure="skip")
    predicted = torch.randn(3, 2, requires_grad=True)
    loss = SPOPlus(problem)(predicted, torch.randn(3, 2), torch.zeros(3, 2))
    loss.backward()
    assert loss.item() == 0.0
    assert (predicted.grad == 0).all()


def test_what_was_left_out_once_is_counted_again_the_next_time():
    fails = [True, False]

    def solver(costs):
        if fails.pop(0):
            raise RuntimeError("no luck")
        return costs * 0 + 1

    problem = Problem(oracle=solver, dimension=1, on_failure="skip")
    loss = SPOPlus(problem)
    one, zero = torch.ones(1, 1), torch.zeros(1, 1)
    assert loss(one, one, zero).item() == 0.0
    assert loss(one, one, zero).item() == -1.0


def test_dot_is_row_by_row():
    assert dot(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]])).tolist() == [17.0, 53.0]


def test_a_reduction_is_known():
    with pytest.raises(InputError, match="reduction must be 'mean', 'sum' or 'none', got 'median'"):
        TwoStage(reduction="median")
