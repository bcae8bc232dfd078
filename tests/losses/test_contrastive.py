from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import MAP, NCE, SPOPlus
from regretless.problem import Problem
from regretless.types import Solved

from .tiny import KINDS, Batch, batch, cache, members, value_and_gradient

COSTS = ("c_hat", "c_hat-c", "2c_hat-c")
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def gradients(loss, kind, b: Batch, **settings) -> list[torch.Tensor]:
    """Gradients at the three costs."""
    return [value_and_gradient(loss(cache(kind.problem(), b), cost=cost, **settings), b)[1] for cost in COSTS]


@EVERY_KIND
@pytest.mark.parametrize("over", ["mean", "sum"])
def test_the_three_variants_of_nce_have_one_gradient_up_to_a_factor(kind, over):
    kind = KINDS[kind]
    plain, difference, twice = gradients(NCE, kind, batch(kind, seed=1), over=over)
    assert torch.allclose(plain, difference)
    assert torch.allclose(2 * plain, twice)
    assert plain.abs().max() > 0


def test_the_gradient_of_nce_does_not_depend_on_the_prediction():
    kind = KINDS["mapped"]
    b = batch(kind, seed=1)
    loss = NCE(cache(kind.problem(), b))
    _, here = value_and_gradient(loss, b)
    _, there = value_and_gradient(loss, Batch(b.predicted * -3 + 1, b.true, b.solution, None, b.cached, None))
    assert torch.equal(here, there)


@EVERY_KIND
def test_the_three_variants_of_map_chosen_by_the_prediction_have_one_gradient_up_to_a_factor(kind):
    kind = KINDS[kind]
    plain, difference, twice = gradients(MAP, kind, batch(kind, seed=2), select="predicted")
    assert torch.allclose(plain, difference)
    assert torch.allclose(2 * plain, twice)


def test_the_three_variants_of_map_chosen_by_the_shifted_cost_are_three_losses():
    kind = KINDS["plain"]
    plain, difference, twice = gradients(MAP, kind, batch(kind, n=20, seed=2))
    assert not torch.allclose(plain, difference)
    assert not torch.allclose(2 * plain, twice)


def test_map_is_the_largest_margin_over_s_and_above_nce():
    kind = KINDS["family"]
    b = batch(kind, seed=3)
    for cost in COSTS:
        worst, _ = value_and_gradient(MAP(cache(kind.problem(), b), cost=cost, reduction="none"), b)
        mean, _ = value_and_gradient(NCE(cache(kind.problem(), b), cost=cost, reduction="none"), b)
        assert (worst >= mean - 1e-12).all()
        assert (worst >= -1e-12).all(), "the true optimum itself is in S"


def test_map_over_the_problem_itself_is_spo_plus():
    kind = KINDS["mapped and known"]
    b = batch(kind, seed=5)
    mine = value_and_gradient(MAP(kind.problem(), cost="2c_hat-c"), b)
    its = value_and_gradient(SPOPlus(kind.problem()), b)
    assert torch.equal(mine[0], its[0])
    assert torch.equal(mine[1], its[1])


# --- growth -------------------------------------------------------------------------------------------------------


class Recorder:
    def __init__(self, points) -> None:
        self.points, self.costs = points, []

    def solve(self, costs, instance=None, *, decision=False):
        self.costs.append(costs.clone())
        return Solved(self.points[(costs @ self.points.T).argmin(dim=1)])


class Scripted:
    def choose(self, batch, generator):
        return np.arange(batch.size) % 2 == 0


@pytest.mark.parametrize("grow_at", ["predicted", "transformed"])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("loss", [NCE, MAP])
def test_growth_solves_where_it_says(grow_at, cost, loss):
    kind = KINDS["plain"]
    b = batch(kind, seed=6)
    recorder = Recorder(kind.points())
    problem = Problem(kind.still().model, oracle=recorder)
    memory = SolutionCache(problem, b.cached[:2], policy=Scripted(), grow_at=grow_at, dtype=torch.float64)
    loss(memory, cost=cost)(b.predicted, b.true, b.solution)
    shifted = {"c_hat": b.predicted, "c_hat-c": b.predicted - b.true, "2c_hat-c": 2 * b.predicted - b.true}[cost]
    at = (b.predicted if grow_at == "predicted" else shifted)[::2]
    assert torch.equal(torch.cat(recorder.costs), at)
    grown = torch.cat([b.cached[:2], kind.points()[(at @ kind.points().T).argmin(dim=1)]])
    assert {tuple(r) for r in memory.solutions.tolist()} == {tuple(r) for r in grown.tolist()}


def test_nce_sees_the_grown_s_at_once():
    kind = KINDS["plain"]
    b = batch(kind, seed=6)
    memory = cache(kind.problem(), b, p_solve=1.0)
    values, _ = value_and_gradient(NCE(memory, reduction="none"), b)
    assert len(memory) > len(torch.unique(b.cached, dim=0))
    margins = ((b.solution - memory.solutions.mean(dim=0)) * b.predicted).sum(dim=1)
    assert torch.allclose(values, margins)


def test_nce_does_not_read_the_members_of_s_when_the_objective_is_linear(monkeypatch):
    kind = KINDS["plain"]
    b = batch(kind)
    memory = cache(kind.problem(), b)
    loss = NCE(memory)
    for name in ("rows", "columns"):
        monkeypatch.setattr(type(memory.store), name, property(lambda self: pytest.fail("S was read")))
    loss(b.predicted, b.true, b.solution)


# --- other objectives ---------------------------------------------------------------------------------------------


def cubic(v: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """An objective of the user, with the cost inside powers; even ones tell the two senses apart."""
    return (c * v).sum(dim=-1) + ((0.3 * c**3 + 0.2 * c**2) * v.square()).sum(dim=-1)


@EVERY_KIND
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_nonlinear_objective_is_brute_force_over_s(kind, cost, sense):
    kind = KINDS[kind]
    b = batch(kind, seed=7)
    given = b if sense == "min" else b.mirrored(kind.known is not None)
    sign = 1.0 if sense == "min" else -1.0

    def objective(v, c):  # in the user's sense, where known costs always have the weight +1
        if sense == "min":
            return cubic(v, c)
        if kind.known is None:
            return -cubic(v, -c)
        return -cubic(torch.cat([v[..., :-1], -v[..., -1:]], dim=-1), torch.cat([-c[..., :-1], c[..., -1:]], dim=-1))

    for name, select in (("NCE", None), ("MAP", "shifted"), ("MAP", "predicted")):
        memory = cache(kind.problem(sense), given)
        if name == "NCE":
            loss = NCE(memory, cost=cost, objective=objective, reduction="none")
        else:
            loss = MAP(memory, cost=cost, select=select, objective=objective, reduction="none")
        values, gradient = value_and_gradient(loss, given)
        for i in range(len(values)):
            p = b.predicted[i].clone().requires_grad_()
            whole, true = kind.to_minimization(p[None])[0], kind.to_minimization(b.true[i][None])[0]
            shifted = {"c_hat": whole, "c_hat-c": whole - true, "2c_hat-c": 2 * whole - true}[cost]
            some = members(kind, b, i)
            margins = cubic(b.solution[i], shifted) - cubic(some, shifted)
            if name == "NCE":
                value = margins.mean()
            elif select == "shifted":
                value = margins.max()
            else:
                value = margins[cubic(some, whole).argmin()]
            (slope,) = torch.autograd.grad(value, p)
            assert torch.allclose(values[i], value)
            assert torch.allclose(gradient[i], sign * slope)


def test_a_loss_with_an_objective_grows_the_cache_before_it_looks_up():
    kind = KINDS["plain"]
    b = batch(kind, seed=3)
    for loss in (NCE, MAP):
        memory = SolutionCache(kind.problem(), b.cached[:1], p_solve=1.0, dtype=torch.float64)
        loss(memory, objective=cubic)(b.predicted, b.true, b.solution)
        assert memory.statistics.solves == len(b.predicted)
        assert len(memory) > 1


def test_a_linear_objective_given_as_a_function_is_the_built_in_one():
    kind = KINDS["family"]
    b = batch(kind, seed=9)

    def linear(v, c):
        return (v * c).sum(dim=-1)

    for loss in (NCE, MAP):
        mine = value_and_gradient(loss(cache(kind.problem(), b), objective=linear), b)
        its = value_and_gradient(loss(cache(kind.problem(), b)), b)
        assert torch.allclose(mine[0], its[0])
        assert torch.allclose(mine[1], its[1])


def test_a_loss_with_an_objective_can_be_pickled_and_copied_in_both_senses():
    kind = KINDS["plain"]
    for sense in ("min", "max"):
        b = batch(kind)
        loss = MAP(cache(kind.problem(sense), b), objective=cubic)
        for other in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss)):
            assert torch.equal(other(b.predicted, b.true, b.solution), loss(b.predicted, b.true, b.solution))


# --- the door -----------------------------------------------------------------------------------------------------


def test_wrong_settings_are_named():
    problem = KINDS["plain"].still()
    memory = SolutionCache(problem)
    with pytest.raises(InputError, match="NCE needs a SolutionCache, got Problem"):
        NCE(problem)
    with pytest.raises(InputError, match="objective= needs a SolutionCache"):
        MAP(problem, objective=cubic)
    with pytest.raises(InputError, match="cost must be one of 'c_hat', 'c_hat-c', '2c_hat-c', got 'c'"):
        NCE(memory, cost="c")
    with pytest.raises(InputError, match="cost must be one of"):
        MAP(memory, cost="c")
    with pytest.raises(InputError, match="over must be 'mean' or 'sum'"):
        NCE(memory, over="max")
    with pytest.raises(InputError, match="select must be 'shifted' or 'predicted'"):
        MAP(memory, select="random")


@pytest.mark.parametrize("loss", [NCE, MAP])
def test_an_empty_cache_says_how_to_fill_it(loss):
    b = batch(KINDS["plain"])
    with pytest.raises(InputError, match=r"empty.*cache\.add"):
        loss(SolutionCache(KINDS["plain"].problem(), p_solve=0.0))(b.predicted, b.true, b.solution)


def test_nce_refuses_an_instance_for_which_s_has_nothing():
    kind = KINDS["family"]
    b = batch(kind)
    memory = SolutionCache(kind.problem(), [[1.0, 0.0, 1.0, 0.0]], instance=[2], p_solve=0.0, dtype=torch.float64)
    for objective in (None, cubic):
        with pytest.raises(InputError, match="feasible for instance 0"):
            NCE(memory, objective=objective)(b.predicted, b.true, b.solution, b.instance)


@pytest.mark.parametrize("make", [MAP, NCE])
def test_an_objective_that_is_no_function_is_refused(make):
    problem = Problem(oracle=lambda c: c == c.min(), dimension=2)
    with pytest.raises(InputError, match=r"objective must be a function \(solutions, costs\) -> values, got int"):
        make(SolutionCache(problem, [[1.0, 0.0]]), objective=3)


@pytest.mark.parametrize("loss", [NCE, MAP])
@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (
            lambda s, c: s * c,
            r"return a tensor with one value per solution and cost vector.*of shape \(6, \d+\), got \(6, \d+, 4\)",
        ),
        (lambda s, c: (s * c).sum(), r"return a tensor with one value per .*got \(\)"),
        (lambda s, c: (s * c).sum(-1).detach().numpy(), r"return a tensor with one value per .*got ndarray"),
        (lambda s, c: (s * c).sum(-1).detach(), "depend on its costs by operations of torch"),
    ],
)
def test_an_objective_that_returns_something_else_is_named(loss, objective, message):
    kind = KINDS["plain"]
    b = batch(kind)
    with pytest.raises(InputError, match=f"objective must {message}"):
        loss(cache(kind.problem(), b), objective=objective)(b.predicted, b.true, b.solution)
