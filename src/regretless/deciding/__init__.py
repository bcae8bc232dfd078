"""Decisions day by day: a decider with deadlines, the log of its decisions, and the audit of what they cost."""

from regretless.deciding.audit import Audit, audit_decisions
from regretless.deciding.decider import Decider
from regretless.deciding.decision import Decision, RunnerUp, Violation
from regretless.deciding.logged_decisions import LoggedDecider

__all__ = ["Audit", "Decider", "Decision", "LoggedDecider", "RunnerUp", "Violation", "audit_decisions"]
