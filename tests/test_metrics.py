"""Exact metrics against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regretless import metrics
from regretless.errors import InputError, SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.types import Status

KNAPSACK = MILP([[3.0, 4.0, 5.0, 2.0]], row_upper=8.0)
POINTS = torch.tensor(
    [x for x in itertools.product([0.0, 1.0], repeat=4) if np.dot(x, [3, 4, 5, 2]) <= 8], dtype=torch.float64
)
COSTS = st.lists(st.floats(-9, 9), min_size=4, max_size=4)


def best(costs: torch.Tensor) -> torch.Tensor:
    """Minimizing brute force."""
    return POINTS[(costs @ POINTS.T).argmin(dim=1)]


@settings(max_examples=25)
@given(st.lists(st.tuples(COSTS, COSTS), min_size=1, max_size=3), st.sampled_from(["min", "max"]))
def test_regret_is_what_brute_force_says_and_never_negative(pairs, sense):
    predicted, true = (torch.tensor([pair[i] for pair in pairs], dtype=torch.float64) for i in (0, 1))
    sign = 1.0 if sense == "min" else -1.0
    problem = Problem(KNAPSACK, sense=sense)
    solution = best(sign * true)
    regrets = metrics.regret(problem, predicted, true, solution)
    assert (regrets >= -1e-9).all()
    # Ties at the prediction may be broken either way; the regret lies between those of the tied decisions.
    values, truths = sign * predicted @ POINTS.T, sign * true @ POINTS.T
    for row in range(len(pairs)):
        tied = values[row] <= values[row].min() + 1e-6
        of_tied = truths[row][tied] - truths[row].min()
        assert of_tied.min() - 1e-6 <= regrets[row] <= of_tied.max() + 1e-6


def test_a_perfect_prediction_has_no_regret_and_the_worst_has_the_range():
    problem = Problem(KNAPSACK, sense="max")
    true = torch.tensor([[1.0, 2.0, 3.0, 4.0]], dtype=torch.float64)
    solution = best(-true)
    assert metrics.regret(problem, true, true, solution).tolist() == [0.0]
    worst = metrics.regret(problem, -true, true, solution)
    assert worst.item() == metrics.optimal_values(problem, true, solution).item() == 7.0


def test_known_costs_enter_the_regret_in_both_senses():
    fixed = np.array([0.0, 5.0, 0.0, 0.0])
    for sense, sign in (("min", 1.0), ("max", -1.0)):
        milp = MILP(KNAPSACK.A, row_upper=8.0, fixed_cost=sign * fixed, constant=sign * 2.0)
        problem = Problem(milp, sense=sense)
        true = sign * torch.tensor([[-3.0, -4.0, -1.0, -1.0]], dtype=torch.float64)
        blind = sign * torch.tensor([[-3.0, -9.0, -1.0, -1.0]], dtype=torch.float64)
        solution = problem.attempt(problem.to_minimization(true)).solution
        # Best by hand: items 0 and 2 (-4 + 2); the prediction takes item 1 with item 0: -3 - 4 + 5 + 2 = 0.
        assert metrics.optimal_values(problem, true, solution).item() == sign * -2.0
        assert metrics.regret(problem, blind, true, solution).item() == 2.0


@pytest.mark.parametrize("dress", [np.asarray, lambda x: x.tolist(), lambda x: pd.DataFrame(x.numpy())])
def test_arrays_lists_and_frames_have_the_regret_of_tensors(dress):
    problem = Problem(KNAPSACK, sense="max")
    true, predicted = torch.tensor([[1.0, 2.0, 3.0, 4.0]] * 2), torch.tensor([[4.0, 3.0, 2.0, 1.0]] * 2)
    given = predicted, true, best(-true.double())
    assert torch.equal(metrics.regret(problem, *map(dress, given)), metrics.regret(problem, *given))


def test_columns_of_data_frames_go_by_name():
    problem = Problem(MILP(KNAPSACK.A, row_upper=8.0, names=("a", "b", "c", "d")), sense="max")
    true = pd.DataFrame([[1.0, 2.0, 3.0, 4.0]], columns=["a", "b", "c", "d"])
    assert metrics.regret(problem, true[["d", "b", "a", "c"]], true, best(-torch.tensor(true.to_numpy()))).item() == 0.0


def test_ids_of_a_family_may_be_a_list():
    problem = Problem(Family.vary(KNAPSACK, row_upper=[[8.0]]), sense="max")
    true = torch.tensor([[1.0, 2.0, 3.0, 4.0]])
    ids = problem.family.add(row_upper=[[2.0]])
    assert metrics.regret(problem, true, true, [[0.0, 0.0, 0.0, 1.0]], ids).tolist() == [0.0]


def test_wrong_shapes_are_named():
    problem, costs = Problem(KNAPSACK), torch.ones(2, 4)
    for parts, message in (
        ((costs, costs[:1], costs), r"predicted must have the shape of true, \(1, 4\), got \(2, 4\)"),
        ((costs[:, :3], costs[:, :3], costs), r"predicted must have shape \(n, 4\), got \(2, 3\)"),
        ((costs, costs, costs[:, :3]), r"solution must have shape \(2, 4\), got \(2, 3\)"),
        ((costs, costs, costs[:1]), r"solution must have shape \(2, 4\), got \(1, 4\)"),
    ):
        with pytest.raises(InputError, match=message):
            metrics.regret(problem, *parts)


def test_blocks_change_nothing(monkeypatch):
    problem = Problem(KNAPSACK)
    generator = torch.Generator().manual_seed(0)
    predicted, true = (torch.randn(7, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    solution = best(true)
    whole = metrics.regret(problem, predicted, true, solution)
    monkeypatch.setattr(metrics, "SOLVE_BATCH", 3)
    assert torch.equal(metrics.regret(problem, predicted, true, solution), whole)


def test_failures_are_named_by_their_row_in_the_data_or_left_as_nan(monkeypatch):
    monkeypatch.setattr(metrics, "SOLVE_BATCH", 2)

    def solver(costs):
        if costs[0] > 5:
            raise RuntimeError("no luck")
        return (costs < 0).astype(float)

    predicted = torch.tensor([[-1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [9.0, 1.0], [1.0, -1.0]])
    true, solution = torch.ones(5, 2), torch.zeros(5, 2)
    with pytest.raises(SolveError, match="instance 3 of the batch"):
        metrics.regret(Problem(oracle=solver, dimension=2), predicted, true, solution)
    regrets = metrics.regret(Problem(oracle=solver, dimension=2, on_failure="skip"), predicted, true, solution)
    assert torch.isnan(regrets).tolist() == [False, False, False, True, False]
    assert regrets[~torch.isnan(regrets)].tolist() == [1.0, 0.0, 0.0, 1.0]


def test_a_decision_that_beats_its_label_is_refused_unless_the_label_is_only_a_bound():
    problem = Problem(KNAPSACK, sense="max")
    true = torch.ones(3, 4, dtype=torch.float64)
    solution = best(-true)
    solution[1] = 0.0
    with pytest.raises(SolveError, match=r"instance 1 of the batch has a solution with objective 2 at .* label with 0"):
        metrics.regret(problem, true, true, solution)
    status = [Status.OPTIMAL, Status.TIME_LIMIT, Status.OPTIMAL]
    assert metrics.regret(problem, true, true, solution, status=status).tolist() == [0.0, -2.0, 0.0]
    counts = problem.statistics.by_purpose
    assert (counts["evaluation"].solves, problem.statistics.solves) == (6, 6)
    with problem.counted_as("watching"):
        metrics.regret(problem, true[:1], true[:1], solution[:1])
    assert counts["watching"].solves == 1


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1e-3, 1.0, 1e6, 1e12]))
def test_valid_engines_never_raise_a_false_alarm(seed, scale):
    # continuous variables and degenerate ties: the answer may beat the label by an engine's tolerance
    rng = np.random.default_rng(seed)
    milp = MILP(rng.random((3, 6)), row_upper=rng.random(3) + 0.5, upper=2.0, integer=rng.random(6) < 0.5)
    true = torch.as_tensor(scale * rng.integers(1, 5, (4, 6)).astype(float))
    problem = Problem(milp, sense="max")
    solution = problem.solve(true).solution
    noise = torch.as_tensor(1 + 1e-7 * rng.normal(size=(4, 6)))
    metrics.regret(problem, (true * noise).float(), true, solution)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_predictions_that_are_no_numbers_are_named(bad):
    predicted = torch.zeros(70, 4)
    predicted[66, 2] = bad
    with pytest.raises(InputError, match=rf"got {bad} for instance 66, cost 2"):
        metrics.regret(Problem(KNAPSACK), predicted, torch.zeros(70, 4), torch.zeros(70, 4))


def test_shapes_must_agree():
    with pytest.raises(InputError, match=r"\(2, 4\), got \(1, 4\)"):
        metrics.regret(Problem(KNAPSACK), torch.zeros(1, 4), torch.zeros(2, 4), torch.zeros(2, 4))


def test_no_instances_have_no_regret():
    assert metrics.regret(Problem(KNAPSACK), torch.zeros(0, 4), torch.zeros(0, 4), torch.zeros(0, 4)).shape == (0,)


def test_relative_regret_is_a_ratio_of_sums_over_known_instances():
    nan = float("nan")
    value = metrics.relative_regret(torch.tensor([1.0, nan, 3.0]), torch.tensor([-10.0, 99.0, 30.0]))
    assert value == pytest.approx(0.1)
    assert np.isnan(metrics.relative_regret(torch.tensor([1.0]), torch.tensor([0.0])))


def test_mse_is_over_all_costs():
    assert metrics.mse(torch.tensor([[1.0, 2.0]]), torch.tensor([[0.0, 4.0]])) == 2.5


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), min_size=2, max_size=12))
def test_auc_counts_pairs_with_ties_as_halves(pairs):
    scores = torch.tensor([[score for score, _ in pairs]])
    labels = torch.tensor([[float(label) for _, label in pairs]])
    positive = [score for score, label in pairs if label]
    negative = [score for score, label in pairs if not label]
    found = metrics.auc(scores, labels)
    if not positive or not negative:
        assert found is None
        return
    wins = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
    assert found == pytest.approx(wins / (len(positive) * len(negative)))


def test_auc_needs_labels():
    assert metrics.auc(torch.rand(1, 3), torch.tensor([[0.0, 1.0, 2.0]])) is None


def test_a_model_in_place_of_a_problem_is_named():
    milp = MILP([[1.0, 1.0]], row_upper=1.0)
    with pytest.raises(InputError, match=r"problem must be a Problem, got MILP: build it with Problem\(model\)"):
        metrics.regret(milp, [[1.0, 2.0]], [[1.0, 2.0]], [[1.0, 0.0]])


def test_regret_refuses_infeasible_labels_and_true_costs_that_are_not_finite():
    problem, costs = Problem(KNAPSACK, sense="max"), torch.ones(2, 4)
    label = problem.solve(costs).solution
    with pytest.raises(InputError, match="row 1 of the solutions is infeasible for the model"):
        metrics.regret(problem, costs, costs, [label[0].tolist(), [1.0] * 4])
    with pytest.raises(InputError, match="solution must be finite, got NaN or infinity in row 1"):
        metrics.regret(problem, costs, costs, [label[0].tolist(), [np.nan] * 4])
    true = costs.clone()
    true[1, 2] = torch.nan
    with pytest.raises(InputError, match="true must be finite, got nan for instance 1, cost 2"):
        metrics.regret(problem, costs, true, label)


def test_regret_refuses_a_status_that_does_not_belong_to_the_labels():
    problem, costs = Problem(KNAPSACK, sense="max"), torch.ones(2, 4)
    label = problem.solve(costs).solution
    with pytest.raises(InputError, match="status must have one entry for each of the 2 labels, got 1"):
        metrics.regret(problem, costs, costs, label, status=[Status.OPTIMAL])
