"""``train``: one verb for every method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.number_checks import check_numbers
from regretless.problem import Problem
from regretless.ranks import ranks_of, unwrapped
from regretless.search.automatic import auto, check_solutions
from regretless.search.final_model import AutoResult
from regretless.training.callbacks import Callback, EarlyStopping, Watch
from regretless.training.fit_loop import fit, listed_callbacks
from regretless.training.history import History
from regretless.training.methods import chosen, make_loss
from regretless.training.methods import method as find_method
from regretless.training.model_check import initial_model
from regretless.training.two_stage import fit_two_stage
from regretless.type_checks import check_type

EPOCHS, LR, BATCH = 20, 0.1, 24
Start = Literal["two-stage", "random"] | nn.Module | Mapping[str, Tensor]


@dataclass(frozen=True)
class Trained:
    """A trained model.

    Attributes:
        model: maps features to costs.
        history: one row per epoch.
        reason: why training ended.
        search: candidates, verdict and counts, where the method was ``"auto"``.
        cache: the solutions that training used, for methods with a cache.
    """

    model: nn.Module
    history: History
    reason: str
    search: AutoResult | None = None
    cache: SolutionCache | None = None


def train(
    problem: Problem,
    data: Dataset,
    model: nn.Module | Callable[[int], nn.Module] | None = None,
    *,
    method: str = "auto",
    seed: int = 0,
    epochs: int | None = None,
    lr: float | None = None,
    batch_size: int | None = None,
    start: Start | None = None,
    solutions: tuple[Tensor, Tensor | None] | None = None,
    validation: Dataset | None = None,
    patience: int = 0,
    callbacks: Iterable[Callback] = (),
    checkpoint: Path | str | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Trained:
    """Train a model for decisions.

    Args:
        problem: what is solved at the predictions.
        data: training data.
        model: a model (trained in place; ``"auto"`` trains copies), a function ``seed -> model``, or ``None`` for a
            linear model of standardized features on the scale of the costs; ``"auto"`` then also tries one with more
            terms (see ``auto``).
        method: ``"auto"``, or a name in the table of methods.
        seed: of initial weights, shuffling, folds and coins.
        epochs: passes over the data; by default 20, and the search's own choice for ``"auto"``.
        lr: learning rate, by default 0.1; ``"auto"`` tries several.
        batch_size: instances per step; by default 24, and 1 for two-stage by gradients.
        start: ``"two-stage"`` weights (the default of ``"auto"``), ``"random"`` ones (the default of all others), or a
            model or its ``state_dict`` to copy weights from.
        solutions: more first members of the cache, ``(m, width)``, and for families ``(m,)`` ids of an instance that
            each serves; for example those of an earlier training.
        validation: its exact regret is the history's column ``validation_regret``.
        patience: epochs without a smaller validation regret before training stops, with the weights of the smallest; 0
            trains to the end.
        callbacks: of ``fit``; for methods that train by gradients.
        checkpoint: file from which an interrupted training continues.
        progress: show bars; by default on a terminal.
        settings: of the method. Two-stage has ``fit="best"`` (closed form for linear models, converged otherwise;
            the default without ``epochs`` and ``lr``) and ``fit="gradient"`` (Adam for a number of epochs).

    Returns:
        The model, its history and why training ended; for ``"auto"`` also the search. See ``Trained``.

    Raises:
        InputError: an unknown method or setting, or one that does not apply to the method.

    >>> import torch
    >>> problem = Problem(oracle=lambda c: torch.eye(3)[int(c.argmin())], dimension=3)
    >>> x = torch.linspace(-1, 1, 30)[:, None]
    >>> data = Dataset.solve(problem, x, torch.cat([x**3, -x, x], dim=1))
    >>> train(problem, data, method="two-stage").reason
    'ridge regression in closed form'
    """
    check_type("problem", problem, Problem)
    check_type("data", data, Dataset, hint="build it with Dataset.solve(problem, features, costs)")
    row = find_method(method)
    given: dict[str, Any] = {"epochs": epochs, "lr": lr, "batch_size": batch_size}
    check_numbers(seed=seed, patience=patience, **{name: value for name, value in given.items() if value is not None})
    seed = int(seed)  # torch takes no integers of NumPy
    chosen(method, settings)
    check_solutions(solutions)
    more_callbacks = list(listed_callbacks(callbacks))
    if validation is not None:
        check_type("validation", validation, Dataset)
    given |= {"callbacks": more_callbacks, "validation": validation, "patience": patience}
    refuse_unused(method, settings, given | {"checkpoint": checkpoint, "solutions": solutions})
    if patience and validation is None:
        raise InputError("patience needs validation data to stop on")
    if method == "auto":
        if isinstance(model, nn.Module) and ranks_of(model) is not None:
            raise InputError("method 'auto' trains on one rank: give it the model without DistributedDataParallel")
        if not (start is None or isinstance(start, str)):
            raise InputError("method 'auto' starts from 'two-stage' or 'random' weights, not from those of a model")
        if batch_size is not None:
            settings = settings | {"batch_size": batch_size}
        if start is not None:
            settings = settings | {"start": start}
        found = auto(
            problem, data, model, seed=seed, epochs=epochs, solutions=solutions, checkpoint=checkpoint,
            progress=progress, **settings,
        )  # fmt: skip
        return Trained(found.model, History(found.history), found.reason, found, found.cache)
    net = initial_model(model, data, problem.dimension, seed)
    if row.search is not None and ranks_of(net) is not None:
        raise InputError(f"method {method!r} trains on one rank: give it the model without DistributedDataParallel")
    _start(unwrapped(net), start, data, seed)
    if is_best_fit(method, settings, epochs=epochs, lr=lr):
        net = unwrapped(net)
        fitted = fit_two_stage(net, data, seed=seed, criterion=settings.get("criterion", "mse"), progress=progress)
        return Trained(net, fitted.history, fitted.reason)
    if row.search is not None:
        options = chosen(method, settings)
        if validation is not None:  # it selects the weights; as many generations as there are never end the search
            options |= {"validation": validation, "patience": patience or options["generations"]}
        fitted = row.search(net, problem, data, seed=seed, checkpoint=checkpoint, progress=progress, **options)
        return Trained(net, fitted.history, fitted.reason)
    if validation is not None:
        more_callbacks.append(Watch(problem, validation, name="validation"))
    if patience:
        more_callbacks.append(EarlyStopping(patience=patience, column="validation_regret"))
    loss = make_loss(method, problem, data, seed=seed, **settings)
    cache = loss.oracle if isinstance(loss.oracle, SolutionCache) else None
    if cache is not None and solutions is not None:
        cache.add(*solutions)
    fitted = fit(
        net,
        loss,
        data,
        epochs=EPOCHS if epochs is None else epochs,
        lr=LR if lr is None else lr,
        batch_size=batch_size or row.batch_size or BATCH,
        seed=seed,
        callbacks=more_callbacks,
        checkpoint=checkpoint,
        progress=progress,
    )
    return Trained(unwrapped(net), fitted.history, fitted.reason, cache=cache)


def _start(model: nn.Module, start: Start | None, data: Dataset, seed: int) -> None:
    """Give a model its initial weights."""
    if start is None or start == "random":
        return
    if isinstance(start, str):
        if start != "two-stage":
            raise InputError(f"start must be 'two-stage', 'random', a model or its state_dict, got {start!r}")
        fit_two_stage(model, data, seed=seed, progress=False)
        return
    weights = start.state_dict() if isinstance(start, nn.Module) else start
    try:
        model.load_state_dict(dict(weights))
    except (RuntimeError, TypeError, AttributeError) as error:
        why = " ".join(str(error).split())
        raise InputError(f"the weights to start from do not fit the model: {why}") from error


STEPS = ("epochs", "lr", "batch_size", "callbacks")  # of gradient descent
HELD_OUT = ("validation", "patience")


def is_best_fit(
    method: str, settings: Mapping[str, Any], *, epochs: int | None = None, lr: float | None = None
) -> bool:
    """Whether two-stage is fitted in closed form or until it has converged, and not for a number of epochs."""
    default = "best" if epochs is None and lr is None else "gradient"
    return method == "two-stage" and settings.get("fit", default) == "best"


def unused_arguments(method: str, settings: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """Arguments of ``train`` that do not apply, by name, with the reason.

    With or without ``epochs`` and ``lr`` among its ``arguments``, two-stage is fitted in different ways.
    """
    row = find_method(method)
    unused = {}
    if method == "auto":
        unused = dict.fromkeys(("lr", "callbacks", *HELD_OUT), "chooses by folds of the training data")
    elif row.search is not None:
        unused = dict.fromkeys(STEPS, f"takes no steps by gradients; its settings are {', '.join(row.options)}")
    elif is_best_fit(method, settings, epochs=arguments.get("epochs"), lr=arguments.get("lr")):
        why = "is fitted in closed form or until it has converged, unless fit='gradient' is set or epochs are given"
        unused = dict.fromkeys((*STEPS, *HELD_OUT, "checkpoint"), why)
    if not row.cached and method != "auto":
        unused["solutions"] = "has no cache to put them in"
    return unused


def refuse_unused(method: str, settings: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that do not apply; ``None``, no callback and a patience of 0 are not given."""
    for name, why in unused_arguments(method, settings, arguments).items():
        value = arguments.get(name)
        given = bool(value) if name in ("callbacks", "patience") else value is not None
        if given:
            raise InputError(f"method {method!r} {why}: leave out {name}")
