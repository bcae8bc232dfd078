"""Decisions day by day: a decider with deadlines, the log of its decisions, and the audit of what they cost."""

from regretless.deciding.decider import Decider
from regretless.deciding.decision import Decision, RunnerUp, Violation

__all__ = ["Decider", "Decision", "RunnerUp", "Violation"]
