"""Experiments: specifications, runs, results."""

from regretless.experiments.run import environment, record_failure, run, trained
from regretless.experiments.spec import Spec

__all__ = ["Spec", "environment", "record_failure", "run", "trained"]
