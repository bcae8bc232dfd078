"""Arguments of ``train`` that a method cannot use: they are refused, and not ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regretless.errors import InputError
from regretless.training.methods import method as find_method

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
