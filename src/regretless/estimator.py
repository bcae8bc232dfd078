"""A scikit-learn estimator: fit on features and costs, predict costs, decide, score by regret."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import nn

from regretless.cost_columns import by_name
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.metrics import optimal_values, regret, relative_regret
from regretless.optional import need
from regretless.problem import Problem, SolveStatistics
from regretless.training import Callback, EarlyStopping, fit, methods, predict
from regretless.training.models import make_model

need("sklearn", pip="scikit-learn", why="use the scikit-learn estimator")
from sklearn.base import BaseEstimator, RegressorMixin  # noqa: E402
from sklearn.utils.validation import check_is_fitted, validate_data  # noqa: E402


class DecisionRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict costs so that the decisions they lead to are good.

    Args:
        problem: the ``Problem`` that takes the decision.
        method: a name in the table of methods.
        p_solve: probability of a solve, for methods with a cache.
        model: ``"linear"``, ``"mlp"``, or ``(features, dimension, seed) -> torch module``.
        hidden: units of the hidden layer of ``"mlp"``.
        epochs, lr, batch_size: of the training.
        validation: share of the data that stops training early by its exact regret; 0 trains to the end.
        patience: epochs without a better validation regret that are endured.
        settings: further settings of the method, as a dictionary.
        random_state: seed of first weights, shuffling, coin and validation split.

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
        method: str = "map-dc",
        p_solve: float = 0.05,
        model: str | Callable[..., nn.Module] = "linear",
        hidden: int = 32,
        epochs: int = 20,
        lr: float = 0.1,
        batch_size: int = 32,
        validation: float = 0.0,
        patience: int = 5,
        settings: dict[str, Any] | None = None,
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
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, instance: ArrayLike | None = None) -> DecisionRegressor:
        """Solve the true optima, then train.

        Args:
            X: ``(n, k)`` features of instances, or ``(n, d, k)`` of their variables.
            y: ``(n, d)`` true costs.
            instance: ``(n,)`` ids, for families.
        """
        # A problem counts its solves; the one that was handed over stays as it was, as scikit-learn asks.
        problem = copy.copy(self._problem())
        problem.statistics = SolveStatistics()
        features, costs = self._checked(X, y, first=True)
        train = Dataset.solve(problem, features, costs, instance=instance, progress=False)
        held_out, callbacks = None, list[Callback]()
        if self.validation:
            if not 0 < self.validation < 1:
                raise InputError(f"validation must be a share between 0 and 1, got {self.validation}")
            train, held_out = train.split(1 - self.validation, seed=self.random_state)
            callbacks.append(EarlyStopping(patience=self.patience))
        if isinstance(self.model, str):
            self.model_ = make_model(
                train.features,
                problem.dimension,
                kind=self.model,  # type: ignore[arg-type]
                hidden=self.hidden,
                seed=self.random_state,
            )
        else:
            self.model_ = self.model(train.features, problem.dimension, self.random_state)
        row = methods.method(self.method)
        settings = {"p_solve": self.p_solve} | dict(self.settings or {}) if row.cached else dict(self.settings or {})
        if row.search is not None:
            chosen = methods.chosen(self.method, settings)
            fitted = row.search(self.model_, problem, train, seed=self.random_state, progress=False, **chosen)
        else:
            fitted = fit(
                self.model_,
                methods.make_loss(self.method, problem, train, seed=self.random_state, **settings),
                train,
                epochs=self.epochs,
                lr=self.lr,
                batch_size=self.batch_size,
                seed=self.random_state,
                validation=held_out,
                callbacks=callbacks,
                progress=False,
            )
        self.history_ = fitted.history
        self.n_iter_ = max(len(fitted.history), 1)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predicted costs ``(n, d)``."""
        check_is_fitted(self, "model_")
        features = torch.tensor(self._checked(X), dtype=torch.get_default_dtype())
        return predict(self.model_, features).to(torch.float64).numpy()

    def decide(self, X: ArrayLike, instance: ArrayLike | None = None) -> NDArray[np.float64]:
        """Decisions ``(n, variables)`` at the predicted costs, solved exactly."""
        decisions = self._problem().solve(self.predict(X), instance)
        return decisions.decision.numpy()

    def score(self, X: ArrayLike, y: ArrayLike, instance: ArrayLike | None = None) -> float:
        """Return the negative relative regret: 0 is perfect, and larger is better."""
        problem = self._problem()
        predicted = torch.as_tensor(self.predict(X))
        _, costs = self._checked(X, y)
        true = torch.as_tensor(costs)
        ids = None if instance is None else torch.as_tensor(instance, dtype=torch.int64)
        with problem.counted_as("labels"):
            best = problem.solve(true, ids)
        regrets = regret(problem, predicted, true, best.solution, ids, status=best.status)
        return -relative_regret(regrets, optimal_values(problem, true, best.solution))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.input_tags.three_d_array = True
        tags.regressor_tags.poor_score = True  # the score is a regret, and not the R^2 that the checks ask for
        return tags

    def _problem(self) -> Problem:
        if self.problem is None:
            raise InputError("DecisionRegressor needs a problem: DecisionRegressor(problem, ...)")
        return self.problem

    def _checked(self, X: ArrayLike, y: ArrayLike | None = None, *, first: bool = False) -> Any:
        """Arrays with finite numbers; features are counted on fit and compared afterwards, as scikit-learn asks."""
        settings: dict[str, Any] = {"reset": first}
        if getattr(X, "ndim", 2) == 3:
            settings |= {"allow_nd": True, "ensure_2d": False}
        if y is None and not first:
            return validate_data(self, X, **settings)
        if y is None:
            raise InputError("DecisionRegressor requires y to be passed, but the target y is None")
        y = by_name(y, self._problem().cost_names)
        return validate_data(self, X, y, multi_output=True, y_numeric=True, **settings)
