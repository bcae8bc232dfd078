"""Reader of linopy models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.modeling.linear_model import LinearModel


def linear(model: Any) -> LinearModel:
    """Read a ``linopy.Model``; an element of an array is called ``x[i,j]`` by its coordinates."""
    _refuse_unsupported(model)
    matrices = model.matrices
    labels = np.asarray(matrices.vlabels)
    if not len(labels):
        raise InputError("the linopy model has no variables")
    rows = len(model.constraints) > 0  # without them, older versions of linopy have no senses and right-hand sides
    senses = np.asarray(matrices.sense if rows else [], dtype="U1")
    right = np.asarray(matrices.b if rows else [], dtype=float)
    return LinearModel(
        A=matrices.A if rows else sparse.csr_array((0, len(labels))),
        row_lower=np.where(senses == "<", -np.inf, right),
        row_upper=np.where(senses == ">", np.inf, right),
        lower=matrices.lb,
        upper=matrices.ub,
        integer=np.isin(np.asarray(matrices.vtypes), ["B", "I"]),
        objective=matrices.c,
        constant=np.nan_to_num(np.asarray(model.objective.expression.const, dtype=float)).sum(),
        sense="max" if model.objective.sense == "max" else "min",
        names=_names(model, labels),
    )


def _refuse_unsupported(model: Any) -> None:
    if model.objective.is_quadratic:
        raise InputError("the linopy model has a quadratic objective; only linear ones can be predicted")
    for name, variable in model.variables.items():
        if variable.attrs.get("semi_continuous"):
            raise InputError(f"the variable {name!r} is semi-continuous, which a linear model cannot represent")
        if any(key.startswith("sos") for key in variable.attrs):
            raise InputError(f"the variable {name!r} is in an SOS constraint, which a linear model cannot represent")
    if len(getattr(model, "indicator_constraints", ()) or ()):
        raise InputError("the linopy model has indicator constraints, which a linear model cannot represent")


def _names(model: Any, labels: Any) -> tuple[str, ...]:
    found: dict[int, str] = {}
    for name, variable in model.variables.items():
        array = variable.labels
        keys = [[str(key) for key in array.indexes[dimension]] for dimension in array.dims]
        for position, label in np.ndenumerate(array.values):
            inside = ",".join(keys[axis][i] for axis, i in enumerate(position))
            found[int(label)] = f"{name}[{inside}]" if inside else name
    return tuple(found[int(label)] for label in labels)
