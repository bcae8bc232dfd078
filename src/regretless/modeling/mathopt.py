"""Models of OR-Tools MathOpt."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.modeling.linear_expressions import QUADRATIC, Linear

UNSUPPORTED = {
    "auxiliary_objectives": "more than one objective",
    "quadratic_constraints": QUADRATIC,
    "second_order_cone_constraints": QUADRATIC,
    "sos1_constraints": "SOS constraints",
    "sos2_constraints": "SOS constraints",
    "indicator_constraints": "indicator constraints",
}


def linear(model: Any) -> Linear:
    """Read a ``mathopt.Model``."""
    if not hasattr(model, "export_model"):
        raise InputError(f"a MathOpt model must be a mathopt.Model, got {type(model).__qualname__}")
    proto = model.export_model()
    for name, what in UNSUPPORTED.items():
        if len(getattr(proto, name, ())):
            raise InputError(f"the MathOpt model has {what}, which a linear model cannot represent")
    if len(proto.objective.quadratic_coefficients.row_ids):
        raise InputError("the MathOpt model has a quadratic objective; only linear ones can be predicted")
    variables, rows, entries = proto.variables, proto.linear_constraints, proto.linear_constraint_matrix
    column = {identity: j for j, identity in enumerate(variables.ids)}
    line = {identity: i for i, identity in enumerate(rows.ids)}
    n = len(column)
    where = ([line[i] for i in entries.row_ids], [column[j] for j in entries.column_ids])
    objective = np.zeros(n)
    for identity, value in zip(proto.objective.linear_coefficients.ids, proto.objective.linear_coefficients.values):  # noqa: B905
        objective[column[identity]] = value
    return Linear(
        A=sparse.csr_array((np.array(entries.coefficients, dtype=float), where), shape=(len(line), n)),
        row_lower=np.array(rows.lower_bounds, dtype=float),
        row_upper=np.array(rows.upper_bounds, dtype=float),
        lower=np.array(variables.lower_bounds, dtype=float),
        upper=np.array(variables.upper_bounds, dtype=float),
        integer=np.array(variables.integers, dtype=bool),
        objective=objective,
        constant=float(proto.objective.offset),
        sense="max" if proto.objective.maximize else "min",
        # a model without any names leaves the field out
        names=tuple(variables.names) or ("",) * n,
    )
