"""Models of gurobipy."""

from __future__ import annotations

from typing import Any

import numpy as np

from regretless.errors import InputError
from regretless.modeling.linear_expressions import QUADRATIC, Linear

UNSUPPORTED = {
    "NumQConstrs": QUADRATIC,
    "NumSOS": "SOS constraints",
    "NumGenConstrs": "general or indicator constraints",
    "NumPWLObjVars": "a piecewise-linear objective",
    "IsMultiObj": "more than one objective",
    "NumScenarios": "several scenarios",
}
KINDS = {"C": False, "B": True, "I": True}


def linear(model: Any) -> Linear:
    """Read a ``gurobipy.Model``; changes that are still pending are applied first (``model.update()``)."""
    if not hasattr(model, "getA"):
        raise InputError(f"a gurobipy model must be a gurobipy.Model, got {type(model).__qualname__}")
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
    senses = np.array(model.getAttr("Sense"), dtype="U1")
    right = np.array(model.getAttr("RHS"), dtype=float)
    return Linear(
        A=model.getA(),
        row_lower=np.where(senses == "<", -np.inf, right),
        row_upper=np.where(senses == ">", np.inf, right),
        lower=np.array(model.getAttr("LB"), dtype=float),
        upper=np.array(model.getAttr("UB"), dtype=float),
        integer=np.array([KINDS[kind] for kind in kinds], dtype=bool),
        objective=np.array(model.getAttr("Obj"), dtype=float),
        constant=float(model.ObjCon),
        sense="max" if model.ModelSense < 0 else "min",
        names=tuple(model.getAttr("VarName")),
    )
