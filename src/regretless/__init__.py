"""Decision-focused learning: train on the regret of the decision, with contrastive losses and a solution cache.

>>> import regretless as rl
>>> problem = rl.Problem(rl.MILP([[3.0, 4.0, 5.0]], row_upper=7.0), sense="max")
>>> problem.solve([[4.0, 5.0, 6.0]]).decision.tolist()
[[1.0, 1.0, 0.0]]
"""

from regretless.cache import Bernoulli, SolutionCache
from regretless.data import Dataset
from regretless.errors import (
    FileError,
    InputError,
    MissingDependencyError,
    RegretlessError,
    RegretlessWarning,
    SolveError,
    TrainingError,
)
from regretless.family import Family
from regretless.losses import MAP, NCE, Blackbox, Loss, SPOPlus, TwoStage
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.training import EarlyStopping, Watch, evaluate, fit, predict
from regretless.training.methods import make_loss
from regretless.types import Status

__version__ = "0.1.0"

__all__ = [
    "MAP",
    "MILP",
    "NCE",
    "Bernoulli",
    "Blackbox",
    "Dataset",
    "EarlyStopping",
    "Family",
    "FileError",
    "InputError",
    "Loss",
    "MissingDependencyError",
    "Problem",
    "RegretlessError",
    "RegretlessWarning",
    "SPOPlus",
    "SolutionCache",
    "SolveError",
    "Status",
    "TrainingError",
    "TwoStage",
    "Watch",
    "evaluate",
    "fit",
    "make_loss",
    "predict",
]
