from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from regretless import metrics
from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.losses import MAP
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.problems.settings import seeded
from regretless.training import evaluate, fit, predict
from regretless.training.evaluation import evaluate_instances, to_loss
from regretless.training.running_stack import RunningStack
from regretless.training.stacked_models import Setting
from regretless.types import Solved, Status

from .runs import cache, data, model, problem

DATA = data(9, seed=2)


def test_figures_are_those_of_the_metrics():
    net = model()
    result = evaluate(net, DATA, problem())
    with torch.no_grad():
        predicted = net(DATA.features)
    regrets = metrics.regret(problem(), predicted, DATA.costs, DATA.solutions)
    optimal = (DATA.costs * DATA.solutions).sum(dim=1)
    assert result.regret == pytest.approx(regrets.mean().item())
    assert result.relative_regret == pytest.approx((regrets.sum() / optimal.sum()).item())
    assert result.mse == pytest.approx((predicted - DATA.costs).square().mean().item())
    assert (result.auc, result.instances, result.failed, result.not_optimal) == (None, 9, 0, 0)
    assert result.as_dict()["regret"] == result.regret


def test_predictions_take_arrays_lists_and_booleans():
    net = model()
    expected = predict(net, DATA.features)
    for given in (DATA.features.numpy().astype("float64"), DATA.features.tolist()):
        assert torch.equal(predict(net, given), expected)
    assert torch.equal(predict(net, DATA.features.numpy() > 0), predict(net, (DATA.features > 0).float()))
    with pytest.raises(InputError, match=r"features must have shape \(n, ...\), got one number"):
        predict(net, 1.0)
    with pytest.raises(InputError, match="features must be numbers, got str"):
        predict(net, "text")


def test_predicted_costs_are_evaluated_as_the_model_that_predicts_them():
    net = model()
    expected, predicted = evaluate(net, DATA, problem()), predict(net, DATA.features)
    for given in (predicted, predicted.double().numpy(), predicted.tolist()):
        assert evaluate(given, DATA, problem()) == expected
    with pytest.raises(InputError, match=r"predicted costs must have shape \(9, 6\), got \(8, 6\)"):
        evaluate(predicted[1:], DATA, problem())


def test_columns_of_a_data_frame_of_predicted_costs_are_matched_by_name():
    frames = pytest.importorskip("pandas")
    named = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=3, cost_names=["a", "b", "c"])
    costs = torch.tensor([[1.0, 2.0, 3.0], [5.0, 4.0, 6.0]])
    given = Dataset.solve(named, torch.zeros(2, 1), costs)
    frame = frames.DataFrame(costs[:, [2, 0, 1]].numpy(), columns=["c", "a", "b"])
    assert (evaluate(frame, given, named).regret, evaluate(frame, given, named).mse) == (0.0, 0.0)


def test_the_truth_has_no_regret():
    truth = Dataset(DATA.costs, DATA.costs, DATA.solutions)
    result = evaluate(nn.Identity(), truth, problem())
    assert (result.regret, result.relative_regret, result.mse) == (0.0, 0.0, 0.0)


def test_evaluation_never_touches_the_cache():
    memory = cache(DATA, p_solve=1.0)
    before = memory.state_dict()
    evaluate(model(), DATA, memory.problem)
    after = memory.state_dict()
    assert torch.equal(before["store"]["rows"], after["store"]["rows"])
    assert before["coin"] == after["coin"]
    assert before["statistics"] == after["statistics"]
    assert memory.problem.statistics.solves == len(DATA)


def test_evaluation_is_exact_even_with_a_bad_cache():
    memory = cache(DATA[:1], p_solve=0.0)  # one solution only
    fitted = fit(model(), MAP(memory), DATA, epochs=1, validation=DATA)
    assert fitted.history[0]["regret"] == evaluate(fitted.model, DATA, problem()).regret


def test_models_are_evaluated_in_evaluation_mode_and_left_as_they_were():
    net = model(dropout=0.9)
    net.train()
    assert torch.equal(predict(net, DATA.features), predict(net, DATA.features))
    assert net.training
    net.eval()
    predict(net, DATA.features)
    assert not net.training

    class Broken(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ZeroDivisionError

    broken = Broken()
    with pytest.raises(InputError, match=r"the model Broken cannot predict .* ZeroDivisionError"):
        predict(broken, DATA.features)
    assert broken.training


def test_predictions_come_in_batches_without_a_gradient(monkeypatch):
    import sys

    whole = predict(model(), DATA.features)
    monkeypatch.setattr(sys.modules["regretless.training.evaluation"], "PREDICT_BATCH", 4)
    parts = predict(model(), DATA.features)
    assert torch.allclose(whole, parts)
    assert not parts.requires_grad


def test_features_follow_the_precision_of_the_model_unless_they_are_ids():
    assert predict(nn.Linear(4, 1).double(), DATA.features).dtype == torch.float64
    assert predict(nn.Embedding(3, 2), torch.tensor([0, 2])).shape == (2, 2)


def test_failed_solves_are_counted_and_left_out():
    def solver(costs):
        if costs[0] > 0:
            raise RuntimeError("no luck")
        return (costs < 0) * 1.0

    some = Problem(oracle=solver, dimension=2, on_failure="skip")
    costs = torch.tensor([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]], dtype=torch.float64)
    given = Dataset(costs, costs, torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]).double())
    result = evaluate(nn.Identity(), given, some)
    assert (result.instances, result.failed) == (2, 1)
    assert result.regret == 0.0
    nothing = evaluate(nn.Identity(), given[:1], some)
    assert math.isnan(nothing.regret)
    assert (nothing.instances, nothing.failed) == (0, 1)


def test_labels_that_are_not_optimal_are_flagged_and_may_be_beaten():
    labels = DATA.solutions.clone()
    labels[1] = 0.0
    status = (Status.OPTIMAL, Status.TIME_LIMIT) + 7 * (Status.OPTIMAL,)
    result = evaluate(nn.Identity(), Dataset(DATA.costs, DATA.costs, labels, None, status), problem())
    assert result.not_optimal == 1
    assert result.regret < 0.0


@pytest.mark.parametrize("name", ["failed", "not_optimal", "cut_short"])
def test_an_evaluation_is_exact_where_nothing_failed_and_all_is_proven(name):
    exact = evaluate(model(), DATA, problem())
    assert exact.exact
    assert not replace(exact, **{name: 1}).exact


def test_results_per_instance_are_those_of_the_figures():
    net, solver = model(), problem()
    result, found = evaluate_instances(net, DATA, solver)
    assert torch.equal(found.predicted, predict(net, DATA.features))
    assert torch.equal(found.solutions, solver.solve(found.predicted).solution)
    assert found.regrets.mean().item() == result.regret


def test_a_bar_is_shown_on_request_only(monkeypatch):
    shown = []
    monkeypatch.setattr("regretless.solve_batches.track", lambda parts, *, show, **how: shown.append(show) or parts)
    evaluate(model(), DATA, problem())
    evaluate(model(), DATA, problem(), progress=None)
    assert shown == [False, None]


def test_binary_costs_have_an_auc():
    labels = (DATA.costs > DATA.costs.median()).double()
    given = Dataset(labels, labels, DATA.solutions)
    assert evaluate(nn.Identity(), given, problem()).auc == 1.0
    assert evaluate(nn.Identity(), Dataset(-labels, labels, DATA.solutions), problem()).auc == 0.0


def test_a_prediction_that_is_no_number_is_named():
    broken = model()
    with torch.no_grad():
        broken.linear.bias.fill_(math.nan)
    with pytest.raises(InputError, match="predicted must be finite, got nan for instance 0, cost 0"):
        evaluate(broken, DATA, problem())


def test_errors_of_a_rank_name_the_row_in_the_data():
    def solver(costs):
        if costs[0] == 7.0:
            raise RuntimeError("no luck")
        return [0.0, 0.0]

    costs = torch.arange(9.0, dtype=torch.float64)[:, None].repeat(1, 2)
    given = Dataset(costs, costs, torch.zeros(9, 2, dtype=torch.float64))
    ranks = SimpleNamespace(rank=1, size=2)
    with pytest.raises(SolveError, match=r"instance 7 of the batch: .*no luck"):
        evaluate(nn.Identity(), given, Problem(oracle=solver, dimension=2), ranks=ranks)
    bad = replace(given, features=given.features.where(costs != 6.0, torch.nan))
    with pytest.raises(InputError, match="predicted must be finite, got nan for instance 6, cost 0"):
        evaluate(nn.Identity(), bad, Problem(oracle=solver, dimension=2), ranks=ranks)
    for label, said in ((9.0, "row 8 of the solutions is infeasible"), (torch.nan, "got NaN or infinity in row 8")):
        bad = replace(DATA, solutions=DATA.solutions.index_fill(0, torch.tensor([8]), label))
        with pytest.raises(InputError, match=said):
            evaluate(model(), bad, problem(), ranks=ranks)


def test_decisions_that_were_cut_short_are_counted_apart_from_failures():
    given, exact = data(6), problem()

    class Hasty:
        """Right, but with nothing to prove it for the first two, and no answer for the third."""

        def solve(self, costs, instance=None, *, decision=False):
            solution = exact.backend.solve(costs).solution.clone()
            solution[2] = torch.nan
            status = [Status.TIME_LIMIT] * 3 + [Status.OPTIMAL] * (len(costs) - 3)
            return Solved(solution, status)

    hasty = Problem(exact.model, oracle=Hasty(), sense="max", on_failure="skip")
    result = evaluate(model(), given, hasty)
    assert (result.cut_short, result.failed, result.not_optimal, result.instances) == (2, 1, 0, 5)
    assert not result.exact
    assert evaluate(model(), given, exact).exact


def test_arguments_of_another_type_are_named():
    with pytest.raises(InputError, match=r"model must be a torch module, a fitted regressor .* got int"):
        evaluate(3, DATA, problem())
    with pytest.raises(InputError, match=r"data must be a Dataset, got Problem: build it with Dataset.solve\("):
        evaluate(model(), problem(), DATA)
    with pytest.raises(InputError, match="problem must be a Problem, got SolutionCache"):
        evaluate(model(), DATA, cache(DATA))


def test_a_model_that_writes_into_its_input_changes_no_data():
    class Centers(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x -= 1.0
            return x[..., 0]

    before, trained = DATA.features.clone(), Centers()
    trained.weight = nn.Parameter(torch.zeros(()))
    for net in (Centers(), trained):
        assert torch.equal(predict(net, DATA.features), before[..., 0] - 1.0)
        assert torch.equal(DATA.features, before)


def test_predicting_leaves_the_mode_of_every_part_as_it_was():
    net = nn.Sequential(nn.Flatten(), nn.Linear(24, 6), nn.BatchNorm1d(6))
    net[2].eval()  # its statistics stay, while the rest is trained
    predict(net, DATA.features)
    assert [part.training for part in net.modules()] == [True, True, True, False]


def test_a_model_for_other_features_is_refused_with_their_shape():
    with pytest.raises(InputError, match=r"Linear cannot predict from features of shape \(9, 6, 4\): RuntimeError"):
        evaluate(nn.Linear(3, 1), DATA, problem())


HALF = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])


def half_data() -> tuple[Problem, Dataset]:
    """Labels of up to 601, a number that bfloat16 does not have."""
    problem = Problem(MILP([[1.0, 1.0, 1.0]], row_upper=1000.0, upper=601.0), sense="max")
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(30, 3, generator=generator)
    return problem, Dataset.solve(problem, x, 5 + x.double() @ torch.randn(3, 3, generator=generator).double())


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_labels_have_the_precision_of_the_model_and_at_least_single_precision(model, labels):
    moved = to_loss(torch.tensor([601.0], dtype=torch.float64), torch.zeros(1, dtype=model))
    assert moved.dtype == labels
    assert moved.item() == 601.0


class Frozen(nn.Module):
    """Predicts the same costs in half precision whatever it is taught."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype, self.weight = dtype, nn.Parameter(torch.zeros(1, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        costs = torch.tensor([1.0, 2.0, 3.0], dtype=self.dtype) + self.weight * 0
        return costs.expand(len(x), 3)


@HALF
@pytest.mark.parametrize("streamed", [False, True])
def test_the_loss_of_a_model_in_half_precision_is_that_of_exact_labels(dtype, streamed):
    problem, train = half_data()
    found = []
    for of in (dtype, torch.float32):
        cache = SolutionCache(problem, train.solutions, p_solve=1.0)
        source = [train[:15], train[15:]] if streamed else train
        found.append(fit(Frozen(of), MAP(cache), source, epochs=1, lr=1e-3).history[0]["loss"])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_stacked_models_in_half_precision_have_exact_labels():
    problem, train = half_data()
    model = seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)), 0).to(torch.bfloat16)
    losses = [MAP(SolutionCache(problem, train.solutions), reduction="none")]
    stack = RunningStack([model], losses, [Setting(0, 0.1)], train, [torch.arange(30)], 8, 0, None)
    assert torch.equal(stack.solutions.double(), train.solutions)
    assert torch.equal(stack.costs, train.costs.float())
