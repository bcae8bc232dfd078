from __future__ import annotations

import copy
import pickle
import threading
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regretless.cache import SolutionCache
from regretless.errors import InputError, SolveError
from regretless.family import Family
from regretless.milp import MILP
from regretless.modeling import read
from regretless.problem import Problem
from regretless.relaxation import QuadraticProgram, Relaxation
from regretless.solvers.checked_solve import refuse_failures
from regretless.types import Solved, Status

KNAPSACK = MILP([[3.0, 4.0, 5.0]], row_upper=7.0)
FAMILY = Family([MILP([[1.0, 1.0]], row_upper=float(k)) for k in (0, 1, 2)])


class CheapestOf:
    """A backend over a list of points; costs whose first entry is 13 fail."""

    def __init__(self, points: list[list[float]]) -> None:
        self.points = torch.tensor(points, dtype=torch.float64)

    def solve(self, costs: torch.Tensor, instance: Any = None, *, decision: bool = False) -> Solved:
        solution = self.points[(costs.to(torch.float64) @ self.points.T).argmin(dim=1)]
        bad = costs[:, 0] == 13.0
        if not bad.any():
            return Solved(solution)
        solution[bad] = torch.nan
        status = [Status.INFEASIBLE if flag else Status.OPTIMAL for flag in bad.tolist()]
        return Solved(solution, status, message={int(k): "unlucky" for k in bad.nonzero()})


def corners() -> Problem:
    return Problem(oracle=CheapestOf([[1.0, 0.0], [0.0, 1.0]]), dimension=2)


@st.composite
def models(draw: st.DrawFn) -> tuple[MILP, np.ndarray[Any, Any]]:
    """Feasible binary models with and without cost map, known costs and constant; and costs for them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 5))
    d = draw(st.none() | st.integers(1, 4))
    milp = MILP(
        rng.integers(0, 6, (2, n)).astype(float),
        row_upper=rng.integers(0, 12, 2).astype(float),
        cost_map=None if d is None else rng.integers(-2, 3, (d, n)).astype(float),
        fixed_cost=draw(st.sampled_from([None, rng.integers(-5, 6, n).astype(float)])),
        constant=draw(st.sampled_from([0.0, 3.5])),
    )
    return milp, rng.integers(-9, 10, (3, milp.dimension)).astype(float)


def values(milp: MILP, costs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``(batch, points)`` objectives of all feasible points, from the definition."""
    box = np.array(list(product((0.0, 1.0), repeat=milp.n)))
    feasible = box[milp.check(box)]
    G = np.eye(milp.n) if milp.cost_map is None else milp.cost_map.toarray()
    return costs @ G @ feasible.T + feasible @ milp.fixed_cost + milp.constant


@given(case=models(), sense=st.sampled_from(["min", "max"]))
def test_objectives_are_those_of_brute_force_in_the_users_sense(
    case: tuple[MILP, np.ndarray[Any, Any]], sense: Any
) -> None:
    milp, costs = case
    decisions = Problem(milp, sense=sense).solve(costs)
    everything = values(milp, costs)
    best = everything.min(axis=1) if sense == "min" else everything.max(axis=1)
    assert decisions.objective.numpy() == pytest.approx(best)
    x = decisions.decision.numpy()
    assert milp.check(x).all()
    assert np.allclose(milp.solution(x), decisions.solution)
    assert decisions.status == [Status.OPTIMAL] * 3
    assert decisions.gap.tolist() == [0.0] * 3


@given(case=models())
def test_maximising_is_minimising_the_negative(case: tuple[MILP, np.ndarray[Any, Any]]) -> None:
    milp, costs = case
    if milp.has_fixed_cost:  # known costs change their sign too
        negative = MILP(
            milp.A,
            milp.row_lower,
            milp.row_upper,
            cost_map=milp.cost_map,
            fixed_cost=-milp.fixed_cost,
            constant=-milp.constant,
        )
    else:
        negative = milp
    up, down = Problem(milp, sense="max").solve(costs), Problem(negative, sense="min").solve(-costs)
    assert torch.equal(up.decision, down.decision)
    assert torch.allclose(up.objective, -down.objective)


@given(case=models(), sense=st.sampled_from(["min", "max"]))
def test_inward_costs_times_solution_is_the_minimised_objective(
    case: tuple[MILP, np.ndarray[Any, Any]], sense: Any
) -> None:
    milp, costs = case
    problem = Problem(milp, sense=sense)
    to_minimization = problem.to_minimization(torch.as_tensor(costs))
    assert to_minimization.shape == (3, problem.width)
    zero = np.zeros(milp.n)
    G0 = milp.solution(zero)[0]
    assert (to_minimization.numpy() @ G0) * problem.sign == pytest.approx(np.full(3, milp.constant))


def test_a_function_and_a_model_and_a_backend_agree() -> None:
    def best(costs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        points = np.array([x for x in product((0.0, 1.0), repeat=3) if KNAPSACK.check(x)[0]])
        return points[(points @ costs).argmax()]

    costs = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    by_model = Problem(KNAPSACK, sense="max").solve(costs)
    for problem in (Problem(KNAPSACK, oracle=best, sense="max"), Problem(oracle=best, dimension=3, sense="max")):
        assert torch.equal(problem.solve(costs).solution, by_model.solution)
        assert torch.allclose(problem.solve(costs).objective, by_model.objective)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_call_answers_in_the_dtype_of_the_costs(dtype: torch.dtype) -> None:
    costs = -torch.ones(2, 3, dtype=dtype, requires_grad=True)
    solution = Problem(KNAPSACK)(costs)
    assert solution.dtype == dtype
    assert not solution.requires_grad
    assert KNAPSACK.check(solution.to(torch.float64).numpy()).all()


def test_the_oracle_minimises_whatever_the_sense() -> None:
    costs = -torch.tensor([[1.0, 2.0, 4.0]])
    for sense in ("min", "max"):
        assert Problem(KNAPSACK, sense=sense)(costs).tolist() == [[0.0, 0.0, 1.0]]  # type: ignore[arg-type]


def test_a_failure_is_named_by_its_place_in_the_batch_whichever_query_it_belongs_to() -> None:
    def fails_above_5(c: Any) -> Any:
        if c[0] > 5:
            raise RuntimeError("too much")
        return c * 0.0

    problem, costs = Problem(oracle=fails_above_5, dimension=1), torch.tensor([[1.0], [3.0], [2.0]])
    with pytest.raises(SolveError, match="no solution for instance 1 of the batch: error") as raised:
        problem.answer([costs, 2.0 * costs], costs)
    assert raised.value.row == 1


def test_several_queries_are_answered_as_if_asked_one_by_one() -> None:
    problem = Problem(FAMILY)
    one, two = torch.tensor([[-1.0, -2.0]]).repeat(3, 1), torch.tensor([[-2.0, -1.0]]).repeat(3, 1)
    instance = torch.tensor([2, 0, 1])
    answers = problem.answer([one, two], one, instance)
    assert torch.equal(answers[0], problem(one, instance))
    assert torch.equal(answers[1], problem(two, instance))
    assert torch.equal(problem.answer([one], one, instance)[0], answers[0])
    assert problem.problem is problem


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("sense", ["min", "max"])
def test_costs_that_are_not_finite_are_named_as_the_user_wrote_them(value: float, sense: Any) -> None:
    problem = Problem(KNAPSACK, sense=sense)
    costs = torch.zeros(4, 3)
    costs[2, 1] = value
    with pytest.raises(InputError, match=rf"costs must be finite, got {value} at row 2, column 1"):
        problem.solve(costs)
    with pytest.raises(InputError, match="at row 2, column 1"):
        problem(costs)
    assert problem.statistics.solves == 0


def test_finite_costs_whose_sum_overflows_are_solved() -> None:
    assert corners()(torch.tensor([[-3e38, -2e38], [-2e38, -3e38]])).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.zeros((2, 4)), r"costs must have shape \(n, 3\), got \(2, 4\)"),
        (np.zeros(3), r"costs must have shape \(n, 3\), got \(3,\)"),
        (5.0, r"costs must have shape \(n, 3\), got \(\)"),
        ([[1.0], [1.0, 2.0]], "costs must be numbers, got list"),
        ("text", "costs must be numbers, got str"),
        ([[10**400, 1, 2]], "costs must be numbers, got list: int too large"),
    ],
)
def test_costs_of_another_shape_or_kind_are_refused(costs: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Problem(KNAPSACK).solve(costs)


def test_the_oracle_wants_the_width_of_cost_space() -> None:
    problem = Problem(MILP([[1.0, 1.0]], fixed_cost=1.0))
    with pytest.raises(InputError, match=r"costs must have shape \(batch, 3\), got \(1, 2\)"):
        problem(torch.zeros(1, 2))


def test_the_oracle_takes_no_integers_to_which_its_answers_would_be_rounded() -> None:
    whole, problem = torch.tensor([[-4, -5, -6]]), Problem(MILP([[3.0, 4, 5]], row_upper=5, integer=False))
    assert problem(whole.float()).tolist() == [[1.0, 0.5, 0.0]]
    for ask in (problem, Relaxation(problem, QuadraticProgram(tau=1.0)), SolutionCache(problem, [[1.0, 0.5, 0.0]])):
        with pytest.raises(InputError, match=r"floating-point numbers, got torch.int64: use costs.float\(\)"):
            ask(whole)


def test_an_empty_batch_is_solved() -> None:
    decisions = Problem(KNAPSACK).solve(np.zeros((0, 3)))
    assert decisions.solution.shape == (0, 3)
    assert decisions.status == []


@pytest.mark.parametrize(
    ("instance", "message"),
    [
        (None, r"this problem is a family of 3 instances: pass instance= with \(batch,\) ids"),
        ([0], r"instance must have shape \(2,\), got \(1,\)"),
        (1, r"instance must have shape \(2,\), got \(\)"),
        ([0, 3], "instance must be between 0 and 2, got 3"),
        ([-1, 0], "instance must be between 0 and 2, got -1"),
        ([0.5, 1.0], "instance must be integers"),
    ],
)
def test_instances_are_checked(instance: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Problem(FAMILY).solve(np.zeros((2, 2)), instance)


def test_an_instance_for_a_problem_that_is_not_a_family_is_refused() -> None:
    with pytest.raises(InputError, match="this problem is no family: leave out instance="):
        Problem(KNAPSACK).solve(np.zeros((1, 3)), [0])


def test_a_family_solves_every_instance_with_its_own_constraints() -> None:
    decisions = Problem(FAMILY, sense="max").solve([[1.0, 2.0]] * 4, [2, 0, 1, 2])
    assert decisions.objective.tolist() == [3.0, 0.0, 2.0, 3.0]
    mask = Problem(FAMILY).feasible(torch.tensor([[1.0, 1.0], [0.0, 1.0]]))
    assert mask is not None
    assert mask.tolist() == [[False, False], [False, True], [True, True]]
    assert Problem(KNAPSACK).feasible(torch.zeros(1, 3)) is None


def test_a_function_serves_a_family_without_a_model() -> None:
    problem = Problem(oracle=lambda c, i: np.eye(3)[i], dimension=3, instances=3)
    assert problem.is_family
    assert problem.solve(np.ones((2, 3)), [2, 0]).solution.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": KNAPSACK, "sense": "up"}, "sense must be 'min' or 'max', got 'up'"),
        ({"model": KNAPSACK, "on_failure": "ignore"}, "on_failure must be 'raise', 'cache' or 'skip', got 'ignore'"),
        ({}, "a problem needs a model, or an oracle together with dimension=d"),
        ({"oracle": len}, "a problem needs a model, or an oracle together with dimension=d"),
        ({"dimension": 3}, "a problem needs a model, or an oracle together with dimension=d"),
        ({"model": FAMILY, "instances": 7}, "instances= is for functions that serve a family"),
        ({"model": KNAPSACK, "dimension": 4}, "dimension is 3 in the model, got 4"),
        ({"oracle": len, "dimension": 0}, "dimension must be an integer, at least 1, got 0"),
        ({"oracle": len, "dimension": 2, "instances": 0}, "instances must be an integer, at least 1, got 0"),
        ({"model": KNAPSACK, "instances": 5}, "a family with models is a Family"),
        ({"oracle": len, "dimension": 3, "cost_variables": "x"}, r"argument of read: Problem\(read\(model, cost_var"),
        ({"oracle": len, "dimension": 3, "sens": "max"}, "options are settings of an engine.*got sens"),
        ({"model": KNAPSACK, "engine": "higs"}, "engine must be one of highs"),
        ({"oracle": len, "dimension": 2.5}, "dimension must be an integer, at least 1, got 2.5"),
        ({"model": KNAPSACK, "workers": 0}, "workers must be an integer, at least 1, got 0"),
        ({"model": KNAPSACK, "workers": 1.5}, "workers must be an integer, at least 1, got 1.5"),
        ({"oracle": len, "dimension": 2, "workers": 1.5}, "workers must be an integer, at least 1, got 1.5"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Problem(**settings)


def test_an_unknown_engine_option_is_named_when_solving() -> None:
    with pytest.raises(InputError, match="HiGHS does not know the option sens"):
        Problem(KNAPSACK, sens="max").solve(np.zeros((1, 3)))


def test_solve_reports_failures_and_keeps_the_rest() -> None:
    decisions = corners().solve([[1.0, 2.0], [13.0, 0.0], [2.0, 1.0]])
    assert decisions.status == [Status.OPTIMAL, Status.INFEASIBLE, Status.OPTIMAL]
    assert decisions.solution[[0, 2]].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert torch.isnan(decisions.solution[1]).all()
    assert torch.isnan(decisions.objective).tolist() == [False, True, False]
    assert decisions.message == {1: "unlucky"}


COSTS = torch.tensor([[1.0, 2.0], [13.0, 0.0], [2.0, 1.0], [13.0, 1.0]])


def test_a_failure_raises_with_the_instance_named() -> None:
    with pytest.raises(SolveError, match=r"instance 1 of the batch: infeasible \(2 of 4 failed\)\. unlucky"):
        corners()(COSTS)


@pytest.mark.parametrize("on_failure", ["skip", "cache"])
def test_a_failure_is_a_row_of_nan_otherwise(on_failure: Any) -> None:
    problem = Problem(oracle=CheapestOf([[1.0, 0.0], [0.0, 1.0]]), dimension=2, on_failure=on_failure)
    solution = problem(COSTS)
    assert torch.isnan(solution).all(dim=1).tolist() == [False, True, False, True]
    assert solution[2].tolist() == [0.0, 1.0]


def test_a_failed_family_member_is_named() -> None:
    solved = Solved(torch.full((2, 2), torch.nan), [Status.TIME_LIMIT] * 2)
    with pytest.raises(SolveError, match=r"instance 0 of the batch \(family member 7\): time limit"):
        refuse_failures(solved, torch.tensor([7, 8]))


def test_a_time_limit_with_a_solution_in_hand_is_no_failure() -> None:
    refuse_failures(Solved(torch.zeros(1, 2), [Status.TIME_LIMIT]))


def test_an_infeasible_model_says_so_in_every_door() -> None:
    problem = Problem(MILP([[1.0, 1.0]], row_lower=3.0))
    assert problem.solve([[1.0, 1.0]]).status == [Status.INFEASIBLE]
    with pytest.raises(SolveError, match="instance 0 of the batch: infeasible"):
        problem(torch.ones(1, 2))


def test_statistics_count_solves_and_failures() -> None:
    problem = corners()
    problem.solve([[1.0, 2.0]])
    problem.attempt(COSTS)
    statistics = problem.statistics
    assert statistics.solves == 5
    assert statistics.not_optimal == 2
    assert dict(statistics.by_status) == {"infeasible": 2}
    assert 0.0 < statistics.seconds < 10.0


def test_solves_are_counted_by_purpose_and_the_parts_add_up() -> None:
    problem = corners()
    problem.solve([[1.0, 2.0]])
    with problem.counted_as("watching"):
        problem.attempt(COSTS)
        with problem.counted_as("evaluation", unless_set=True):
            problem.attempt(COSTS[:1])
        with problem.counted_as("scoring"):
            problem.attempt(COSTS[:2])
    problem.attempt(COSTS[:3])
    counts = {purpose: count.solves for purpose, count in problem.statistics.by_purpose.items()}
    assert counts == {"growth": 4, "watching": 5, "scoring": 2}
    assert sum(counts.values()) == problem.statistics.solves
    assert sum(c.seconds for c in problem.statistics.by_purpose.values()) == pytest.approx(problem.statistics.seconds)
    with pytest.raises(InputError, match=r"purpose must be one of labels, growth, .*got 'fun'"):
        problem.counted_as("fun").__enter__()  # type: ignore[arg-type]


def test_the_purpose_of_one_thread_is_not_that_of_another_and_no_solve_is_lost() -> None:
    problem = corners()

    def work(purpose: Any) -> None:
        with problem.counted_as(purpose):
            for _ in range(200):
                problem.attempt(COSTS[:1])

    threads = [threading.Thread(target=work, args=(p,)) for p in ("labels", "scoring", "labels", "evaluation")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = {purpose: count.solves for purpose, count in problem.statistics.by_purpose.items()}
    assert counts == {"labels": 400, "scoring": 200, "evaluation": 200}
    assert problem.statistics.solves == 800


NAMED = MILP([[3.0, 4.0, 5.0]], row_upper=7.0, names=("a", "b", "c"))
FRAME = pd.DataFrame([[1.0, 5.0, 2.0], [4.0, 1.0, 6.0]], columns=["a", "b", "c"])


@pytest.mark.parametrize("order", [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]])
def test_columns_of_a_data_frame_are_matched_by_name(order: list[str]) -> None:
    problem = Problem(NAMED, sense="max")
    expected = problem.solve(FRAME.to_numpy())
    assert torch.equal(problem.solve(FRAME[order]).solution, expected.solution)
    assert problem.cost_names == ("a", "b", "c")


def test_names_of_a_cost_map_that_selects_variables_are_known_and_others_can_be_given() -> None:
    select = MILP([[1.0, 1.0, 1.0]], cost_map=[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], names=("a", "b", "c"))
    assert Problem(select).cost_names == ("c", "a")
    sums = MILP([[1.0, 1.0, 1.0]], cost_map=[[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]], names=("a", "b", "c"))
    assert Problem(sums).cost_names is None
    assert Problem(sums, cost_names=["u", "v"]).costs(pd.DataFrame({"v": [1.0], "u": [2.0]})).tolist() == [[2.0, 1.0]]
    with pytest.raises(InputError, match="cost_names must hold 2 names, got 1"):
        Problem(sums, cost_names=["u"])


def test_a_frame_goes_by_position_where_model_or_frame_has_no_names() -> None:
    assert Problem(KNAPSACK).costs(FRAME[["c", "b", "a"]]).tolist() == FRAME[["c", "b", "a"]].to_numpy().tolist()
    assert Problem(NAMED).costs(pd.DataFrame(FRAME.to_numpy())).tolist() == FRAME.to_numpy().tolist()


def test_columns_that_do_not_fit_are_listed() -> None:
    problem = Problem(NAMED)
    for frame, message in (
        (FRAME.rename(columns={"a": "x"}), r"missing: a; unknown: x"),
        (FRAME[["a", "b"]], r"3 cost variables \(a, b, c\); missing: c"),
        (FRAME.assign(d=1.0), "unknown: d"),
        (FRAME[["a", "b", "c", "a"]], "twice: a"),
    ):
        with pytest.raises(InputError, match=message):
            problem.solve(frame)
    assert problem.statistics.solves == 0


def test_a_problem_takes_what_read_takes(tmp_path: Path) -> None:
    path = tmp_path / "bag.lp"
    path.write_text("max\n obj: 4 a + 5 b + 6 c\nst\n w: 3 a + 4 b + 5 c <= 7\nbin\n a b c\nend\n")
    for model in (path, str(path), read(path)):
        problem = Problem(model)
        assert (problem.sense, problem.cost_names) == ("max", ("a", "b", "c"))
        assert problem.solve([[4.0, 5.0, 6.0]]).decision.tolist() == [[1.0, 1.0, 0.0]]
    assert Problem(path, sense="max").sense == "max"
    with pytest.raises(InputError, match="sense is 'max' in the model, got 'min': leave it out"):
        Problem(path, sense="min")
    with pytest.raises(InputError, match="a model must be the path"):
        Problem(object())


OTHER_KNOWN = [MILP([[1.0, 1.0, 1.0]], row_upper=k, fixed_cost=[1.0, 2.0, h]) for k, h in ((1.0, 3.0), (2.0, -9.0))]


def test_known_costs_of_a_family_are_added_to_the_predicted_ones() -> None:
    problem = Problem(Family(OTHER_KNOWN))
    assert (problem.dimension, problem.width, problem.has_known_costs) == (3, 3, True)
    costs = torch.tensor([[-2.0, -3.0, -4.0]] * 2)
    ids = torch.tensor([0, 1])
    assert problem.to_minimization(costs, ids).tolist() == [[-1.0, -1.0, -1.0], [-1.0, -1.0, -13.0]]
    solved = problem.solve(costs, ids)
    assert solved.objective.tolist() == [-1.0, -14.0]
    found = torch.tensor([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    assert problem.feasible(found).tolist() == [[True, False], [True, True]]  # type: ignore[union-attr]
    assert problem.feasible(found, [1]).tolist() == [[True, True]]  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"family of 2 instances: pass instance="):
        problem.to_minimization(costs)


def test_a_family_with_a_cost_map_shares_too() -> None:
    hidden = Problem(Family([MILP([[1.0, 1.0]], row_upper=k, cost_map=[[0.0, 1.0]]) for k in (1.0, 2.0)]), sense="max")
    assert (hidden.dimension, hidden.width, hidden.has_known_costs) == (1, 2, False)
    solved = hidden.solve([[3.0], [3.0]], [0, 1])
    assert solved.objective.tolist() == [3.0, 3.0]
    assert solved.decision[:, 1].tolist() == [1.0, 1.0]
    assert hidden.feasible(torch.tensor([[1.0, 1.0]])).tolist() == [[False], [True]]  # type: ignore[union-attr]


def test_only_a_family_has_members() -> None:
    with pytest.raises(InputError, match="this problem is no family: build it with"):
        _ = Problem(KNAPSACK).family


def test_a_family_grows_while_it_is_used() -> None:
    problem = Problem(Family([MILP([[1.0, 1.0]], row_upper=1.0)]), sense="max", workers=2)
    assert problem.solve([[1.0, 2.0]], [0]).objective.tolist() == [2.0]
    with pytest.raises(InputError, match="instance must be between 0 and 0, got 1"):
        problem.solve([[1.0, 2.0]], [1])
    assert problem.model.extend([MILP([[1.0, 1.0]], row_upper=2.0)] * 2) == [1, 2]
    assert problem.instances == 3
    assert problem.solve([[1.0, 2.0]] * 3, [2, 0, 1]).objective.tolist() == [3.0, 2.0, 3.0]


@pytest.mark.parametrize("model", [KNAPSACK, FAMILY])
def test_a_used_problem_can_be_copied_and_pickled(model: Any) -> None:
    problem = Problem(model, sense="max", workers=2, name="mine", time_limit=9.0)
    costs = np.arange(1.0, 1.0 + 2 * problem.dimension).reshape(2, -1)
    instance = [1, 2] if problem.is_family else None
    expected = problem.solve(costs, instance)
    for other in (pickle.loads(pickle.dumps(problem)), copy.deepcopy(problem)):
        assert other.fingerprint == problem.fingerprint
        assert repr(other) == repr(problem)
        assert other.statistics.solves == 2
        assert torch.equal(other.solve(costs, instance).solution, expected.solution)


def test_repr_says_what_it_is() -> None:
    assert repr(Problem(KNAPSACK, sense="max", name="bag", mip_rel_gap=0.1)) == (
        "Problem(bag, dimension=3, sense='max', solver=highs(mip_rel_gap=0.1))"
    )
    assert repr(corners()) == "Problem(unnamed, dimension=2, sense='min', solver=CheapestOf)"


def first(costs: Any) -> Any:
    return costs


def second(costs: Any) -> Any:
    return costs


def test_fingerprints_tell_problems_apart() -> None:
    problems = [
        Problem(KNAPSACK),
        Problem(KNAPSACK.relax()),
        Problem(FAMILY),
        Problem(oracle=first, dimension=3),
        Problem(oracle=second, dimension=3),
        Problem(oracle=first, dimension=4),
        Problem(oracle=first, dimension=3, name="other"),
        corners(),
    ]
    prints = [problem.fingerprint for problem in problems]
    assert len(set(prints)) == len(prints)
    assert Problem(KNAPSACK, sense="max", workers=2).fingerprint == prints[0], "the feasible set is the same"
    assert Problem(oracle=first, dimension=3).fingerprint == prints[3]
    assert Problem(KNAPSACK, oracle=first).fingerprint == prints[0], "the model says what is feasible"


def test_closures_of_one_factory_have_different_fingerprints() -> None:
    def at_most(capacity: float) -> Any:
        return lambda costs: costs <= capacity

    prints = [Problem(oracle=at_most(k), dimension=3, name=n).fingerprint for n in ("", "bag") for k in (4, 8, 4)]
    assert prints[0] == prints[2] != prints[1]
    assert prints[3] == prints[5] != prints[4]


def test_a_fingerprint_does_not_change_with_what_the_oracle_writes_down() -> None:
    seen: list[float] = []

    def oracle(costs: Any) -> Any:
        seen.append(costs[0])
        return costs

    problem = Problem(oracle=oracle, dimension=2)
    before = problem.fingerprint
    problem.solve([[1.0, 2.0]])
    assert seen
    assert problem.fingerprint == before


def test_what_is_no_function_is_refused_as_an_oracle_or_a_bound():
    with pytest.raises(InputError, match="oracle must be a function or None, got int"):
        Problem(oracle=3, dimension=2)
    with pytest.raises(InputError, match="bound must be a function or None, got str"):
        Problem(MILP([[1.0]]), bound="linear")


def test_options_that_the_engine_does_not_know_are_refused_before_anything_is_solved() -> None:
    with pytest.raises(InputError, match="HiGHS does not know the option no_such_option = 1"):
        Problem(KNAPSACK, no_such_option=1)
    with pytest.raises(InputError, match="gap must be between 0 and 1, got 7"):
        Problem(KNAPSACK, gap=7)


def test_by_default_of_the_command_line_engines_use_all_cores_and_functions_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("regretless.solvers.executors.cores", lambda: 3)
    model = MILP([[1.0, 1.0]], row_upper=1.0)
    assert Problem(model, workers=None).workers == 3
    assert Problem(model.relax(), workers=None, engine="batched-lp").workers == 1
    assert Problem(oracle=lambda costs: costs < 0, dimension=2, workers=None).workers == 1
    assert Problem(model).workers == 1
