"""Experiments: specifications, runs, results."""

from regretless.runs.run import environment, record_failure, run, trained
from regretless.runs.spec import Spec

__all__ = ["Spec", "environment", "record_failure", "run", "trained"]
