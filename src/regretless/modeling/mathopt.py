"""Reader of OR-Tools MathOpt models."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from regretless.errors import InputError
from regretless.modeling.linear_model import QUADRATIC, LinearModel

UNSUPPORTED = {
    "auxiliary_objectives": "more than one objective",
    "quadratic_constraints": QUADRATIC,
    "second_order_cone_constraints": QUADRATIC,
    "sos1_constraints": "SOS constraints",
    "sos2_constraints": "SOS constraints",
    "indicator_constraints": "indicator constraints",
}


def linear(model: Any) -> LinearModel:
    """Read a ``mathopt.Model``."""
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
    costs = proto.objective.linear_coefficients
    objective = np.zeros(n)
    objective[[column[identity] for identity in costs.ids]] = costs.values
    return LinearModel(
        A=sparse.csr_array((np.array(entries.coefficients, dtype=float), where), shape=(len(line), n)),
        row_lower=rows.lower_bounds,
        row_upper=rows.upper_bounds,
        lower=variables.lower_bounds,
        upper=variables.upper_bounds,
        integer=variables.integers,
        objective=objective,
        constant=proto.objective.offset,
        sense="max" if proto.objective.maximize else "min",
        # The field is empty if no variable has a name.
        names=tuple(variables.names) or ("",) * n,
        row_names=tuple(rows.names) or None,
    )
