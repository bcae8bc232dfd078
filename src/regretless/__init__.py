"""Decision-focused learning: train on the regret of the decision, with contrastive losses and a solution cache.

>>> import regretless as rl
>>> problem = rl.Problem(rl.MILP([[3.0, 4.0, 5.0]], row_upper=7.0), sense="max")
>>> problem.solve([[4.0, 5.0, 6.0]]).decision.tolist()
[[1.0, 1.0, 0.0]]
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from regretless import errors

if TYPE_CHECKING:  # for type checkers and editors; at run time a name is loaded on first use, see ``__getattr__``
    from regretless import estimator as estimator
    from regretless import modeling as modeling
    from regretless import problems as problems
    from regretless import runs as runs
    from regretless import solvers as solvers
    from regretless import tables as tables
    from regretless import training as training
    from regretless.cache import Bernoulli, Falling, GapAbove, LargestGap, SolutionCache
    from regretless.data import Dataset
    from regretless.deciding import Decider, LoggedDecider, audit_decisions
    from regretless.family import Family
    from regretless.losses import *
    from regretless.metrics import regret
    from regretless.milp import MILP
    from regretless.modeling import read
    from regretless.problem import Problem
    from regretless.problems import load
    from regretless.search import AutoResult, Committee, Verdict, auto, train
    from regretless.training import Batches, EarlyStopping, LeanAdam, Watch, evaluate, fit, make_step, predict
    from regretless.training.methods import make_loss
    from regretless.training.models import make_model
    from regretless.training.nearest_neighbors import neighbor_labels
    from regretless.types import Status

__version__ = "0.2.0"

__all__ = [
    "LAVA", "MAP", "MILP", "NCE", "QPTL", "AdaptiveImplicitMLE", "AutoResult", "AutogradLoss", "Batches", "Bernoulli",
    "Blackbox", "ClosedFormLoss", "Committee", "ConeAlignment", "Dataset", "Decider", "EarlyStopping",
    "ExpectedRegret", "Falling", "Family", "GapAbove", "ImplicitMLE", "Interior", "LargestGap", "LeanAdam", "Listwise",
    "LoggedDecider", "Loss", "NegativeIdentity", "Pairwise", "PairwiseDifference", "PerturbationGradient",
    "PerturbedFenchelYoung", "PerturbedOptimizer", "Pointwise", "Problem", "RegularizedFenchelYoung",
    "RegularizedOptimizer", "SPOPlus", "SmoothedContrastive", "SolutionCache", "Status", "TwoStage", "Verdict",
    "WarmUp", "Watch", "audit_decisions", "auto", "errors", "evaluate", "fit", "load", "make_loss", "make_model",
    "make_step", "neighbor_labels", "predict", "read", "regret", "train",
]  # fmt: skip

# Where a name is defined; every other one is a loss.
_HOMES = {
    "cache": ("Bernoulli", "Falling", "GapAbove", "LargestGap", "SolutionCache"),
    "data": ("Dataset",),
    "deciding": ("Decider", "LoggedDecider", "audit_decisions"),
    "family": ("Family",),
    "metrics": ("regret",),
    "milp": ("MILP",),
    "modeling": ("read",),
    "problem": ("Problem",),
    "problems": ("load",),
    "search": ("AutoResult", "Committee", "Verdict", "auto", "train"),
    "training": ("Batches", "EarlyStopping", "LeanAdam", "Watch", "evaluate", "fit", "make_step", "predict"),
    "training.methods": ("make_loss",),
    "training.models": ("make_model",),
    "training.nearest_neighbors": ("neighbor_labels",),
    "types": ("Status",),
}


if not TYPE_CHECKING:  # which would take every name, also a wrong one

    def __getattr__(name: str) -> Any:
        """Load a name, or a module as in ``rl.problems.names()``, on first use.

        Torch takes seconds, and ``regretless --help`` does without.
        """
        if name not in __all__:
            if name.startswith("_") or find_spec(f"regretless.{name}") is None:
                raise AttributeError(f"module 'regretless' has no attribute {name!r}")
            return import_module(f"regretless.{name}")
        home = next((home for home, names in _HOMES.items() if name in names), "losses")
        globals()[name] = found = getattr(import_module(f"regretless.{home}"), name)
        return found


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
