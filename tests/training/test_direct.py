from __future__ import annotations

import signal
import sys
from dataclasses import replace

import pytest
import torch
from torch import nn

from regretless.data import Dataset
from regretless.errors import FileError, InputError, MissingDependencyError, SolveError
from regretless.family import Family
from regretless.losses import SPOPlus
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.training import Interrupted, evaluate, fit
from regretless.training.direct import direct
from regretless.types import Solved, Status

from . import runs

pytest.importorskip("cma", reason="direct search needs the package cma")


def regret(model: nn.Module, data: Dataset) -> float:
    return evaluate(model, data, runs.problem()).regret


def test_it_lowers_the_training_regret_from_a_random_start():
    train, model = runs.data(40), runs.model()
    before = regret(model, train)
    fitted = direct(model, runs.problem(), train, generations=25)
    assert fitted.model is model
    assert regret(model, train) < 0.7 * before
    assert fitted.reason.startswith(("all 25 generations", "the search has converged"))


def test_it_ends_at_or_below_a_decision_loss_that_it_polishes():
    train, model = runs.data(40), runs.model()
    fit(model, SPOPlus(runs.problem()), train, epochs=10, progress=False)
    before = regret(model, train)
    direct(model, runs.problem(), train, generations=15, sigma=0.1)
    assert regret(model, train) < before


@pytest.mark.parametrize("sigma", [0.3, 50.0])
@pytest.mark.parametrize("validated", [False, True])
def test_polishing_never_ends_worse_on_the_data_that_picks(validated, sigma):
    train, model = runs.data(20), runs.model()
    validation = runs.data(20, seed=1)
    fit(model, SPOPlus(runs.problem()), validation if validated else train, epochs=20, progress=False)
    picks = validation if validated else train
    before = regret(model, picks)
    # One wild generation from weights that were trained on what picks: hardly anything it finds is better.
    for seed in range(3):
        direct(
            model, runs.problem(), train, generations=1, sigma=sigma, seed=seed,
            validation=validation if validated else None,
        )  # fmt: skip
        assert regret(model, picks) <= before


def test_validation_picks_the_best_of_all_means():
    train, validation, model = runs.data(20), runs.data(20, seed=1), runs.model()
    before = regret(model, validation)
    fitted = direct(model, runs.problem(), train, generations=12, validation=validation)
    seen = fitted.history.column("validation_regret")
    assert len(seen) == 12
    assert regret(model, validation) == pytest.approx(min([before, *seen]))


def test_the_search_ends_when_validation_gets_no_better():
    train, validation, model = runs.data(8), runs.data(8, seed=1), runs.model()
    fitted = direct(model, runs.problem(), train, generations=60, validation=validation, patience=2)
    seen = fitted.history.column("validation_regret")
    assert len(seen) < 60
    assert fitted.reason.startswith("no better validation regret than")
    assert min(seen[-2:]) >= min(seen[:-2], default=float("inf"))


def test_the_seed_decides_and_nothing_else():
    train = runs.data(10)
    found = []
    for seed in (0, 0, 1):
        torch.rand(3)  # the global generator plays no part
        model = runs.model()
        direct(model, runs.problem(), train, generations=4, seed=seed)
        found.append(runs.weights(model))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_the_global_generators_are_left_alone():
    before = torch.random.get_rng_state()
    direct(runs.model(), runs.problem(), runs.data(6), generations=2)
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_history_counts_the_solves_of_every_generation():
    train, problem = runs.data(7), runs.problem()
    fitted = direct(runs.model(), problem, train, generations=3, population=6)
    assert fitted.history.column("solves") == [6 * 7] * 3
    assert fitted.history.column("epoch") == [1, 2, 3]
    assert all(value >= 0 for value in fitted.history.column("loss"))


def test_a_model_whose_weights_are_zero_can_start():
    train, model = runs.data(20), runs.model()
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    before = regret(model, train)
    direct(model, runs.problem(), train, generations=10)
    assert regret(model, train) < before


def test_families_are_searched_with_their_own_constraints():
    family = Family([MILP([[3.0, 4.0, 5.0]], row_upper=limit) for limit in (4.0, 7.0, 9.0)])
    problem = Problem(family, sense="max")
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(12, 3, 2, generator=generator)
    costs = (features[..., 0].exp() + 0.1).double()
    train = Dataset.solve(problem, features, costs, instance=torch.arange(12) % 3)
    model = nn.Sequential(nn.Linear(2, 1, bias=False), nn.Flatten())
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([[-1.0, 0.5]]))
    before = evaluate(model, train, problem).regret
    direct(model, problem, train, generations=10)
    after = evaluate(model, train, problem).regret
    assert 0 <= after < before


class OneWeight(nn.Module):
    """Values by one feature, with the wrong sign at first."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(-1.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x[..., 0]


def test_a_model_of_one_parameter_finds_its_sign():
    model = OneWeight()
    direct(model, runs.problem(), runs.data(10), generations=10, sigma=1.0)
    assert model.weight.item() > 0


def test_the_smallest_population_is_two():
    fitted = direct(runs.model(), runs.problem(), runs.data(5), generations=3, population=2)
    assert fitted.history.column("solves") == [10, 10, 10]


class TwoSides(nn.Module):
    """Predictions with the wrong decision below a weight of zero, and others above it."""

    def __init__(self, above: float) -> None:
        super().__init__()
        self.weight, self.above = nn.Parameter(torch.tensor(-1.0)), above

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.stack([torch.zeros(()), torch.where(self.weight < 0, 1.0, self.above)])


@pytest.mark.parametrize("validated", [False, True])
@pytest.mark.parametrize("above", [torch.inf, 2.0], ids=["not finite", "all solves fail"])
def test_candidates_without_finite_predictions_or_without_any_solution_are_the_worst(above, validated):
    def first_unless_below(costs):
        if costs[1] == 2.0:
            raise RuntimeError("no luck")
        return [1.0, 0.0] if costs[0] >= costs[1] else [0.0, 1.0]

    costs = torch.tensor([[3.0, 1.0]] * 3, dtype=torch.float64)  # costs of zero have the right decision
    problem = Problem(oracle=first_unless_below, dimension=2, sense="max", on_failure="skip")
    train, model = Dataset.solve(problem, torch.ones(3, 1), costs), TwoSides(above)
    direct(model, problem, train, generations=3, sigma=1.0, validation=train if validated else None)
    assert model.weight.item() < 0


def test_labels_that_are_not_optimal_may_be_beaten():
    train = runs.data(5)
    status = (Status.TIME_LIMIT,) * len(train)
    loose = Dataset(train.features, train.costs, torch.zeros_like(train.solutions), None, status)
    assert min(direct(runs.model(), runs.problem(), loose, generations=2).history.column("loss")) < 0


def test_the_first_step_is_relative_to_the_size_of_the_weights(monkeypatch):
    import cma

    steps, whole = [], cma.CMAEvolutionStrategy
    monkeypatch.setattr(cma, "CMAEvolutionStrategy", lambda x, step, how: steps.append(step) or whole(x, step, how))
    for size in (4.0, 0.0):
        model = runs.model()
        for parameter in model.parameters():
            nn.init.constant_(parameter, size)
        direct(model, runs.problem(), runs.data(3), generations=1, sigma=0.5)
    assert steps == [2.0, 0.5]


class SometimesFails:
    """Solves by the problem's own oracle, but not where the first cost is positive."""

    def __init__(self, backend) -> None:
        self.backend = backend

    def solve(self, costs, instance=None, *, decision=False):
        solved = self.backend.solve(costs)
        bad = costs[:, 0] > 0
        status = [Status.ERROR if b else Status.OPTIMAL for b in bad.tolist()]
        return Solved(torch.where(bad[:, None], torch.nan, solved.solution), status, message={})


def test_failed_solves_are_raised_or_left_out_as_the_problem_says():
    train = runs.data(6)
    for on_failure in ("raise", "skip"):
        problem = runs.problem()
        problem.backend, problem.on_failure = SometimesFails(problem.backend), on_failure
        if on_failure == "raise":
            with pytest.raises(SolveError, match="instance"):
                direct(runs.model(), problem, train, generations=3)
        else:
            fitted = direct(runs.model(), problem, train, generations=3)
            assert fitted.history.total("failed") > 0
            assert all(torch.isfinite(runs.weights(fitted.model)))


@pytest.mark.parametrize(
    "settings", [{"generations": 0}, {"sigma": 0.0}, {"sigma": float("nan")}, {"patience": 0}, {"population": 1}]
)
def test_settings_that_make_no_sense_are_named(settings):
    with pytest.raises(InputError, match=next(iter(settings))):
        direct(runs.model(), runs.problem(), runs.data(3), **settings)


def test_too_many_parameters_are_named():
    big = nn.Sequential(nn.Linear(runs.FEATURES, 300), nn.Linear(300, 1), nn.Flatten())
    with pytest.raises(InputError, match="models of 1 to 1000 parameters, got 1801"):
        direct(big, runs.problem(), runs.data(3))
    with pytest.raises(InputError, match="no parameters to train"):
        direct(nn.Identity(), runs.problem(), runs.data(3))


def test_a_missing_package_is_named_with_its_pip_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(MissingDependencyError, match="pip install 'cma'"):
        direct(runs.model(), runs.problem(), runs.data(3))


@pytest.mark.parametrize("with_validation", [False, True])
def test_a_search_that_was_stopped_goes_on_from_its_checkpoint(tmp_path, monkeypatch, with_validation):
    train, validation = runs.data(8), runs.data(6) if with_validation else None
    settings = {"generations": 9, "validation": validation, "seed": 3}
    whole = direct(runs.model(), runs.problem(), train, **settings)
    path, problem = tmp_path / "search", runs.problem()
    plain, asked = problem.attempt, []

    def fails(*arguments, **options):
        asked.append(1)
        if len(asked) > 5:
            raise RuntimeError("the power failed")
        return plain(*arguments, **options)

    monkeypatch.setattr(problem, "attempt", fails)
    with pytest.raises(RuntimeError, match="the power failed"):
        direct(runs.model(), problem, train, checkpoint=path, **settings)
    again = runs.problem()
    resumed = direct(runs.model(), again, train, checkpoint=path, **settings)
    for one, two in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        assert torch.equal(one, two)
    assert again.statistics.solves < sum(row["solves"] for row in whole.history.rows)
    assert [row["loss"] for row in resumed.history.rows] == [row["loss"] for row in whole.history.rows]
    assert resumed.reason == whole.reason


def test_an_interrupted_search_ends_after_the_generation_with_its_weights(tmp_path):
    train, path, settings = runs.data(6), tmp_path / "search", {"generations": 4, "progress": False}
    first, whole = (direct(runs.model(), runs.problem(), train, generations=k).model for k in (2, 4))
    net, problem = runs.model(), runs.problem()
    plain, asked = problem.backend.solve, []

    def interrupted(*arguments, **options):
        asked.append(1)
        if len(asked) == 2:
            signal.raise_signal(signal.SIGINT)
        return plain(*arguments, **options)

    problem.backend.solve = interrupted
    with pytest.raises(Interrupted, match=r"SIGINT: direct search ended after generation 2; it is kept in .*search"):
        direct(net, problem, train, checkpoint=path, **settings)
    assert torch.equal(runs.weights(net), runs.weights(first))
    resumed = direct(runs.model(), runs.problem(), train, checkpoint=path, **settings)
    assert torch.equal(runs.weights(resumed.model), runs.weights(whole))


def test_a_checkpoint_of_another_or_a_longer_search_is_refused_and_left(tmp_path):
    path, train = tmp_path / "search", runs.data(6)
    direct(runs.model(), runs.problem(), train, generations=3, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(FileError, match="belongs to another search: seed was 0, is 1"):
        direct(runs.model(), runs.problem(), train, generations=3, seed=1, checkpoint=path)
    with pytest.raises(FileError, match="holds 3 generations already, more than the 2"):
        direct(runs.model(), runs.problem(), train, generations=2, checkpoint=path)
    with pytest.raises(FileError, match="belongs to another search: data was"):
        direct(runs.model(), runs.problem(), runs.data(7), generations=3, checkpoint=path)
    other = runs.model()
    nn.init.ones_(other.linear.weight)
    with pytest.raises(FileError, match="belongs to another search: first was"):
        direct(other, runs.problem(), train, generations=3, checkpoint=path)
    assert path.read_bytes() == before
    ended = runs.problem()
    assert len(direct(runs.model(), ended, train, generations=3, checkpoint=path).history) == 3
    assert ended.statistics.solves == 2 * len(train), "of the comparison at the end only"
    longer = direct(runs.model(), runs.problem(), train, generations=4, checkpoint=path)
    assert len(longer.history) == 4


def test_the_last_generation_is_no_convergence():
    fitted = direct(runs.model(), runs.problem(), runs.data(8), generations=2)
    assert fitted.reason == "all 2 generations done"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed must be an integer from 0"),  # which would be the clock of cma
        ({"validation": "held out"}, "validation must be a Dataset, got str"),
        ({"validation": runs.data(3)[:0]}, "validation needs data, got 0 instances"),
        ({"train": None}, "train must be a Dataset, got NoneType"),
        ({"train": replace(runs.data(8), features=torch.zeros(8, 6, 3))}, "the model Model cannot predict from"),
    ],
)
def test_arguments_that_cannot_work_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        direct(runs.model(), runs.problem(), **({"train": runs.data(8), "generations": 1} | change))
