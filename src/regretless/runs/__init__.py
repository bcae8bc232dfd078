"""Runs: a specification, trained and evaluated in a folder of its own."""

from regretless.runs.spec import Spec
from regretless.runs.training_run import environment, load_trained, run

__all__ = ["Spec", "environment", "load_trained", "run"]
