"""A scikit-learn estimator: fit on features and costs, predict costs, decide, score by regret."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from regretless.cost_columns import by_name, refuse_other_rows
from regretless.data import Dataset
from regretless.errors import InputError, RegretlessWarning, SolveError
from regretless.instance_weights import checked_weights
from regretless.label_memory import LabelMemory
from regretless.labels import solve_labels
from regretless.metrics import optimal_values, regret, relative_regret
from regretless.number_checks import LARGEST_SEED, check_integer, check_numbers
from regretless.optional import need
from regretless.problem import Problem, SolveStatistics
from regretless.search import Trained, train
from regretless.search.check_settings import check_settings
from regretless.search.train_method import refuse_unused
from regretless.tables.encoding import Encoding
from regretless.tensors import ids, tensor
from regretless.training import methods, predict
from regretless.training.model_check import check_model, refuse_class
from regretless.training.models import make_model
from regretless.training.random_draws import seeded_draws
from regretless.type_checks import check_type
from regretless.types import Decisions

need("sklearn", pip="scikit-learn", why="use the scikit-learn estimator")
from sklearn.base import BaseEstimator, RegressorMixin  # noqa: E402
from sklearn.utils import _safe_indexing, check_consistent_length  # noqa: E402
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data  # noqa: E402

COLUMNS = ("categories", "missing", "unseen", "id", "ignore")  # settings of Encoding.learn
FOLDS = 5
FEWEST = 4  # instances of a search: two folds of two
# Labels of all estimators of this process: searches and cross-validation fit the same rows again and again.
LABELS = LabelMemory()


class DecisionRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict costs so that the decisions they lead to are good.

    Args:
        problem: the ``Problem`` that takes the decision.
        method: ``"auto"``, or a name in the table of methods.
        p_solve: probability of a solve, for methods with a cache.
        model: ``"linear"``, ``"quadratic"``, ``"splines"``, ``"mlp"``, a torch module, of which a copy is trained, or a
            function ``(features, dimension, seed) -> torch module``. By default linear; ``"auto"`` tries several.
        hidden: units of the hidden layer of ``"mlp"``.
        epochs, lr: of the training; ``None`` for the defaults of the method. ``"auto"`` takes no ``lr``.
        batch_size: instances per step; ``None`` for 24, or what the method prefers, as ``regretless.train`` does.
        validation: share of the data that stops training early by its exact regret; 0 trains to the end.
        patience: epochs without a better validation regret before training stops.
        settings: further settings of the method, as a dictionary.
        store: folder that keeps true optima for other processes; within one process no row is solved twice.
        columns: settings of ``regretless.tables.Encoding.learn`` for data frames, as a dictionary: ``categories``,
            ``missing``, ``unseen``, ``id`` and ``ignore``. A data frame with dates, words or booleans is encoded in any
            case.
        random_state: seed of initial weights, shuffling, coin and validation split.

    >>> from regretless import Problem
    >>> problem = Problem(oracle=lambda c: c == c.min(), dimension=2)
    >>> model = DecisionRegressor(problem, method="spo", epochs=30).fit([[0.0], [1.0]] * 8, [[1, 2], [2, 1]] * 8)
    >>> model.decide([[0.0], [1.0]]).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def __init__(
        self,
        problem: Problem | None = None,
        *,
        method: str = "auto",
        p_solve: float = 0.05,
        model: str | nn.Module | Callable[..., nn.Module] | None = None,
        hidden: int = 32,
        epochs: int | None = None,
        lr: float | None = None,
        batch_size: int | None = None,
        validation: float = 0.0,
        patience: int = 5,
        settings: dict[str, Any] | None = None,
        columns: dict[str, Any] | None = None,
        store: str | None = None,
        random_state: int = 0,
    ) -> None:
        self.problem = problem
        self.method = method
        self.p_solve = p_solve
        self.model = model
        self.hidden = hidden
        self.epochs = epochs
        self.lr = lr
        self.batch_size = batch_size
        self.validation = validation
        self.patience = patience
        self.settings = settings
        self.columns = columns
        self.store = store
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        instance: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> DecisionRegressor:
        """Check the settings, solve the true optima, then train.

        Args:
            X: ``(n, k)`` features of instances, or ``(n, d, k)`` of their variables.
            y: ``(n, d)`` true costs.
            instance: ``(n,)`` ids, for families.
            sample_weight: ``(n,)`` weights of the instances. One of weight 2 counts as two of weight 1, in training, in
                the comparisons of ``"auto"`` and in early stopping; one of weight 0 is left out.
        """
        # A problem counts its solves; scikit-learn requires that fit leaves the arguments of __init__ unchanged.
        problem = copy.copy(self._problem())
        problem.statistics = SolveStatistics()
        for name, value in (("settings", self.settings), ("columns", self.columns)):
            if value is not None:
                check_type(name, value, dict)
        if unknown := [name for name in self.columns or {} if name not in COLUMNS]:
            raise InputError(f"columns does not know {unknown[0]!r}: its settings are {', '.join(COLUMNS)}")
        weight = None
        if sample_weight is not None:
            X, y, instance, weight = _weighted_rows(X, y, instance, sample_weight)
        features, costs = self._checked(X, y, first=True)
        settings = dict(self.settings or {})
        if methods.method(self.method).cached:
            settings = {"p_solve": self.p_solve} | settings
        self._check_settings(problem, settings, tensor("features", features[:2]))
        if self.method == "auto" and "folds" not in settings and len(features) < FEWEST:
            raise InputError(
                f"method 'auto' compares on held-out folds and needs at least {FEWEST} instances, got {len(features)}: "
                "name a method, for example method='two-stage'"
            )
        data = Dataset.solve(
            problem, features, costs, instance=instance, store=self.store, memory=LABELS, weight=weight, progress=False
        )
        held_out = None
        if self.validation:
            data, held_out = data.split(1 - self.validation, seed=self.random_state)
        trained = self._train(problem, data, held_out, settings)
        self.model_, self.history_, self.search_ = trained.model, trained.history, trained.search
        self.n_iter_ = max(len(self.history_), 1)
        return self

    def _check_settings(self, problem: Problem, settings: dict[str, Any], features: torch.Tensor) -> None:
        """Check all settings before anything is solved."""
        given: dict[str, Any] = {"epochs": self.epochs, "lr": self.lr, "batch_size": self.batch_size}
        check_integer("random_state", self.random_state, least=0, most=LARGEST_SEED)
        check_numbers(**{name: value for name, value in given.items() if value is not None})
        check_integer("patience", self.patience, least=1)
        share: Any = self.validation
        if not isinstance(share, Real) or not 0 <= float(share) < 1:
            raise InputError(f"validation must be a share from 0 to below 1, got {share!r}")
        refuse_unused(self.method, settings, given | {"validation": self.validation or None})
        check_settings(self.method, settings, engine=problem.engine or "oracle")
        refuse_class(self.model)
        if isinstance(self.model, str):
            self._model(torch.zeros_like(features), problem.dimension, torch.zeros(2, problem.dimension))
        elif isinstance(self.model, nn.Module):
            check_model(self.model, features, problem.dimension)

    def _model(self, features: torch.Tensor, dimension: int, costs: torch.Tensor) -> nn.Module | None:
        if self.model is None:
            return None
        if isinstance(self.model, nn.Module):
            return copy.deepcopy(self.model)
        if not isinstance(self.model, str):
            with seeded_draws(self.random_state):
                return self.model(features, dimension, int(self.random_state))
        kind: Any = self.model
        return make_model(features, dimension, costs=costs, kind=kind, hidden=self.hidden, seed=self.random_state)

    def _train(self, problem: Problem, data: Dataset, held_out: Dataset | None, settings: dict[str, Any]) -> Trained:
        training: dict[str, Any] = {"epochs": self.epochs, "batch_size": self.batch_size}
        if self.method == "auto":
            settings = {"folds": max(min(FOLDS, len(data) // 2), 2)} | settings
        else:
            training |= {"lr": self.lr}
            if held_out is not None:
                training |= {"validation": held_out, "patience": self.patience}
        first = self._model(data.features, problem.dimension, data.costs)
        seed = self.random_state
        return train(problem, data, first, method=self.method, seed=seed, progress=False, **training, **settings)

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predicted costs ``(n, d)``, in the order of the problem's costs, also where the columns of ``y`` had another.

        ``score`` and ``fit`` match costs in a data frame by name. Metrics of scikit-learn go by position: give them
        ``y[list(problem.cost_names)]``.
        """
        check_is_fitted(self, "model_")
        features = tensor("features", self._checked(X)).to(torch.get_default_dtype())
        return predict(self.model_, features).to(torch.float64).numpy()

    def decide(self, X: ArrayLike, instance: ArrayLike | None = None) -> NDArray[np.float64]:
        """Decisions ``(n, variables)`` at the predicted costs, solved exactly.

        Raises:
            SolveError: an instance has no solution and ``problem.on_failure`` is ``"raise"``; otherwise its row is NaN,
                with a warning that names it.
        """
        problem = self._problem()
        decisions = problem.solve(self.predict(X), instance)
        _report_missing(decisions, refuse=problem.on_failure == "raise")
        return decisions.decision.numpy()

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        instance: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the negative relative regret: 0 is perfect, and larger is better.

        Args:
            X: features, as for ``fit``.
            y: ``(n, d)`` true costs.
            instance: ``(n,)`` ids, for families.
            sample_weight: ``(n,)`` weights of the instances in both sums of the relative regret.
        """
        problem = self._problem()
        predicted = torch.as_tensor(self.predict(X))
        _, costs = self._checked(X, y)
        true, members = tensor("costs", costs).to(torch.float64), ids(instance)
        best, status = solve_labels(problem, true, members, store=self.store, memory=LABELS, progress=False)
        regrets = regret(problem, predicted, true, best, members, status=status)
        weight = torch.ones(len(true), dtype=torch.float64)
        if sample_weight is not None:
            weight = checked_weights("sample_weight", sample_weight, len(true), zero=True)
        return -relative_regret(weight * regrets, weight * optimal_values(problem, true, best, members))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.input_tags.three_d_array = True
        tags.regressor_tags.poor_score = True  # the score is a regret and not the R^2 of scikit-learn's checks
        return tags

    def _problem(self) -> Problem:
        if self.problem is None:
            raise InputError("DecisionRegressor needs a problem: DecisionRegressor(problem, ...)")
        check_type("problem", self.problem, Problem, hint="build it with Problem(model)")
        return self.problem

    def _encoded(self, X: Any, *, first: bool) -> Any:
        """Features of a data frame whose columns are not all numbers; anything else is returned as it is."""
        if first:
            self.encoding_: Encoding | None = None
            if hasattr(X, "columns") and (self.columns is not None or not _all_numbers(X)):
                self.encoding_ = Encoding.learn(X, **(self.columns or {}))
        if self.encoding_ is None:
            return X
        if not hasattr(X, "columns"):
            raise InputError(f"the model was fitted on a data frame: pass one with its columns, got {type(X).__name__}")
        return self.encoding_.apply(X)

    def _checked(self, X: ArrayLike, y: ArrayLike | None = None, *, first: bool = False) -> Any:
        """Check that arrays are finite; the number of features is stored by fit and compared afterwards."""
        refuse_other_rows(X, y)
        X = self._encoded(X, first=first)
        settings: dict[str, Any] = {"reset": first}
        if getattr(X, "ndim", 2) == 3:
            settings |= {"allow_nd": True, "ensure_2d": False}
        if y is None and not first:
            return validate_data(self, X, **settings)
        if y is None:
            raise InputError("DecisionRegressor requires y to be passed, but the target y is None")
        y = by_name(y, self._problem().cost_names)
        return validate_data(self, X, y, multi_output=True, y_numeric=True, **settings)


def _weighted_rows(X: Any, y: Any, instance: Any, sample_weight: Any) -> tuple[Any, Any, Any, torch.Tensor]:
    """The rows whose weight is above 0, and their weights; nothing is learned from the others."""
    weight = checked_weights("sample_weight", sample_weight, _num_samples(X), zero=True)
    kept = weight > 0
    if bool(kept.all()):
        return X, y, instance, weight
    check_consistent_length(X, y, instance)
    rows = kept.nonzero().flatten().numpy()
    parts = (part if part is None else _safe_indexing(part, rows) for part in (X, y, instance))
    return (*parts, weight[kept])  # type: ignore[return-value]


def _all_numbers(frame: Any) -> bool:
    """Whether every column of a data frame is numeric; empty cells are then left to scikit-learn's own check."""
    return all(np.asarray(frame[column]).dtype.kind in "iuf" for column in frame.columns)


def _report_missing(decisions: Decisions, *, refuse: bool) -> None:
    """Refuse instances without a solution, or warn of them."""
    missing = decisions.solution.isnan().any(dim=1).nonzero().flatten().tolist()
    if not missing:
        return
    row = missing[0]
    why = f"{decisions.status[row]}. {decisions.message.get(row, '')}".strip()
    said = f"{len(missing)} of {len(decisions.solution)} instances have no decision, the first of them row {row}: {why}"
    if refuse:
        remedy = "Build the problem with on_failure='skip' for a row of NaN in place of this error."
        raise SolveError(f"{said} {remedy}", row=row)
    warnings.warn(f"{said} Their rows are NaN: rows {missing[:10]}", RegretlessWarning, stacklevel=3)


def decide(model: Any, X: Any, instance: ArrayLike | None = None) -> NDArray[np.float64]:
    """Decisions of a fitted estimator, also behind a ``Pipeline`` or a search.

    A pipeline passes on ``predict`` and ``score`` only. This function applies its other steps to the features and then
    calls ``decide`` of the ``DecisionRegressor`` at its end.

    Args:
        model: a ``DecisionRegressor``, a ``Pipeline`` that ends in one, or a fitted search over either.
        X: features, as for ``fit``.
        instance: ``(n,)`` ids, for families.

    Raises:
        InputError: there is no ``DecisionRegressor`` in the model.
        SolveError: as ``DecisionRegressor.decide``.
    """
    found = getattr(model, "best_estimator_", model)
    if isinstance(found, DecisionRegressor):
        return found.decide(X, instance)
    steps = getattr(found, "steps", None)
    if not steps:
        raise InputError(
            f"decide needs a DecisionRegressor, or a pipeline or a search with one, got {type(found).__name__}"
        )
    return decide(steps[-1][1], found[:-1].transform(X) if len(steps) > 1 else X, instance)
