"""The two-stage baseline, as good as it can be made: closed form for linear models, converged otherwise."""

from __future__ import annotations

import copy
from typing import Literal

import torch
from torch import Tensor, nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.instance_weights import relative_weights
from regretless.losses import TwoStage
from regretless.number_checks import LARGEST_SEED, check_integer
from regretless.training.callbacks import Callback, EarlyStopping, TrainingState
from regretless.training.evaluation import predict
from regretless.training.fit_loop import fit
from regretless.training.folds import make_folds, rest_of
from regretless.training.history import History
from regretless.training.lean_adam import LeanAdam
from regretless.training.linear_model import find_linear
from regretless.training.model_check import check_model
from regretless.training.ridge import ridge
from regretless.training.running_fit import Fitted
from regretless.training.scaling import EPS, deviation_or_one, eps_for
from regretless.type_checks import check_type

FOLDS = 5
EPOCHS, PATIENCE, BATCH = 500, 20, 32
RATES = (1e-2, 1e-3)


def fit_two_stage(
    model: nn.Module,
    train: Dataset,
    *,
    seed: int = 0,
    ordered: bool = False,
    criterion: Literal["mse", "bce"] = "mse",
    progress: bool | None = None,
) -> Fitted:
    """Fit a model to the costs, without regard to the decision; trained in place.

    A linear model gets the ridge solution, with the penalty chosen by folds of the training data. Any other model is
    trained with Adam from its own initial weights until the error on a held-out fifth no longer falls, at the better of
    two learning rates. The weights of smallest held-out error are kept.

    Args:
        model: maps features to costs.
        train: training data.
        seed: of folds and shuffling.
        ordered: whether folds are consecutive blocks (time series) in place of random parts.
        criterion: ``"mse"``, or ``"bce"`` for costs that are 0/1 labels.
        progress: show a bar; by default on a terminal.

    Raises:
        InputError: the model has nothing to train or does not fit the data.
    """
    check_type("model", model, nn.Module)
    check_type("train", train, Dataset)
    if not len(train):
        raise InputError("training needs data, got 0 instances")
    seed = check_integer("seed", seed, least=0, most=LARGEST_SEED)
    check_model(model, train.features, train.costs.shape[1])
    folds = make_folds(len(train), FOLDS, seed=seed, ordered=ordered) if len(train) >= 2 * FOLDS else []
    linear = find_linear(model) if criterion == "mse" else None
    if linear is not None:
        parameter = linear.layer.weight
        # In the memory of the CPU, where the data are, whatever the device of the model is.
        inputs = linear.inputs(train.features.to(parameter)).detach().cpu()
        own = linear.intercepts is not None
        for name, given in (("features", inputs), ("costs", train.costs)):
            if not bool(torch.isfinite(given).all()):
                row = int((~torch.isfinite(given)).nonzero()[0][0])
                raise InputError(f"{name} must be finite, got NaN or infinity in row {row}")
        weight, bias = ridge(
            inputs, train.costs, bias=linear.has_bias, folds=folds, intercepts=own, weight=train.weight
        )
        linear.set(weight.to(parameter), None if bias is None else bias.to(parameter))
        return Fitted(model, History([]), "ridge regression in closed form")
    # With too few instances to hold some out, the training error decides.
    held_out = folds[0] if folds else torch.arange(len(train))
    rest = rest_of(len(train), held_out) if folds else held_out
    first = copy.deepcopy(model.state_dict())
    found = []
    for rate in RATES:
        model.load_state_dict(first)
        stopping = EarlyStopping(patience=PATIENCE, column="held_out_error")
        callbacks = [HeldOutError(train[held_out], criterion), stopping]
        fitted = fit(
            model,
            TwoStage(criterion=criterion),
            train[rest],
            epochs=EPOCHS,
            optimizer=_adam(model, rate, train.costs, criterion),
            batch_size=BATCH,
            seed=seed,
            callbacks=callbacks,
            progress=progress,
        )
        found.append((stopping.best, copy.deepcopy(model.state_dict()), fitted))
    _, weights, fitted = min(found, key=lambda one: one[0])
    model.load_state_dict(weights)
    return fitted


def _adam(model: nn.Module, rate: float, costs: Tensor, criterion: str) -> LeanAdam:
    """Adam for costs of any size."""
    eps = eps_for(float(deviation_or_one(costs))) if criterion == "mse" else EPS
    return LeanAdam(model.parameters(), rate, eps=eps)


class HeldOutError(Callback):
    """Write the error on held-out data into the history."""

    def __init__(self, data: Dataset, criterion: Literal["mse", "bce"]) -> None:
        self.data, self.loss = data, TwoStage(criterion=criterion)

    def on_epoch(self, state: TrainingState) -> None:
        """Compute the error."""
        predicted = predict(state.model, self.data.features)
        weight = relative_weights(self.data.weight)
        state.row["held_out_error"] = float(self.loss(predicted, self.data.costs, self.data.solutions, weight=weight))
