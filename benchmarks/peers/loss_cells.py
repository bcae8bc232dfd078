"""What ``compare_losses.py`` trains on both sides: cells, settings and losses. Needs only Python.

Both sides import this file, each in its own virtual environment.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEGREES, SIZES = (1, 2, 4, 6), (100, 1000)
TEST, FEATURES, GRID, NOISE = 1000, 5, (5, 5), 0.5
# As in PyEPO's notebook on training.
EPOCHS, BATCH, LR = 20, 32, 0.01
NOISE_SEED = 135  # PyEPO's default


@dataclass(frozen=True)
class Pair:
    """A loss of both libraries, with the same settings.

    Attributes:
        pyepo: class in ``pyepo.func``.
        settings: of that class.
        task: what PyEPO's modules that return a solution are trained with, as their documentation says: ``"objective"``
            for the absolute difference of objective values, ``"l1"`` or ``"mse"`` for that of solutions; ``None`` for
            modules that are losses.
        method: ours.
        options: of ours, where our defaults are others than PyEPO's.
        reduction: of ours over the batch.
    """

    pyepo: str
    settings: dict[str, Any] = field(default_factory=dict)
    task: str | None = None
    method: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    reduction: str = "mean"


_ALL = {"p_solve": 1.0}
_FRANK_WOLFE = {"max_iter": 10}
PAIRS: dict[str, Pair] = {
    "SPO+": Pair("SPOPlus", method="spo"),
    "PG": Pair("perturbationGradient", method="pg"),
    "DBB": Pair("blackboxOpt", task="objective", method="blackbox", reduction="sum"),  # see width_of_differences
    "NID": Pair("negativeIdentity", task="objective", method="nid", options={"task": "regret"}),
    "DPO": Pair("perturbedOpt", task="mse", method="dpo"),
    "DPO multiplicative": Pair("perturbedOptMul", task="mse", method="dpo", options={"noise": "multiplicative"}),
    "PFY": Pair("perturbedFenchelYoung", method="pfy"),
    "PFY multiplicative": Pair("perturbedFenchelYoungMul", method="pfy", options={"noise": "multiplicative"}),
    "I-MLE": Pair("implicitMLE", task="l1", method="imle"),
    "AI-MLE": Pair("adaptiveImplicitMLE", task="l1", method="aimle"),
    "RFY": Pair("regularizedFrankWolfeFenchelYoung", _FRANK_WOLFE, method="rfy", options={"max_iterations": 10}),
    "RFWO": Pair("regularizedFrankWolfeOpt", _FRANK_WOLFE, "mse", "rfw", {"max_iterations": 10}),
    "NCE": Pair("noiseContrastiveEstimation", method="nce-c", options=_ALL),
    "CMAP": Pair("contrastiveMAP", method="map-c", options=_ALL),
    "listwise": Pair(
        "listwiseLearningToRank", method="listwise", options=_ALL | {"temperature": 1.0, "scale": "fixed"}
    ),
    "pairwise": Pair("pairwiseLearningToRank", method="pairwise", options=_ALL),
    "pointwise": Pair("pointwiseLearningToRank", method="pointwise", options=_ALL),
    "CaVE+": Pair("coneAlignedCosine", method="cave"),
    "kNN SPO+": Pair("SPOPlus", method="spo"),  # on nearest-neighbor labels
}
NEIGHBORS = 10
# Ours alone, with 5 % of the solves of SPO+.
FROM_TWO_STAGE = " from two-stage"
CACHED = ("map-dc", "map-dc from two-stage", "soft from two-stage", "pfy-cache", "lava")
P_SOLVE = 0.05


def width_of_differences(instances: int) -> float:
    """Mean width of PyEPO's finite differences over the batches of an epoch, for our ``lambda_``.

    The mean of the task loss enters them, so the width of an instance is PyEPO's default of 10 over the batch size, and
    larger in the last batch. PyEPO's gradient is a sum over the batch.
    """
    sizes = [min(BATCH, instances - start) for start in range(0, instances, BATCH)]
    return sum(10.0 / size for size in sizes) / len(sizes)
