from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import MAP, ExpectedRegret, Loss, SPOPlus, TwoStage, WarmUp
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.relaxation.linear_relaxation import LinearRelaxation
from regretless.training import evaluate, fit, methods

from . import runs

NAMES = [name for name in methods.names() if name != "auto"]  # tests/search trains with it
EVERY = pytest.mark.parametrize("name", NAMES)
WITH_LOSS = pytest.mark.parametrize("name", [name for name in NAMES if methods.TABLE[name].search is None])
CACHED = pytest.mark.parametrize("name", [n for n, row in methods.TABLE.items() if row.cached])
# Options that are not attributes of the loss.
ELSEWHERE = {"warm_up_steps": 0, "fit": "gradient", "engine": "highs"}
PROMISED = {
    "auto", "two-stage", "spo", "spo-relax", "blackbox", "qptl", "interior", "spo-cache", "blackbox-cache",
    "nce-c", "nce-dc", "nce-2c", "map-c", "map-dc", "map-2c",
    "soft", "pfy", "pfy-cache", "dpo", "dpo-cache", "imle", "imle-cache", "aimle", "aimle-cache", "nid", "nid-cache",
    "pg", "pg-cache", "rfy", "rfy-cache", "rfw", "rfw-cache", "cave", "lava", "sce",
    "pointwise", "pairwise", "pairwise-difference", "listwise", "direct",
}  # fmt: skip


def trained(name: str, **settings) -> torch.Tensor:
    """Weights after two epochs, or two generations."""
    train, model = runs.data(), runs.model()
    row = methods.method(name)
    if row.search is not None:
        chosen = methods.chosen(name, settings) | {"generations": 2}
        row.search(model, runs.problem(), train, seed=0, progress=False, **chosen)
    else:
        loss = methods.make_loss(name, runs.problem(), train, seed=0, **settings)
        fit(model, loss, train, epochs=2, batch_size=row.batch_size or 5, progress=False)
    return runs.weights(model)


def test_the_table_has_every_method_that_the_command_line_promises():
    assert set(methods.names()) == PROMISED
    assert all(row.summary for row in methods.TABLE.values())


def test_a_method_and_its_cached_form_differ_in_the_oracle_only():
    pairs = [(row, methods.TABLE[f"{n}-cache"]) for n, row in methods.TABLE.items() if f"{n}-cache" in methods.TABLE]
    assert len(pairs) == sum(name.endswith("-cache") for name in methods.names()) > 0
    for row, over_cache in pairs:
        assert (row.cached, over_cache.cached) == (False, True)
        assert (row.build, row.options, row.solves) == (over_cache.build, over_cache.options, over_cache.solves)


@EVERY
def test_every_row_trains_two_epochs_on_a_tiny_problem_and_again_to_the_same_weights(name):
    if name == "direct":
        pytest.importorskip("cma", reason="direct search needs the package cma")
    few = {"max_iterations": 5} if name.startswith(("rfy", "rfw")) else {}
    first = trained(name, **few)
    assert torch.isfinite(first).all()
    assert not torch.equal(first, runs.weights(runs.model()))
    assert torch.equal(first, trained(name, **few))


@WITH_LOSS
def test_every_row_builds_a_loss_whose_settings_are_its_options(name):
    row = methods.method(name)
    loss = methods.make_loss(name, runs.problem(), runs.data(), **row.options)
    assert isinstance(loss, Loss)
    for option, value in row.options.items():
        assert getattr(loss, option, ELSEWHERE.get(option)) == value
    assert isinstance(loss.oracle, SolutionCache) == row.cached


@EVERY
def test_a_row_says_whether_training_solves_the_problem(name):
    if name == "direct":
        pytest.importorskip("cma", reason="direct search needs the package cma")
    problem, train, row = runs.problem(), runs.data(), methods.method(name)
    backend = problem.backend = CountingBackend(problem.backend)
    if row.search is not None:
        row.search(runs.model(), problem, train, progress=False, **(dict(row.options) | {"generations": 1}))
    else:
        settings = {"p_solve": 1.0} if row.cached else {}
        loss = methods.make_loss(name, problem, train, **settings)
        fit(runs.model(), loss, train, epochs=1, progress=False)
    assert (backend.solves > 0) == row.solves


@WITH_LOSS
def test_a_row_says_whether_true_costs_are_used(name):
    train, gradients = runs.data(), []
    predicted = train.costs.flip(0).float()
    for factor in (1.0, 3.0):  # the true optima stay the same
        loss = methods.make_loss(name, runs.problem(), train)
        gradients.append(loss.loss_and_gradient(predicted, factor * train.costs, train.solutions)[1])
    assert torch.equal(*gradients) or methods.method(name).needs_costs


class CountingBackend:
    """Counts exact solves; the linear relaxation has a backend of its own."""

    def __init__(self, backend) -> None:
        self.backend, self.solves = backend, 0

    def solve(self, costs, instance=None, *, decision=False):
        self.solves += len(costs)
        return self.backend.solve(costs, instance, decision=decision)


def test_soft_starts_with_map_for_a_number_of_steps():
    plain = methods.make_loss("soft", runs.problem(), runs.data())
    warmed = methods.make_loss("soft", runs.problem(), runs.data(), warm_up_steps=3, temperature=0.3)
    assert isinstance(plain, ExpectedRegret)
    assert isinstance(warmed, WarmUp)
    assert isinstance(warmed.current, MAP)
    assert (warmed.current.cost, warmed.then.temperature, warmed.warm_up_steps) == ("c_hat-c", 0.3, 3)
    with pytest.raises(InputError, match="warm_up_steps must be an integer, at least 0, got -1"):
        methods.make_loss("soft", runs.problem(), runs.data(), warm_up_steps=-1)


@CACHED
def test_caches_start_from_the_training_optima_and_take_settings(name):
    train = runs.data()
    loss = methods.make_loss(name, runs.problem(), train, seed=3, p_solve=0.25, grow_at="transformed", capacity=9)
    cache = loss.oracle
    assert isinstance(cache, SolutionCache)
    assert cache.policy.p == 0.25
    assert cache.grow_at == "transformed"
    assert cache.store.capacity == 9
    assert {tuple(r) for r in cache.solutions.tolist()} <= {tuple(r) for r in train.solutions.tolist()}


@EVERY
def test_an_unknown_setting_is_named_with_the_known_ones(name):
    row = methods.method(name)
    with pytest.raises(InputError, match=f"method '{name}' does not know 'temprature'") as raised:
        methods.chosen(name, {"temprature": 1.0})
    for option in row.options:
        assert option in str(raised.value)
    assert ("p_solve" in str(raised.value)) == row.cached
    if row.search is None:
        with pytest.raises(InputError, match="does not know 'temprature'"):
            methods.make_loss(name, runs.problem(), runs.data(), temprature=1.0)


def test_settings_of_the_cache_are_unknown_where_there_is_none():
    with pytest.raises(InputError, match="method 'spo' does not know 'p_solve': it has no settings"):
        methods.make_loss("spo", runs.problem(), runs.data(), p_solve=0.1)


def test_an_unknown_method_is_named_with_the_known_ones():
    with pytest.raises(InputError, match=r"method must be one of auto, two-stage, .*, got 'sop'; did you mean 'spo'"):
        methods.make_loss("sop", runs.problem(), runs.data())


def test_a_loss_in_place_of_a_method_is_refused_with_the_way_to_train_it():
    with pytest.raises(InputError, match=r"method must be .*, got SPOPlus.* trained by regretless\.fit\(model, loss"):
        methods.make_loss(SPOPlus(runs.problem()), runs.problem(), runs.data())  # type: ignore[arg-type]


def test_direct_has_no_loss_to_make():
    with pytest.raises(InputError, match="'direct' has no loss: train with it through"):
        methods.make_loss("direct", runs.problem(), runs.data())


def test_settings_of_the_user_take_precedence_over_the_defaults():
    loss = methods.make_loss("soft", runs.problem(), runs.data(), temperature=0.3, scale="fixed")
    assert isinstance(loss, ExpectedRegret)
    assert (loss.temperature, loss.scale) == (0.3, "fixed")
    loss = methods.make_loss("map-dc", runs.problem(), runs.data(), select="predicted")
    assert isinstance(loss, MAP)
    assert (loss.cost, loss.select) == ("c_hat-c", "predicted")
    assert methods.method("soft").options["scale"] == "relative", "the table itself is left as it is"


def test_spo_relax_is_spo_plus_over_the_linear_relaxation():
    loss = methods.make_loss("spo-relax", runs.problem(), runs.data())
    assert isinstance(loss, SPOPlus)
    assert isinstance(loss.oracle, LinearRelaxation)


def test_spo_relax_equals_spo_where_the_relaxation_is_integral():
    # One of three items: all corners of the relaxation are integral.
    problem = Problem(MILP([[1.0, 1.0, 1.0]], row_upper=1.0), sense="max")
    generator = torch.Generator().manual_seed(0)
    true, predicted = (torch.randn(8, 3, generator=generator, dtype=torch.float64) for _ in range(2))
    solutions = problem.solve(true).solution
    data = runs.Dataset(true.float(), true, solutions)
    exact, relaxed = (methods.make_loss(name, problem, data) for name in ("spo", "spo-relax"))
    assert torch.allclose(exact(predicted, true, solutions), relaxed(predicted, true, solutions))


def test_two_stage_takes_one_instance_per_step():
    assert methods.method("two-stage").batch_size == 1
    assert isinstance(methods.make_loss("two-stage", runs.problem(), runs.data()), TwoStage)


@pytest.mark.parametrize("name", ["map-dc", "soft", "spo-cache", "spo"])
def test_decision_losses_lower_the_training_regret(name):
    train, model = runs.data(40), runs.model()
    before = evaluate(model, train, runs.problem()).regret
    fit(model, methods.make_loss(name, runs.problem(), train), train, epochs=10, progress=False)
    assert evaluate(model, train, runs.problem()).regret < 0.8 * before


def test_a_problem_without_a_model_is_refused_by_what_needs_its_relaxation():
    opaque = Problem(oracle=lambda costs: (costs < 0).double(), dimension=6)
    for name in ("spo-relax", "qptl", "interior"):
        with pytest.raises(InputError, match="MILP"):
            methods.make_loss(name, opaque, runs.data())
    assert isinstance(methods.make_loss("spo", opaque, runs.data()), SPOPlus)


def test_models_of_the_user_are_trained_as_they_are():
    class Mine(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(runs.FEATURES))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.weight

    model, train = Mine(), runs.data()
    fit(model, methods.make_loss("soft", runs.problem(), train), train, epochs=1, progress=False)
    assert not torch.equal(model.weight, torch.ones(runs.FEATURES))
