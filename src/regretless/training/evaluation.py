"""Exact evaluation: always the solver, never the cache."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, cast

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from regretless import metrics
from regretless.begun_solves import BegunSolves
from regretless.cost_columns import by_name
from regretless.data import Dataset
from regretless.errors import InputError, RegretlessError
from regretless.instance_weights import weighted_mean
from regretless.problem import Problem
from regretless.ranks import Ranks
from regretless.tensors import features_tensor, tensor
from regretless.training.other_models import Predictor, as_module, is_array
from regretless.type_checks import check_type

PREDICT_BATCH = 256


@dataclass(frozen=True)
class Evaluation:
    """Regret and prediction error of a model on a data set.

    Attributes:
        regret: mean regret per instance, in the user's units; the weighted mean where the data has weights, as the
            next two are.
        relative_regret: sum of regrets over the sum of absolute optimal values.
        mse: mean squared error of the predicted costs.
        auc: area under the ROC curve where costs are 0/1 labels, else ``None``.
        instances: number of instances in the mean.
        failed: instances whose solve failed; they are left out of the regret.
        not_optimal: labels whose own solve was not optimal; where there are any, the regret is only a bound.
        cut_short: decisions that were not proven optimal at the predicted costs; an optimal decision might be better.
    """

    regret: float
    relative_regret: float
    mse: float
    auc: float | None
    instances: int
    failed: int
    not_optimal: int
    cut_short: int = 0

    @property
    def exact(self) -> bool:
        """Whether every label and every decision was proven optimal."""
        return not (self.failed or self.not_optimal or self.cut_short)

    def as_dict(self) -> dict[str, float | int | None]:
        """Plain data, for tables and files."""
        return asdict(self)


def predict(model: Predictor, features: Any) -> Tensor:
    """Predicted costs ``(n, d)`` without a gradient, in batches, in evaluation mode.

    Args:
        model: maps features to costs: a torch module, a fitted regressor with ``predict``, or a function of arrays.
        features: ``(n, ...)`` tensor, array, nested list or data frame.

    Raises:
        InputError: features that are not numbers, or one number; or the model is of another kind, cannot take the
            features, or returns no tensor.
    """
    model, name = as_module(model), type(model).__name__
    given = features_tensor(features)
    if given.ndim == 0:
        raise InputError("features must have shape (n, ...), got one number")
    parameter = next(model.parameters(), None)
    # Of every module: a part of a model may be in evaluation mode while the rest is trained.
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.no_grad():
            # Copies: a model may write into its input.
            parts = [
                predicted_costs(model, part.clone() if parameter is None else to_model(part.clone(), parameter))
                for part in torch.split(given, PREDICT_BATCH)
            ]
    except (RegretlessError, torch.cuda.OutOfMemoryError):
        raise
    except Exception as error:  # whatever a model does with features that it is not made for
        raise InputError(
            f"the model {name} cannot predict from features of shape {tuple(given.shape)}: "
            f"{type(error).__name__}: {error}"
        ) from error
    finally:
        for module in training:
            module.training = True
    return torch.cat(parts).cpu()


def predicted_costs(model: nn.Module, features: Tensor) -> Tensor:
    """What a model predicts from a batch of features.

    Raises:
        InputError: it returns no tensor.
    """
    found: Any = model(features)
    if not isinstance(found, Tensor):
        raise InputError(
            f"the model {type(model).__name__} must return the predicted costs as one tensor, got "
            f"{type(found).__name__}: return only the costs, or wrap it in a module that does"
        )
    return found


def to_model(features: Tensor, parameter: Tensor) -> Tensor:
    """Features on the device of the model, and in its precision unless they are integers."""
    dtype = parameter.dtype if features.is_floating_point() else features.dtype
    return features.to(device=parameter.device, dtype=dtype)


def _given(predicted: Any, data: Dataset, problem: Problem) -> Tensor:
    """Predicted costs that were given in place of a model."""
    costs = tensor("predicted costs", by_name(predicted, problem.cost_names)).to(torch.float64)
    if costs.shape != data.costs.shape:
        raise InputError(f"predicted costs must have shape {tuple(data.costs.shape)}, got {tuple(costs.shape)}")
    return costs


@dataclass(frozen=True, eq=False)
class InstanceResults:
    """What an evaluation found per instance: ``(n, d)`` predicted costs, ``(n, width)`` decisions, ``(n,)`` regrets."""

    predicted: Tensor
    solutions: Tensor
    regrets: Tensor


def evaluate(
    model: Predictor | ArrayLike,
    data: Dataset,
    problem: Problem,
    *,
    ranks: Ranks | None = None,
    progress: bool | None = False,
) -> Evaluation:
    """Evaluate ``model`` on ``data``: the exact regret of its decisions, and the error of its predictions.

    Args:
        model: maps features to costs: a torch module, a fitted regressor with ``predict`` (scikit-learn, LightGBM,
            XGBoost) or a function of arrays; or predicted costs ``(n, d)``, such as the forecasts of a supplier.
        data: with true optima.
        problem: solves at the predictions.
        ranks: of a data-parallel training, which solve a part each; all must call this, and all get the same figures.
        progress: show a bar; ``None`` for one on a terminal.

    Returns:
        Regret, relative regret, prediction error and counts; see ``Evaluation``.

    Raises:
        InputError: an argument is of another type, or the model does not fit the data.
        SolveError: as ``regret``.
    """
    return evaluate_instances(model, data, problem, ranks=ranks, progress=progress)[0]


def evaluate_instances(
    model: Predictor | ArrayLike,
    data: Dataset,
    problem: Problem,
    *,
    ranks: Ranks | None = None,
    begun: BegunSolves | None = None,
    progress: bool | None = False,
) -> tuple[Evaluation, InstanceResults]:
    """Evaluate as ``evaluate`` does, without the solves that ``begun`` has, and return the results per instance too."""
    check_type("data", data, Dataset, hint="build it with Dataset.solve(problem, features, costs)")
    check_type("problem", problem, Problem)
    predicted = _given(model, data, problem) if is_array(model) else predict(cast(Predictor, model), data.features)
    own, costs, first = data, predicted, 0
    if ranks is not None:
        parts = torch.arange(len(data)).tensor_split(ranks.size)
        part, first = parts[ranks.rank], sum(map(len, parts[: ranks.rank]))
        own, costs = data[part], predicted[part]
    decided = metrics.regret_of_decisions(
        problem, costs, own.costs, own.solutions, own.instance, status=own.status, begun=begun, progress=progress,
        first=first,
    )  # fmt: skip
    regrets, solutions, cut_short = decided.regrets, decided.decisions, decided.cut_short
    if ranks is not None:
        regrets, solutions = ranks.gather_rows(regrets), ranks.gather_rows(solutions)
        cut_short = int(ranks.gather(torch.tensor(cut_short)).sum())
    known = ~torch.isnan(regrets)
    optimal = metrics.optimal_values(problem, data.costs, data.solutions, data.instance)
    counts = torch.ones_like(regrets) if data.weight is None else data.weight
    figures = Evaluation(
        regret=weighted_mean(regrets, data.weight),
        relative_regret=metrics.relative_regret(counts * regrets, counts * optimal),
        mse=metrics.mse(predicted, data.costs, data.weight),
        auc=metrics.auc(predicted, data.costs),
        instances=int(known.sum()),
        failed=int((~known).sum()),
        not_optimal=data.not_optimal,
        cut_short=cut_short,
    )
    return figures, InstanceResults(predicted, solutions, regrets)


def to_loss(values: Tensor, parameter: Tensor) -> Tensor:
    """True costs or labels on the device of the model and in its precision, at least single precision.

    Losses are computed in single precision where the model is in half precision. A label such as 601, rounded to 600,
    would be beaten by an exact answer.
    """
    dtype = torch.promote_types(parameter.dtype, torch.float32)
    return values.to(device=parameter.device, dtype=dtype)
