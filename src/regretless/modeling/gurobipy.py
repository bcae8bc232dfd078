"""Reader of gurobipy models."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.modeling.linear_model import QUADRATIC, LinearModel, binary_bounds

UNSUPPORTED = {
    "NumQConstrs": QUADRATIC,
    "NumSOS": "SOS constraints",
    "NumGenConstrs": "general or indicator constraints",
    "NumPWLObjVars": "a piecewise-linear objective",
    "IsMultiObj": "more than one objective",
    "NumScenarios": "several scenarios",
}
KINDS = {"C": False, "B": True, "I": True}


def linear(model: Any) -> LinearModel:
    """Read a ``gurobipy.Model``; pending changes are applied first (``model.update()``)."""
    model.update()
    for name, what in UNSUPPORTED.items():
        if getattr(model, name, 0):
            raise InputError(f"the Gurobi model has {what}, which a linear model cannot represent")
    if model.NumQNZs or model.IsQP:
        raise InputError("the Gurobi model has a quadratic objective; only linear ones can be predicted")
    kinds = model.getAttr("VType")
    for name, kind in zip(model.getAttr("VarName"), kinds, strict=True):
        if kind not in KINDS:
            raise InputError(f"the variable {name!r} is semi-continuous or semi-integer, which cannot be represented")
    binary = np.array([kind == "B" for kind in kinds], dtype=bool)  # maybe by a later change, with wider bounds
    lower, upper = binary_bounds(model.getAttr("LB"), model.getAttr("UB"), binary)
    senses = np.array(model.getAttr("Sense"), dtype="U1")
    right = np.array(model.getAttr("RHS"), dtype=float)
    return LinearModel(
        A=model.getA(),
        row_lower=np.where(senses == "<", -np.inf, right),
        row_upper=np.where(senses == ">", np.inf, right),
        lower=lower,
        upper=upper,
        integer=[KINDS[kind] for kind in kinds],
        objective=model.getAttr("Obj"),
        constant=model.ObjCon,
        sense="max" if model.ModelSense < 0 else "min",
        names=tuple(model.getAttr("VarName")),
        row_names=tuple(model.getAttr("ConstrName")),
    )
