from __future__ import annotations

import math

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import ExpectedRegret
from regretless.training import fit

from .tiny import KINDS, Batch, batch, best, cache, members, value_and_gradient

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def scaled(b: Batch, factor: float) -> Batch:
    return Batch(b.predicted * factor, b.true * factor, b.solution, b.instance, b.cached, b.cached_for)


def with_predicted(b: Batch, predicted: torch.Tensor) -> Batch:
    return Batch(predicted, b.true, b.solution, b.instance, b.cached, b.cached_for)


@EVERY_KIND
def test_relative_value_and_gradient_are_the_definition_by_brute_force(kind):
    kind = KINDS[kind]
    b = batch(kind, seed=1)
    loss = ExpectedRegret(cache(kind.problem(), b), temperature=0.4, reduction="none")
    values, gradient = value_and_gradient(loss, b)
    predicted, true = kind.to_minimization(b.predicted), kind.to_minimization(b.true)
    for i in range(len(values)):
        s = members(kind, b, i)
        scores, costs = s @ predicted[i], s @ true[i]
        t = 0.4 * scores.std(correction=0)
        p = torch.softmax(-scores / t, dim=0)
        mean = p @ costs
        slope = -(p * (costs - mean)) @ s / t
        assert torch.allclose(values[i], mean - b.solution[i] @ true[i])
        assert torch.allclose(gradient[i], slope[: gradient.shape[1]])


@pytest.mark.parametrize("kind", ["plain", "family"])
def test_the_gradient_holds_the_temperature_fixed_and_is_that_of_autograd(kind):
    kind = KINDS[kind]
    b = batch(kind, seed=2)
    _, gradient = value_and_gradient(ExpectedRegret(cache(kind.problem(), b), reduction="none"), b)
    for i in range(len(gradient)):
        s, predicted = members(kind, b, i), b.predicted[i].clone().requires_grad_()
        scores = s @ predicted
        p = torch.softmax(-scores / (0.1 * scores.detach().std(correction=0)), dim=0)
        (slope,) = torch.autograd.grad(p @ (s @ b.true[i]), predicted)
        assert torch.allclose(gradient[i], slope)


def test_a_relative_temperature_does_not_depend_on_the_scale_of_the_costs():
    kind = KINDS["mapped"]
    b = batch(kind, seed=3)
    loss = ExpectedRegret(cache(kind.problem(), b), reduction="none")
    value, gradient = value_and_gradient(loss, b)
    for factor in (1e-3, 1e4):
        large, slope = value_and_gradient(loss, scaled(b, factor))
        assert torch.allclose(large, factor * value)
        assert torch.allclose(slope, gradient)  # costs over temperature: both carry the factor


def test_a_fixed_temperature_does():
    kind = KINDS["mapped"]
    b = batch(kind, seed=3)
    loss = ExpectedRegret(cache(kind.problem(), b), scale="fixed", reduction="none")
    value, _ = value_and_gradient(loss, b)
    large, _ = value_and_gradient(loss, scaled(b, 10.0))
    assert not torch.allclose(large, 10 * value)


@EVERY_KIND
def test_as_the_temperature_falls_it_becomes_the_regret_of_the_best_member(kind):
    kind = KINDS[kind]
    b = batch(kind, seed=4)
    values, _ = value_and_gradient(ExpectedRegret(cache(kind.problem(), b), temperature=1e-4, reduction="none"), b)
    predicted, true = kind.to_minimization(b.predicted), kind.to_minimization(b.true)
    for i in range(len(values)):
        chosen = best(members(kind, b, i), predicted[i])
        assert torch.allclose(values[i], true[i] @ (chosen - b.solution[i]), atol=1e-9)


def test_as_the_temperature_rises_it_becomes_the_mean_over_s():
    kind = KINDS["plain"]
    b = batch(kind, seed=4)
    values, _ = value_and_gradient(ExpectedRegret(cache(kind.problem(), b), temperature=1e6, reduction="none"), b)
    mean = members(kind, b, 0).mean(dim=0)
    assert torch.allclose(values, ((mean - b.solution) * b.true).sum(dim=1), atol=1e-5)


def test_a_solution_that_is_infeasible_for_the_instance_has_no_influence():
    kind = KINDS["family"]
    b = batch(kind, seed=5)
    small = (b.instance == 0).nonzero().flatten()
    one = Batch(b.predicted[small], b.true[small], b.solution[small], b.instance[small], b.cached, b.cached_for)
    memory = cache(kind.problem(), b)
    loss = ExpectedRegret(memory, reduction="none")
    before = value_and_gradient(loss, one)
    # Only the largest knapsack takes these two; at the predicted costs they would be far better than all.
    added = memory.add(torch.tensor([[0.0, 1.0, 1.0, 0.0]], dtype=torch.float64), instance=[2])
    after = value_and_gradient(loss, one)
    assert added == 1
    assert all(torch.equal(x, y) for x, y in zip(before, after, strict=True))
    assert math.exp(0) <= loss.perplexity <= float(memory.store.count(torch.tensor(0)))


@pytest.mark.parametrize("kind", ["plain", "family"])
@pytest.mark.parametrize("temperature", [1e-4, 0.1, 1.0, 1e5])
def test_perplexity_lies_between_one_and_the_size_of_s(kind, temperature):
    kind = KINDS[kind]
    b = batch(kind, seed=6)
    memory = cache(kind.problem(), b)
    loss = ExpectedRegret(memory, temperature=temperature)
    assert math.isnan(loss.perplexity), "nothing was drawn yet"
    value_and_gradient(loss, b)
    assert 1.0 - 1e-9 <= loss.perplexity <= len(memory) + 1e-9


def test_perplexity_is_one_when_cold_and_all_of_s_when_hot():
    kind = KINDS["plain"]
    b = batch(kind, seed=6)
    memory = cache(kind.problem(), b)
    cold, hot = (ExpectedRegret(memory, temperature=t) for t in (1e-6, 1e6))
    for loss in (cold, hot):
        value_and_gradient(loss, b)
    assert cold.perplexity == pytest.approx(1.0)
    assert hot.perplexity == pytest.approx(len(memory))


def test_the_perplexity_of_the_last_step_is_part_of_the_state():
    kind = KINDS["plain"]
    b = batch(kind, seed=6)
    one, other = (ExpectedRegret(cache(kind.problem(), b), temperature=0.4) for _ in range(2))
    assert one.running_state() == {"steps": 0}
    value_and_gradient(one, b)
    other.load_running_state(one.running_state())  # of a run that was left after the last step of an epoch
    assert other.diagnostics() == one.diagnostics()


def test_a_cache_of_one_gives_its_regret_and_no_gradient():
    kind = KINDS["plain"]
    b = batch(kind, seed=7)
    memory = SolutionCache(kind.problem(), b.solution[:1], p_solve=0.0, dtype=torch.float64)
    loss = ExpectedRegret(memory, reduction="none")
    values, gradient = value_and_gradient(loss, b)
    assert torch.allclose(values, ((b.solution[:1] - b.solution) * b.true).sum(dim=1))
    assert (gradient == 0).all()
    assert loss.perplexity == 1.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_predictions_of_zero_draw_uniformly_and_have_a_gradient(dtype):
    kind = KINDS["plain"]
    b = batch(kind, seed=8)
    b = with_predicted(b, torch.zeros_like(b.predicted))
    b = Batch(*(x if x is None else x.to(dtype) for x in (b.predicted, b.true, b.solution)), None, b.cached, None)
    memory = cache(kind.problem(), b, dtype=dtype)
    loss = ExpectedRegret(memory)
    _, gradient = value_and_gradient(loss, b)
    assert loss.perplexity == pytest.approx(len(memory))
    assert torch.isfinite(gradient).all()
    assert gradient.abs().max() > 0


def test_constant_predictions_on_solutions_of_one_size_do_not_blow_the_gradient_up():
    kind = KINDS["plain"]
    b = batch(kind, seed=8)
    pairs = torch.tensor([[1.0, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 1, 1]])
    memory = SolutionCache(kind.problem(), pairs, p_solve=0.0)
    constant = torch.full_like(b.predicted, 0.1).float()
    constant += 1e-8 * torch.arange(4)  # the scores differ by rounding only
    loss = ExpectedRegret(memory, reduction="none")
    _, gradient = value_and_gradient(loss, Batch(constant, b.true.float(), b.solution.float(), None, b.cached, None))
    assert gradient.abs().max() < 1e3
    assert loss.perplexity == pytest.approx(5.0)


def test_a_step_descends_towards_the_regret():
    kind = KINDS["plain"]
    b = batch(kind, seed=9)
    loss = ExpectedRegret(cache(kind.problem(), b), temperature=0.3)
    value, gradient = value_and_gradient(loss, b)
    after, _ = value_and_gradient(loss, with_predicted(b, b.predicted - 1e-3 * gradient))
    assert after < value


# --- annealing ----------------------------------------------------------------------------------------------------


def annealed(memory, **settings) -> ExpectedRegret:
    return ExpectedRegret(memory, temperature=1.0, final_temperature=0.01, anneal_steps=4, **settings)


def test_the_temperature_falls_geometrically_and_then_stays():
    kind = KINDS["plain"]
    b = batch(kind)
    loss = annealed(cache(kind.problem(), b))
    seen = []
    for _ in range(6):
        seen.append(loss.current_temperature())
        loss(b.predicted, b.true, b.solution)
    assert seen == pytest.approx([1.0, 10**-0.5, 0.1, 10**-1.5, 0.01, 0.01])
    assert loss.diagnostics()["temperature"] == pytest.approx(0.01)


def test_each_step_has_the_temperature_of_its_moment():
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    loss = annealed(cache(kind.problem(), b), reduction="none")
    for _ in range(5):
        constant = ExpectedRegret(cache(kind.problem(), b), temperature=loss.current_temperature(), reduction="none")
        assert torch.allclose(value_and_gradient(loss, b)[0], value_and_gradient(constant, b)[0])


def test_evaluating_the_loss_does_not_anneal():
    kind = KINDS["plain"]
    b = batch(kind)
    loss = annealed(cache(kind.problem(), b)).eval()
    loss(b.predicted, b.true, b.solution)
    assert loss.current_temperature() == 1.0


def test_the_number_of_steps_is_part_of_the_state():
    kind = KINDS["plain"]
    b = batch(kind)
    loss, fresh = (annealed(cache(kind.problem(), b)) for _ in range(2))
    for _ in range(3):
        loss(b.predicted, b.true, b.solution)
    fresh.load_state_dict(loss.state_dict())
    assert fresh.current_temperature() == loss.current_temperature() == pytest.approx(10**-1.5)


def test_a_checkpoint_continues_with_the_temperature_it_had(tmp_path):
    kind = KINDS["plain"]
    b = batch(kind, n=9, seed=3)
    train = Dataset(b.true.float(), b.true, b.solution)

    def run(epochs: int, checkpoint=None) -> tuple[ExpectedRegret, torch.nn.Module, list]:
        model = torch.nn.Linear(4, 4, bias=False)
        torch.nn.init.eye_(model.weight)
        memory = SolutionCache(kind.problem(), train.solutions, p_solve=0.3, seed=1)
        loss = ExpectedRegret(memory, temperature=1.0, final_temperature=0.1, anneal_steps=10)
        fitted = fit(model, loss, train, epochs=epochs, batch_size=4, seed=2, checkpoint=checkpoint, progress=False)
        return loss, model, fitted.history.column("temperature")

    _, uninterrupted, temperatures = run(4)
    run(2, tmp_path / "run.safetensors")
    loss, resumed, again = run(4, tmp_path / "run.safetensors")
    assert loss.running_state()["steps"] == 12
    assert again == temperatures
    assert temperatures == pytest.approx([10 ** -(min(3 * epoch, 10) / 10) for epoch in (1, 2, 3, 4)])
    assert torch.equal(uninterrupted.weight, resumed.weight)


def test_the_history_shows_perplexity_and_temperature():
    kind = KINDS["plain"]
    b = batch(kind, n=9, seed=3)
    model = torch.nn.Linear(4, 4)
    memory = SolutionCache(kind.problem(), b.solution, p_solve=0.3)
    fitted = fit(model, ExpectedRegret(memory), Dataset(b.true.float(), b.true, b.solution), epochs=2, progress=False)
    assert fitted.history.column("temperature") == [0.1, 0.1]
    assert all(1.0 <= value <= len(memory) for value in fitted.history.column("perplexity"))


# --- the door -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": 0.0}, "temperature must be a finite number above 0, got 0.0"),
        ({"temperature": -1.0}, "temperature must be a finite number above 0"),
        ({"temperature": math.nan}, "temperature must be a finite number above 0"),
        ({"temperature": math.inf}, "temperature must be a finite number above 0"),
        ({"scale": "log"}, "scale must be 'relative' or 'fixed', got 'log'"),
        ({"final_temperature": "a", "anneal_steps": 3}, "final_temperature must be a finite number above 0, got 'a'"),
        ({"final_temperature": 0.1, "anneal_steps": 2.5}, "anneal_steps must be an integer, at least 1, got 2.5"),
        ({"final_temperature": 0.1}, "annealing needs both .* got 0.1 and None"),
        ({"anneal_steps": 5}, "annealing needs both .* got None and 5"),
        ({"final_temperature": 0.0, "anneal_steps": 5}, "final_temperature must be a finite number above 0"),
        ({"final_temperature": 0.1, "anneal_steps": 0}, "anneal_steps must be an integer, at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_named(settings, message):
    kind = KINDS["plain"]
    with pytest.raises(InputError, match=message):
        ExpectedRegret(cache(kind.problem(), batch(kind)), **settings)


def test_it_needs_a_cache_that_holds_something_and_the_ids_of_a_family():
    kind = KINDS["family"]
    b = batch(kind)
    with pytest.raises(InputError, match="needs a SolutionCache, got Problem"):
        ExpectedRegret(kind.problem())
    with pytest.raises(InputError, match="the cache is empty"):
        ExpectedRegret(SolutionCache(kind.problem(), p_solve=0.0))(b.predicted, b.true, b.solution, b.instance)
    with pytest.raises(InputError, match="family of 3 instances: pass instance="):
        ExpectedRegret(cache(kind.problem(), b))(b.predicted, b.true, b.solution)
