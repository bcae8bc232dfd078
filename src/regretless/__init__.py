"""Decision-focused learning: train on the regret of the decision, with contrastive losses and a solution cache.

>>> import regretless as rl
>>> problem = rl.Problem(rl.MILP([[3.0, 4.0, 5.0]], row_upper=7.0), sense="max")
>>> problem.solve([[4.0, 5.0, 6.0]]).decision.tolist()
[[1.0, 1.0, 0.0]]
"""

from typing import Any

from regretless import early_interrupt, errors  # first: what follows takes seconds
from regretless.cache import Bernoulli, Falling, GapAbove, LargestGap, SolutionCache
from regretless.data import Dataset
from regretless.family import Family
from regretless.losses import (
    LAVA,
    MAP,
    NCE,
    QPTL,
    AdaptiveImplicitMLE,
    AutogradLoss,
    Blackbox,
    ClosedFormLoss,
    ConeAlignment,
    ExpectedRegret,
    ImplicitMLE,
    Interior,
    Listwise,
    Loss,
    NegativeIdentity,
    Pairwise,
    PairwiseDifference,
    PerturbationGradient,
    PerturbedFenchelYoung,
    PerturbedOptimizer,
    Pointwise,
    RegularizedFenchelYoung,
    RegularizedOptimizer,
    SmoothedContrastive,
    SPOPlus,
    TwoStage,
    WarmUp,
)
from regretless.metrics import regret
from regretless.milp import MILP
from regretless.modeling import read
from regretless.problem import Problem
from regretless.problems import load
from regretless.search import AutoResult, Committee, Verdict, auto, train
from regretless.training import EarlyStopping, Watch, evaluate, fit, predict
from regretless.training.methods import make_loss
from regretless.training.models import make_model
from regretless.training.nearest_neighbors import neighbor_labels
from regretless.types import Status

early_interrupt.finish()
__version__ = "0.2.0"

__all__ = [
    "LAVA", "MAP", "MILP", "NCE", "QPTL", "AdaptiveImplicitMLE", "AutoResult", "AutogradLoss", "Bernoulli", "Blackbox",
    "ClosedFormLoss", "Committee", "ConeAlignment", "Dataset", "Decider", "EarlyStopping", "ExpectedRegret", "Falling",
    "Family", "GapAbove", "ImplicitMLE", "Interior", "LargestGap", "Listwise", "LoggedDecider", "Loss",
    "NegativeIdentity", "Pairwise", "PairwiseDifference", "PerturbationGradient", "PerturbedFenchelYoung",
    "PerturbedOptimizer", "Pointwise", "Problem", "RegularizedFenchelYoung", "RegularizedOptimizer", "SPOPlus",
    "SmoothedContrastive", "SolutionCache", "Status", "TwoStage", "Verdict", "WarmUp", "Watch", "audit_decisions",
    "auto", "errors", "evaluate", "fit", "load", "make_loss", "make_model", "neighbor_labels", "predict", "read",
    "regret", "train",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load what decides on first use: it belongs to the application, and the library does without."""
    if name in ("Decider", "LoggedDecider", "audit_decisions"):
        from regretless import deciding

        return getattr(deciding, name)
    raise AttributeError(f"module 'regretless' has no attribute {name!r}")
