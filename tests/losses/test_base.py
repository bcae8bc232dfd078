from __future__ import annotations

import pytest
import torch

from regretless.arrays import dot
from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import MAP, AutogradLoss, ClosedFormLoss, SPOPlus, TwoStage, WarmUp
from regretless.milp import MILP
from regretless.problem import Problem

from .tiny import KINDS, batch


class Plane(ClosedFormLoss):
    """A plane in minimizing costs: value ``3 . p``, gradient 3. Keeps what the formula was given."""

    def value_and_gradient(self, predicted, true, solution, instance):
        self.seen = predicted, true, solution, instance
        slope = 0.0 * predicted + 3.0
        return (slope * predicted).sum(1), slope


class PlaneByAutograd(AutogradLoss):
    """The same plane, with a graph."""

    def per_instance(self, predicted, true, solution, instance):
        self.seen = predicted, true, solution, instance
        return 3.0 * predicted.sum(dim=1)


BOTH = pytest.mark.parametrize("plane", [Plane, PlaneByAutograd])


def problem(sense: str, **options) -> Problem:
    return Problem(MILP([[1.0, 1.0]], row_upper=1.0, **options), sense=sense)


def costs() -> tuple[torch.Tensor, torch.Tensor]:
    predicted = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64).requires_grad_()
    return predicted, torch.zeros(2, 2, dtype=torch.float64)


# --- the formula --------------------------------------------------------------------------------------------------


@BOTH
def test_the_formula_sees_minimizing_costs_with_the_weight_of_known_costs(plane):
    kind = KINDS["known"]
    b = batch(kind)
    one = torch.ones(6, 1, dtype=torch.float64)
    for sense, sign in (("min", 1.0), ("max", -1.0)):
        loss = plane(kind.problem(sense))
        solution = kind.problem(sense).solve(b.true).solution
        loss(b.predicted, b.true, solution)
        assert torch.equal(loss.seen[0], sign * torch.cat([b.predicted, one], dim=1))
        assert torch.equal(loss.seen[1], sign * torch.cat([b.true, one], dim=1))
        assert torch.equal(loss.seen[2], solution)


def test_a_loss_with_a_closed_form_needs_an_oracle():
    for loss, name in ((SPOPlus, "SPOPlus"), (Plane, "Plane")):
        with pytest.raises(InputError, match=rf"{name} needs an oracle.*, got none: build it as {name}\(problem\)"):
            loss()
    with pytest.raises(InputError, match=r"PlaneByAutograd needs an oracle.*, got str"):
        PlaneByAutograd("problem")
    with pytest.raises(InputError, match=r"TwoStage needs an oracle.*, got str"):
        TwoStage("problem")
    memory = SolutionCache(problem("min"))
    assert TwoStage(memory).problem is memory.problem


def test_without_an_oracle_costs_are_passed_as_they_are():
    loss = PlaneByAutograd(None)
    predicted = torch.randn(2, 3)
    assert loss.problem is None
    loss(predicted, predicted, torch.zeros(2, 9))
    assert loss.seen[0] is predicted


@BOTH
@pytest.mark.parametrize(("reduction", "value", "slope"), [("mean", 15.0, 1.5), ("sum", 30.0, 3.0)])
def test_value_and_gradient_are_those_of_the_formula(plane, reduction, value, slope):
    predicted, true = costs()
    loss = plane(problem("min"), reduction=reduction)(predicted, true, torch.zeros(2, 2))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(value)
    assert torch.allclose(predicted.grad, torch.full((2, 2), slope, dtype=torch.float64))


@BOTH
def test_each_instance_has_its_own_gradient_without_a_reduction(plane):
    predicted, true = costs()
    losses = plane(problem("min"), reduction="none")(predicted, true, torch.zeros(2, 2))
    losses[1].backward()
    assert predicted.grad.tolist() == [[0.0, 0.0], [3.0, 3.0]]


@BOTH
def test_a_maximized_problem_turns_costs_and_gradient(plane):
    predicted, true = costs()
    loss = plane(problem("max"))(predicted, true, torch.zeros(2, 2))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(-15.0)
    assert torch.allclose(predicted.grad, torch.full((2, 2), -1.5, dtype=torch.float64))


@BOTH
def test_known_costs_count_in_the_value_and_not_in_the_gradient(plane):
    predicted, true = costs()
    loss = plane(problem("min", fixed_cost=[1.0, 1.0]))(predicted, true, torch.zeros(2, 3))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(18.0)
    assert predicted.grad.shape == (2, 2)


@BOTH
def test_a_loss_is_one_part_of_a_users_own_graph(plane):
    predicted, true = costs()
    loss = plane(problem("min"))(2.0 * predicted, true, torch.zeros(2, 2))
    (5.0 * loss + predicted.sum()).backward()
    assert torch.allclose(predicted.grad, torch.full((2, 2), 16.0, dtype=torch.float64))


# --- the oracle ---------------------------------------------------------------------------------------------------


def test_the_oracle_is_called_without_a_gradient():
    called = []

    class Oracle:
        problem = Problem(oracle=lambda c: c * 0, dimension=2)

        def answer(self, queries, predicted, instance=None):
            called.extend([*queries, predicted])
            assert not torch.is_grad_enabled()
            return [query * 0 for query in queries]

    predicted = torch.randn(3, 2, requires_grad=True)
    SPOPlus(Oracle())(predicted, torch.randn(3, 2), torch.zeros(3, 2)).backward()
    assert len(called) == 2
    assert not any(tensor.requires_grad for tensor in called)
    assert predicted.grad is not None


def test_autocast_does_not_blur_a_look_up():
    choice = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=2)
    memory = SolutionCache(choice, [[1.0, 0.0], [0.0, 1.0]], p_solve=0.0)
    # Half precision holds 2.001 and 2.002 as the same number, and would take the first solution.
    predicted, true = torch.tensor([[2.002, 2.001]]), torch.zeros(1, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        _, gradient = SPOPlus(memory).loss_and_gradient(predicted, true, torch.tensor([[1.0, 0.0]]))
    assert gradient.tolist() == [[2.0, -2.0]]


# --- instances that are left out ----------------------------------------------------------------------------------


@BOTH
def test_instances_that_are_left_out_count_for_nothing(plane):
    class OneLeftOut(plane):
        def value_and_gradient(self, *arguments):
            self._left_out = torch.tensor([True, False])
            return super().value_and_gradient(*arguments)

        def per_instance(self, *arguments):
            self._left_out = torch.tensor([True, False])
            return super().per_instance(*arguments)

    predicted, true = costs()
    loss = OneLeftOut(problem("min"))(predicted, true, torch.zeros(2, 2))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(21.0)
    assert predicted.grad.tolist() == [[0.0, 0.0], [3.0, 3.0]]


def test_what_was_left_out_once_counts_again_in_the_next_step():
    fails = [True, False]

    def solver(costs):
        if fails.pop(0):
            raise RuntimeError("no luck")
        return costs * 0 + 1

    loss = SPOPlus(Problem(oracle=solver, dimension=1, on_failure="skip"))
    one, zero = torch.ones(1, 1), torch.zeros(1, 1)
    assert loss(one, one, zero).item() == 0.0
    assert loss(one, one, zero).item() == -1.0


# --- state --------------------------------------------------------------------------------------------------------


def test_the_state_of_a_loss_with_a_cache_is_refused_by_a_problem_of_another_kind():
    kind = KINDS["plain"]
    b = batch(kind)
    state = SPOPlus(SolutionCache(kind.problem(), b.cached)).state_dict()
    with pytest.raises(InputError, match="this cache belongs to another problem"):
        SPOPlus(SolutionCache(problem("min"))).load_state_dict(state)


def test_a_state_without_a_cache_does_not_fit_a_loss_with_one_nor_the_reverse():
    with_cache, without = SPOPlus(SolutionCache(problem("min"))), SPOPlus(problem("min"))
    with pytest.raises(InputError, match="the state was saved without a cache, and this loss has one"):
        with_cache.load_state_dict(without.state_dict())
    with pytest.raises(InputError, match="the state was saved with a cache, and this loss has none"):
        without.load_state_dict(with_cache.state_dict())


def test_dot_is_row_by_row():
    assert dot(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0], [7.0, 8.0]])).tolist() == [17.0, 53.0]


def test_a_reduction_is_known():
    with pytest.raises(InputError, match="reduction must be 'mean', 'sum' or 'none', got 'median'"):
        TwoStage(reduction="median")


@pytest.mark.parametrize("values", [lambda p: p.mean(), lambda p: p, lambda p: p.sum(1, keepdim=True)])
def test_a_formula_that_does_not_give_one_value_per_instance_is_refused(values):
    class Closed(ClosedFormLoss):
        def value_and_gradient(self, predicted, true, solution, instance):
            return values(predicted), torch.zeros_like(predicted)

    class ByAutograd(AutogradLoss):
        def per_instance(self, predicted, true, solution, instance):
            return values(predicted)

    predicted, true = costs()
    for loss in (Closed(problem("min")), ByAutograd(problem("min"))):
        with pytest.raises(InputError, match=r"one value per instance: expected .*tensors? of shape \(2,\)"):
            loss(predicted, true, true)
        with pytest.raises(InputError, match=type(loss).__name__):
            loss.loss_and_gradient(predicted, true, true)


@pytest.mark.parametrize(
    ("result", "got"), [(None, "NoneType"), (torch.ones(2), r"\(2,\)"), ((torch.ones(2), 3), r"\(2,\) and int")]
)
def test_a_formula_that_returns_something_else_is_named_with_what_it_returned(result, got):
    class Closed(ClosedFormLoss):
        def value_and_gradient(self, predicted, true, solution, instance):
            return result

    class ByAutograd(AutogradLoss):
        def per_instance(self, predicted, true, solution, instance):
            return result if result is None else (result, result)

    predicted, true = costs()
    with pytest.raises(InputError, match=rf"Closed.value_and_gradient .* of shape \(2,\) and \(2, 2\), got {got}"):
        Closed(problem("min"))(predicted, true, true)
    with pytest.raises(InputError, match=r"ByAutograd.per_instance must .* a tensor of shape \(2,\), got"):
        ByAutograd(problem("min"))(predicted, true, true)


def test_integers_are_no_prediction():
    with pytest.raises(InputError, match=r"predicted must be floating-point numbers, got torch.int64"):
        SPOPlus(problem("min"))(torch.ones(1, 2, dtype=torch.int64), torch.ones(1, 2), torch.ones(1, 2))


def test_the_text_of_a_loss_has_its_oracle_and_its_settings():
    oracle = problem("min")
    assert repr(SPOPlus(oracle, reduction="sum")) == f"SPOPlus({oracle!r}, reduction='sum')"
    assert repr(TwoStage()) == "TwoStage(criterion='mse', reduction='mean')"
    assert repr(TwoStage(oracle)) == f"TwoStage({oracle!r}, criterion='mse', reduction='mean')"
    first, then = SPOPlus(oracle), MAP(oracle)
    assert repr(WarmUp(first, then, steps=3)) == f"WarmUp({first!r}, {then!r}, steps=3)"


@pytest.mark.parametrize("make", [SPOPlus, TwoStage])
def test_a_prediction_that_is_no_tensor_is_refused(make):
    loss, given = make(problem("min")), [[1.0, 2.0]]
    for call in (loss, loss.loss_and_gradient):
        with pytest.raises(InputError, match="predicted must be a tensor, the output of a model, got list"):
            call(given, given, given)
