"""What only losses with a closed form do. Of what both kinds share the tests are in ``test_base.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from regretless.arrays import MOST
from regretless.cache import Bernoulli, SolutionCache
from regretless.errors import InputError, SolveError
from regretless.losses import MAP, Blackbox, ClosedFormLoss, SPOPlus, closed_form
from regretless.milp import MILP
from regretless.problem import Problem


def test_when_every_instance_is_left_out_the_loss_and_its_gradient_are_zero():
    def no_luck(costs):
        raise RuntimeError("no luck")

    loss = SPOPlus(Problem(oracle=no_luck, dimension=2, on_failure="skip"))
    predicted = torch.randn(3, 2, requires_grad=True)
    value = loss(predicted, torch.randn(3, 2), torch.zeros(3, 2))
    value.backward()
    assert value.item() == 0.0
    assert (predicted.grad == 0).all()


def test_a_closed_form_with_a_gradient_of_another_shape_is_refused():
    class Closed(ClosedFormLoss):
        def value_and_gradient(self, predicted, true, solution, instance):
            return predicted.sum(1), torch.zeros_like(predicted[:, :1])

    predicted, true = torch.ones(2, 2), torch.zeros(2, 2)
    with pytest.raises(InputError, match=r"expected tensors of shape \(2,\) and \(2, 2\), got \(2,\) and \(2, 1\)"):
        Closed(Problem(MILP([[1.0, 1.0]], row_upper=1.0)))(predicted, true, true)


def test_a_formula_is_not_captured_unless_it_says_so():
    class Own(SPOPlus):
        pass

    problem = Problem(MILP([[1.0, 1.0]], row_upper=1.0))
    assert SPOPlus(problem).operations() is not None
    assert Own(problem).operations() is None
    assert MAP(problem, cost="c_hat", select="predicted").operations() == ("c_hat", "predicted")
    assert MAP(SolutionCache(problem), objective=lambda solutions, costs: costs).operations() is None


def knapsack(sense: str = "max", **settings: Any) -> Problem:
    weights = np.random.default_rng(0).integers(1, 9, 12).astype(float)
    return Problem(MILP([weights], row_upper=20.0, **settings), sense=sense)


# Every loss whose formula takes arrays.
TAKE_ARRAYS = {
    "map": MAP,
    "map at the prediction": lambda oracle: MAP(oracle, cost="2c_hat-c", select="predicted"),
    "spo": SPOPlus,
    "blackbox": lambda oracle: Blackbox(oracle, lambda_=3.0),
}


def steps(loss: ClosedFormLoss, count: int = 3, dtype: torch.dtype = torch.float32, **more: Any) -> list[Any]:
    """Values and gradients of steps, the same for every loss."""
    generator = torch.Generator().manual_seed(0)
    true = 9 * torch.randn(10, 12, generator=generator, dtype=dtype)
    best = loss.problem(loss.problem.to_minimization(true))
    found = []
    for _ in range(count):
        predicted = true + 5 * torch.randn(10, 12, generator=generator, dtype=dtype)
        found.append(loss.loss_and_gradient(predicted, true, best, **more))
    return found


@pytest.mark.parametrize("name", TAKE_ARRAYS)
@pytest.mark.parametrize("reduction", ["mean", "none"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("oracle", ["problem", "coin", "batch-coin", "predicted", "known costs", "minimizing"])
def test_arrays_give_the_gradients_of_tensors_to_the_bit(name, reduction, dtype, oracle, monkeypatch):
    losses = []
    for most in (MOST, -1):
        known = {"fixed_cost": np.arange(12.0)} if oracle == "known costs" else {}
        problem: Any = knapsack("min" if oracle == "minimizing" else "max", **known)
        if oracle != "problem":
            per = "batch" if oracle == "batch-coin" else "instance"
            grow_at = "predicted" if oracle == "predicted" else "transformed"
            policy = Bernoulli(0.3, per=per)
            first = torch.zeros(1, problem.width)
            problem = SolutionCache(problem, first, policy=policy, grow_at=grow_at, seed=3)
        loss = TAKE_ARRAYS[name](problem)
        assert loss.takes_arrays()
        loss.reduction = reduction
        monkeypatch.setattr(closed_form, "MOST", most)
        losses.append((loss, steps(loss, dtype=dtype)))
    (loss, with_arrays), (other, with_tensors) = losses
    for (value, gradient), (expected, slope) in zip(with_arrays, with_tensors, strict=True):
        assert torch.equal(gradient, slope)
        assert value.shape == expected.shape
        torch.testing.assert_close(value, expected, atol=1e-3, rtol=1e-5)
    if oracle != "problem":
        assert torch.equal(loss.oracle.solutions, other.oracle.solutions)
        counts = [
            (one.asked, one.solves, one.lookups, one.added, one.hits)
            for one in (loss.oracle.statistics, other.oracle.statistics)
        ]
        assert counts[0] == counts[1]


def test_weights_of_instances_count_with_arrays_as_with_tensors(monkeypatch):
    weight = torch.linspace(0.5, 1.5, 10)
    found = []
    for most in (MOST, -1):
        monkeypatch.setattr(closed_form, "MOST", most)
        found.append(steps(SPOPlus(knapsack()), 2, weight=weight))
    for (_, gradient), (_, slope) in zip(*found, strict=True):
        assert torch.equal(gradient, slope)


def test_formulas_of_subclasses_and_large_batches_get_tensors():
    given: list[type] = []

    class Own(SPOPlus):
        def value_and_gradient(self, predicted, true, solution, instance):
            given.append(type(predicted))
            return super().value_and_gradient(predicted, true, solution, instance)

    steps(Own(knapsack()), 1)
    assert given == [torch.Tensor]
    assert not Own(knapsack()).takes_arrays()
    assert not MAP(SolutionCache(knapsack()), objective=lambda solutions, costs: costs).takes_arrays()
    loss = SPOPlus(knapsack())
    few, many = torch.zeros(2, 12), torch.zeros(MOST // 12 + 1, 12)
    assert loss._with_arrays(few, few, few)
    assert not loss._with_arrays(many, many, many)
    assert not loss._with_arrays(few, few.clone().requires_grad_(), few)


def test_true_costs_with_a_gradient_are_taken():
    loss, few = SPOPlus(knapsack()), torch.ones(2, 12)
    best = loss.problem(-few)
    expected = loss.loss_and_gradient(2 * few, few, best)
    found = loss.loss_and_gradient(2 * few, few.clone().requires_grad_(), best)
    assert torch.equal(found[1], expected[1])


def test_a_wrong_label_is_noticed_with_arrays():
    loss, few = SPOPlus(knapsack()), torch.ones(2, 12)
    with pytest.raises(SolveError, match=r"instance 0 of the batch .* better than its label"):
        loss(2 * few, few, torch.zeros(2, 12))
    loss(2 * few, few, loss.problem(-few))  # the next step is as usual


def test_with_arrays_an_oracle_computes_in_full_precision_under_autocast():
    seen = []

    def oracle(costs):
        seen.append(torch.mm(torch.eye(2), torch.eye(2)).dtype)
        return costs == costs.min()

    costs = torch.tensor([[1.0, 2.0]])
    loss = SPOPlus(Problem(oracle=oracle, dimension=2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss(costs, costs, torch.tensor([[1.0, 0.0]]))
    assert seen == [torch.float32]


def test_a_label_that_is_beaten_is_noticed_beside_true_costs_that_are_not_known():
    few = torch.ones(2, 12)
    loss, true = SPOPlus(knapsack()), few.clone()
    loss.check_labels(loss.problem(-few))
    true[0] = torch.nan
    loss._labels.note([loss.problem(-few).numpy()], -true.numpy(), np.zeros((2, 12)), None, loss.problem)
    with pytest.raises(SolveError, match=r"instance 1 of the batch .* better than its label"):
        loss._labels.finish()
