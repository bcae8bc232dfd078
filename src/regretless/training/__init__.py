"""Training and exact evaluation."""

from regretless.training.callbacks import Callback, Converged, EarlyStopping, Schedule, TimeLimit, TrainingState, Watch
from regretless.training.evaluation import Evaluation, evaluate, predict
from regretless.training.fit_loop import fit
from regretless.training.history import History
from regretless.training.interrupt import Interrupted
from regretless.training.lean_adam import LeanAdam
from regretless.training.own_loop import Batches, make_step
from regretless.training.running_fit import Fitted

__all__ = [
    "Batches", "Callback", "Converged", "EarlyStopping", "Evaluation", "Fitted", "History", "Interrupted", "LeanAdam",
    "Schedule", "TimeLimit", "TrainingState", "Watch", "evaluate", "fit", "make_step", "predict",
]  # fmt: skip
