from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import torch

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from regretless import MILP, Dataset, Family, Problem, evaluate, predict, train
from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.estimator import DecisionRegressor, decide
from regretless.problems.knapsack.oracle import knapsack_problem
from regretless.problems.knapsack.synthetic import knapsack_data
from regretless.training import two_stage

# A search of two candidates, where it is not the point what a search finds.
QUICK = {"methods": ["map-dc"], "terms": "none", "folds": 2}


def negative(costs):
    return (costs < 0) * 1.0


def toy(n: int = 40, seed: int = 0):
    """Costs that are linear in the features, so that a linear model can decide perfectly."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 3))
    return X, X @ generator.normal(size=(3, 4))


def choose_one(**options) -> Problem:
    return Problem(MILP(np.ones((1, 4)), row_lower=1.0, row_upper=1.0), **options)


def test_scikit_learns_own_checks_pass_where_they_apply():
    model = DecisionRegressor(Problem(oracle=negative, dimension=1), method="spo", epochs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = check_estimator(model, on_fail=None)
    failed = {row["check_name"] for row in rows if row["status"] == "failed"}
    # The first hands five targets to a problem that has one cost. In the second, batches of repeated rows are others.
    assert failed <= {"check_regressor_multioutput", "check_sample_weight_equivalence_on_dense_data"}
    assert sum(row["status"] == "passed" for row in rows) > 40


@pytest.mark.parametrize("method", ["two-stage", "spo", "map-dc", "nce-c", "soft", "spo-cache"])
def test_every_kind_of_method_fits_and_decides_feasibly(method):
    X, C = toy()
    problem = choose_one()
    model = DecisionRegressor(problem, method=method, epochs=5, p_solve=0.5).fit(X, C)
    decisions = model.decide(X)
    assert model.predict(X).shape == C.shape
    assert problem.model.check(decisions).all()


def test_score_is_the_negative_relative_regret_and_perfect_where_the_model_is_right():
    X, C = toy(60)
    model = DecisionRegressor(choose_one(), method="spo", epochs=12, lr=0.1).fit(X[:45], C[:45])
    assert -0.05 < model.score(X[45:], C[45:]) <= 0.0
    best = C[45:].min(axis=1)
    chosen = (model.decide(X[45:]) * C[45:]).sum(axis=1)
    assert model.score(X[45:], C[45:]) == pytest.approx(-(chosen - best).sum() / np.abs(best).sum(), abs=1e-9)


def test_weights_of_the_instances_count_in_the_score():
    X, C = toy(30)
    model = DecisionRegressor(choose_one(), method="two-stage").fit(X[:5], C[:5] ** 3)
    weight = np.arange(30) % 3
    repeated = np.repeat(np.arange(30), weight)
    score = model.score(X, C, sample_weight=weight)
    assert score < 0.0
    assert score == pytest.approx(model.score(X[repeated], C[repeated]))
    for wrong, message in ((weight[:4], r"shape \(30,\), got \(4,\)"), (-weight, "finite and not negative")):
        with pytest.raises(InputError, match=f"sample_weight must .*{message}"):
            model.score(X, C, sample_weight=wrong)


@pytest.mark.parametrize("method", ["two-stage", "spo", "nce-c"])
def test_integer_weights_equal_repeated_instances(method):
    X, C = toy(9)
    weight = np.array([0, 1, 2] * 3)
    repeated = np.repeat(np.arange(9), weight)
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 4)
    settings = {} if method == "two-stage" else {"epochs": 3, "model": layer, "batch_size": 99}
    one, two = (DecisionRegressor(choose_one(), method=method, p_solve=0.0, **settings) for _ in range(2))
    one.fit(X, C**3, sample_weight=weight)
    two.fit(X[repeated], C[repeated] ** 3)
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-4, atol=1e-4)
    assert not np.allclose(one.predict(X), two.fit(X, C**3).predict(X), rtol=1e-3)


def test_instances_of_weight_zero_are_left_out_of_everything():
    X, C = toy(12)
    frame, costs = pd.DataFrame(X, columns=list("abc")), pd.DataFrame(C)
    frame["kind"] = ["x", "y"] * 6
    frame.loc[11, "kind"] = "of a row that is left out"
    costs.loc[11] = 1e9
    weight = pd.Series([1.0] * 11 + [0.0])
    model = DecisionRegressor(choose_one(), method="spo", epochs=2)
    one = copy.deepcopy(model.fit(frame, costs, sample_weight=weight)).predict(frame[:11])
    np.testing.assert_array_equal(one, model.fit(frame[:11], costs[:11]).predict(frame[:11]))
    with pytest.raises(InputError, match="must not be zero for all instances"):
        model.fit(frame, costs, sample_weight=0 * weight)
    with pytest.raises(InputError, match=r"sample_weight must have shape \(12,\), got \(3,\)"):
        model.fit(frame, costs, sample_weight=weight[:3])


def test_weights_decide_between_instances_that_contradict_each_other_also_in_a_search():
    X, C = toy(40)
    C[20:] = -C[20:]  # the second half has the opposite costs
    for heavy, other in ((slice(0, 20), slice(20, 40)), (slice(20, 40), slice(0, 20))):
        weight = np.full(40, 0.01)
        weight[heavy] = 1.0
        model = DecisionRegressor(choose_one(), epochs=2, settings=QUICK)
        model.fit(X, C, sample_weight=weight)
        assert model.score(X[heavy], C[heavy]) > -0.1
        assert model.score(X[other], C[other]) < -0.5
        assert model.search_.verdict.two_stage < 0.5  # in units of weighted instances


def test_weights_are_routed_through_pipelines_and_searches():
    X, C = toy(24)
    weight = np.arange(24) % 3 + 1.0
    with config_context(enable_metadata_routing=True):
        model = DecisionRegressor(choose_one(), method="two-stage")
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=True), model)
        search = GridSearchCV(pipe, {"decisionregressor__random_state": [0, 1]}, cv=2)
        search.fit(X, C, sample_weight=weight)
        scores = cross_val_score(pipe, X, C, params={"sample_weight": weight}, cv=2)
    assert np.isfinite(scores).all()
    assert search.best_estimator_.predict(X).shape == C.shape


def test_same_seed_same_predictions_and_other_seed_others():
    X, C = toy()
    a, b, c = (
        DecisionRegressor(choose_one(), method="map-dc", epochs=3, random_state=seed).fit(X, C).predict(X)
        for seed in (0, np.int64(0), 1)
    )
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_fitting_leaves_the_global_generator_and_the_problem_as_they_were():
    X, C = toy()
    problem = choose_one()
    torch.manual_seed(5)
    before = torch.get_rng_state()
    DecisionRegressor(problem, epochs=2, settings=QUICK).fit(X, C)
    assert torch.equal(before, torch.get_rng_state())
    assert problem.statistics.solves == 0


def test_clone_pickle_and_deepcopy_work():
    X, C = toy()
    model = DecisionRegressor(choose_one(), epochs=2, settings=QUICK).fit(X, C)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict(X), model.predict(X))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_works_in_pipeline_grid_search_and_cross_validation():
    X, C = toy(60)
    model = DecisionRegressor(choose_one(), epochs=3)
    search = GridSearchCV(model, {"method": ["two-stage", "map-dc"], "lr": [0.1, 0.01]}, cv=2).fit(X, C)
    assert search.best_score_ <= 0.0
    model.set_params(settings=QUICK)
    assert np.isfinite(cross_val_score(make_pipeline(StandardScaler(), model), X, C, cv=2)).all()


def test_settings_may_be_numbers_of_numpy():
    X, C = toy(30)
    grid = {"batch_size": np.array([8]), "epochs": np.array([2]), "validation": np.array([0.2], dtype=np.float32)}
    search = GridSearchCV(DecisionRegressor(choose_one(), method="spo"), grid, cv=2, error_score="raise").fit(X, C)
    assert search.best_score_ <= 0.0


def test_a_search_passes_the_ids_of_a_family_through_a_pipeline():
    X, C = toy(20)
    ids = np.arange(20) % 2
    pick = MILP(np.ones((1, 4)), row_lower=1.0, row_upper=2.0)
    problem = Problem(Family.vary(pick, row_lower=[[1.0], [2.0]]))
    with config_context(enable_metadata_routing=True):
        model = DecisionRegressor(problem, method="spo", epochs=1)
        pipeline = make_pipeline(
            StandardScaler(), model.set_fit_request(instance=True).set_score_request(instance=True)
        )
        search = GridSearchCV(pipeline, {"decisionregressor__lr": [0.1]}, cv=2, error_score="raise")
        search.fit(X, C, instance=ids)
    assert search.best_score_ <= 0.0
    assert (decide(search, X, ids).sum(axis=1) >= 1 + ids).all()


def test_features_of_variables_share_one_model():
    features, values, weights = knapsack_data(30)
    model = DecisionRegressor(knapsack_problem(weights, 60), method="map-dc", epochs=3, model="mlp", hidden=4).fit(
        features, values
    )
    assert model.predict(features).shape == values.shape
    assert sum(p.numel() for p in model.model_.parameters()) == 8 * 4 + 4 + 4 + 1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_rows_for_a_search_are_named_before_the_labels_and_train_by_other_methods(n):
    X, C = toy(n)
    unsolved = Problem(oracle=lambda costs: pytest.fail("something was solved"), dimension=C.shape[1])
    with pytest.raises(InputError, match=f"needs at least 4 instances, got {n}: name a method, for example"):
        DecisionRegressor(unsolved).fit(X, C)
    assert DecisionRegressor(choose_one(), method="two-stage").fit(X, C).predict(X).shape == C.shape


def test_four_rows_are_enough_for_a_search():
    X, C = toy(4)
    assert DecisionRegressor(choose_one(), epochs=1).fit(X, C).search_ is not None


def test_batches_have_the_size_that_train_takes():
    X, C = toy()
    data = Dataset.solve(choose_one(), X, C)
    for method in ("spo", "two-stage"):
        found = DecisionRegressor(choose_one(), method=method, epochs=2).fit(X, C)
        expected = train(choose_one(), data, method=method, epochs=2, progress=False)
        assert np.array_equal(found.predict(X), predict(expected.model, data.features).double().numpy())


def test_validation_stops_early():
    X, C = toy(80)
    model = DecisionRegressor(choose_one(), method="spo", epochs=200, lr=0.1, validation=0.25, patience=2).fit(X, C)
    assert model.n_iter_ < 200
    assert all(row["validation_regret"] >= 0 for row in model.history_)


def test_own_model_is_taken():
    X, C = toy()

    def make(features, dimension, seed):
        return torch.nn.Linear(features.shape[-1], dimension)

    assert DecisionRegressor(choose_one(), model=make, epochs=1).fit(X, C).predict(X).shape == C.shape


@pytest.mark.parametrize("method", ["auto", "map-dc"])
def test_own_models_with_dropout_follow_the_random_state(method, monkeypatch):
    monkeypatch.setattr(two_stage, "EPOCHS", 3)
    X, C = toy(12)

    def make(features, dimension, seed):
        return torch.nn.Sequential(torch.nn.Dropout(0.3), torch.nn.Linear(3, dimension))

    model = DecisionRegressor(choose_one(), method=method, model=make, epochs=1)
    assert np.array_equal(model.fit(X, C).predict(X), model.fit(X, C).predict(X))


def test_a_torch_module_is_copied_and_one_that_does_not_fit_is_refused_before_the_labels():
    X, C = toy()
    given = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 3), torch.nn.Tanh(), torch.nn.Linear(3, C.shape[1]))
    before = copy.deepcopy(given.state_dict())
    model = clone(DecisionRegressor(choose_one(), model=given, method="map-dc", epochs=2)).fit(X, C)
    assert model.predict(X).shape == C.shape
    assert type(model.model_) is torch.nn.Sequential
    assert all(torch.equal(value, before[name]) for name, value in given.state_dict().items())
    assert not torch.equal(model.model_[0].weight, given[0].weight)
    problem = choose_one()
    with pytest.raises(InputError, match="must predict"):
        DecisionRegressor(problem, model=torch.nn.Linear(X.shape[1], 9)).fit(X, C)
    assert problem.statistics.solves == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"problem": None}, "needs a problem"),
        ({"method": "nothing"}, "method must be one of"),
        ({"model": "forest"}, "model must be one of linear, quadratic, splines, mlp"),
        ({"hidden": 0, "model": "mlp"}, "hidden"),
        ({"model": torch.nn.Linear}, "got the class Linear: pass an object of it"),
        ({"validation": 2.0}, "validation must be a share"),
        ({"validation": "a"}, "validation must be a share from 0 to below 1, got 'a'"),
        ({"settings": ["p_solve"]}, "settings must be a dict, got list"),
        ({"columns": ["a"]}, "columns must be a dict, got list"),
        ({"columns": {"mising": "fill"}}, "columns does not know 'mising': its settings are categories, missing"),
        ({"random_state": None}, "random_state must be an integer from 0 to 4294967294, got None"),
        ({"validation": 0.2, "patience": 0}, "patience must be an integer, at least 1"),
        ({"settings": {"tau": 1}}, "does not know 'tau'"),
        ({"method": "map-dc", "p_solve": 5}, "p_solve must be between 0 and 1"),
        ({"lr": float("nan")}, "lr must be a finite number"),
        ({"epochs": -1}, "epochs must be an integer, at least 0"),
        ({"batch_size": 0}, "batch_size must be an integer, at least 1"),
        ({"random_state": -1}, "random_state must be an integer from 0"),
        ({"lr": 0.5}, "method 'auto' chooses by folds of the training data: leave out lr"),
        ({"validation": 0.2}, "method 'auto' chooses by folds of the training data: leave out validation"),
        ({"method": "two-stage", "validation": 0.2}, "unless fit='gradient' is set or epochs are given: leave out"),
        ({"method": "direct", "epochs": 3}, "takes no steps by gradients.*leave out epochs"),
    ],
)
def test_bad_settings_are_named_before_anything_is_solved(options, message):
    X, C = toy()
    unsolved = Problem(oracle=lambda costs: pytest.fail("something was solved"), dimension=C.shape[1])
    with pytest.raises(InputError, match=message):
        DecisionRegressor(**({"problem": unsolved} | options)).fit(X, C)


def test_costs_of_the_wrong_width_are_refused():
    X, C = toy()
    with pytest.raises(InputError, match=r"costs must have shape \(n, 4\)"):
        DecisionRegressor(choose_one()).fit(X, C[:, :2])


def test_columns_of_a_data_frame_are_matched_by_name():
    X, C = toy()
    problem = Problem(MILP(np.ones((1, 4)), 1.0, 1.0, names=("a", "b", "c", "d")), sense="max")
    frame = pd.DataFrame(C, columns=["a", "b", "c", "d"])
    plain = DecisionRegressor(problem, epochs=2, settings=QUICK).fit(X, C)
    mixed = DecisionRegressor(problem, epochs=2, settings=QUICK).fit(X, frame[["d", "b", "a", "c"]])
    assert np.array_equal(plain.predict(X), mixed.predict(X))
    assert plain.score(X, frame[["c", "a", "b", "d"]]) == plain.score(X, C)


def calendar_frame(n: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Costs that depend on weekday and zone alone."""
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=n), "zone": ["north", "south", "east"] * (n // 3)})
    weekday, zone = frame["day"].dt.day_of_week.to_numpy(), np.arange(n) % 3
    table = np.random.default_rng(0).normal(size=(7 + 3, 4))
    return frame, table[weekday] + table[7 + zone]


def test_data_frames_with_dates_and_words_are_encoded():
    frame, C = calendar_frame()
    model = DecisionRegressor(choose_one(), method="two-stage").fit(frame, C)
    assert np.allclose(model.predict(frame), C, atol=0.15)  # the year's part is small
    turned = frame[["zone", "day"]].assign(day=frame["day"].astype(str))
    assert np.allclose(model.predict(turned), model.predict(frame))
    assert model.score(turned, C) > -0.2
    again = pickle.loads(pickle.dumps(model))
    assert again.encoding_ == model.encoding_
    with pytest.raises(InputError, match=r"features, row 0, column 'zone': 'west' was never seen in training"):
        model.predict(frame.assign(zone="west"))
    with pytest.raises(InputError, match="fitted on a data frame: pass one with its columns, got ndarray"):
        model.predict(np.zeros((2, 2)))
    free = DecisionRegressor(choose_one(), method="two-stage", columns={"unseen": "other"}).fit(frame, C)
    assert free.predict(frame.assign(zone="west")).shape == C.shape


def test_decide_works_behind_a_pipeline_and_a_search():
    X, C = toy()
    regressor = DecisionRegressor(choose_one(), method="spo", epochs=5)
    pipeline = make_pipeline(StandardScaler(), regressor).fit(X, C)
    found = decide(pipeline, X)
    assert np.array_equal(found, pipeline[-1].decide(StandardScaler().fit(X).transform(X)))
    assert (found.sum(axis=1) == 1).all()
    search = GridSearchCV(make_pipeline(regressor), {"decisionregressor__lr": [0.1]}, cv=2).fit(X, C)
    assert np.array_equal(decide(search, X), search.best_estimator_[-1].decide(X))
    with pytest.raises(InputError, match="decide needs a DecisionRegressor, or a pipeline or a search with one"):
        decide(StandardScaler(), X)


def test_arrays_that_are_views_or_cannot_be_written_are_taken():
    X, C = toy()
    turned, frame = X[:, ::-1], pd.DataFrame(X, columns=["a", "b", "c"])
    frozen = C.copy()
    frozen.flags.writeable = False
    model = DecisionRegressor(choose_one(), method="spo", epochs=1)
    expected = model.fit(np.ascontiguousarray(turned), C).predict(np.ascontiguousarray(turned))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.fit(turned, C[:, ::-1][:, ::-1]).predict(turned), expected)
        assert np.isfinite(model.score(turned, C[::-1]))
        assert np.array_equal(model.fit(frame, frozen).decide(frame), model.fit(frame, C).decide(frame))
        assert np.isfinite(model.score(frame, frozen))


def test_decide_refuses_instances_without_a_decision_or_warns_of_them():
    X, C = toy()
    model = DecisionRegressor(choose_one(), method="two-stage").fit(X, C)
    last = model.predict(X[:3])[2, 0]

    def broken(costs):
        if np.isclose(costs[0], last):
            raise ZeroDivisionError("by design")
        return np.eye(4)[costs.argmin()]

    model.problem = Problem(oracle=broken, dimension=4)
    for of in (model.decide, lambda x: decide(make_pipeline(model), x)):
        with pytest.raises(SolveError, match="1 of 3 instances have no decision, the first of them row 2") as caught:
            of(X[:3])
        assert caught.value.row == 2
        assert "ZeroDivisionError: by design" in str(caught.value)
    model.problem = Problem(oracle=broken, dimension=4, on_failure="skip")
    with pytest.warns(RegretlessWarning, match=r"Their rows are NaN: rows \[2\]"):
        decisions = model.decide(X[:3])
    assert np.isnan(decisions).any(axis=1).tolist() == [False, False, True]


def test_a_grid_search_labels_every_row_once(tmp_path):
    X, C = toy(n=30, seed=7)
    solved = []
    oracle = choose_one().backend

    class Counting:
        def solve(self, costs, instance=None, *, decision=False):
            solved.extend(map(tuple, costs.tolist()))
            return oracle.solve(costs, instance, decision=decision)

        def __deepcopy__(self, memo):
            return self

    problem = Problem(MILP(np.ones((1, 4)), row_lower=1.0, row_upper=1.0), oracle=Counting())
    model = DecisionRegressor(problem, method="two-stage", epochs=1)
    GridSearchCV(model, {"lr": [0.01, 0.1, 0.2, 0.3]}, cv=3).fit(X, C)
    labels = [row for row in solved if np.isclose(np.array(C), row, atol=1e-12).all(axis=1).any()]
    assert len(labels) == len(set(labels)) == 30
    stored = DecisionRegressor(problem, method="two-stage", epochs=1, store=str(tmp_path)).fit(X, C)
    assert stored.score(X, C) <= 1e-9
    assert list(tmp_path.glob("labels-*"))


def test_a_model_in_place_of_a_problem_is_named():
    milp = MILP([[1.0, 1.0]], row_upper=1.0)
    with pytest.raises(InputError, match=r"problem must be a Problem, got MILP: build it with Problem\(model\)"):
        DecisionRegressor(milp).fit([[0.0]] * 4, [[1.0, 2.0]] * 4)


@pytest.mark.parametrize("variables", [False, True])
def test_evaluate_takes_a_fitted_estimator_as_any_other_regressor(variables):
    X, y = toy()
    X = np.stack([X, X**2, -X, X + 1], axis=1) if variables else X
    problem = Problem(oracle=negative, dimension=4)
    model = DecisionRegressor(problem, method="two-stage").fit(X, y)
    found = evaluate(model, Dataset.solve(problem, X, y), problem)
    assert found.relative_regret == pytest.approx(-model.score(X, y))
