"""Models that are not torch modules: fitted regressors of other libraries, and functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from regretless.errors import InputError


class Regressor(Protocol):
    """A model of another library that is fitted already."""

    def predict(self, X: Any, /) -> Any:
        """Predict one target per row, or several."""


Predictor = nn.Module | Regressor | Callable[[Any], Any]


def is_array(model: Any) -> bool:
    """Whether predicted costs were given in place of a model: an array, a tensor, a list or a data frame."""
    if isinstance(model, Tensor | np.ndarray | list | tuple):
        return True
    # A regressor may have an attribute of this name, too: DecisionRegressor has.
    return hasattr(model, "columns") and not _predicts(model)


def as_module(model: Predictor) -> nn.Module:
    """Return a torch module as it is, and a regressor with ``predict`` or a function as a module that is not trained.

    Raises:
        InputError: it is none of these.
    """
    if isinstance(model, nn.Module):
        return model
    if isinstance(model, type) or not (callable(model) or _predicts(model)):
        got = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise InputError(
            "model must be a torch module, a fitted regressor with a method predict, or a function of the features, "
            f"got {got}"
        )
    return OtherModel(model)


class OtherModel(nn.Module):
    """A regressor that is fitted already, or a function of arrays.

    A regressor gets a table: of features per variable ``(n, d, k)`` one row per variable, ``(n d, k)``, as it was
    fitted on. A function gets the features as they are, and so does a ``DecisionRegressor``.

    Args:
        model: with ``predict``, as those of scikit-learn, LightGBM and XGBoost, or a function ``features -> costs``.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: Tensor) -> Tensor:
        """Predict costs ``(n, d)``."""
        given = x.detach().cpu().numpy()
        if not _predicts(self.model):
            return torch.as_tensor(np.asarray(self.model(given)))
        if given.ndim < 3 or _takes_variables(self.model):
            found = np.asarray(self.model.predict(given))
            return torch.as_tensor(found[:, None] if found.ndim == 1 else found)
        found = np.asarray(self.model.predict(given.reshape(-1, given.shape[-1])))
        return torch.as_tensor(found.reshape(given.shape[:-1]))


def _predicts(model: Any) -> bool:
    return callable(getattr(model, "predict", None))


def _takes_variables(model: Any) -> bool:
    """Whether an estimator of scikit-learn declares that it takes features ``(n, d, k)``."""
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is not None and bool(tags().input_tags.three_d_array)
