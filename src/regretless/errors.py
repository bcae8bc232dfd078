"""The library's own errors: every message says what was expected, what came, and what to do."""

from __future__ import annotations


class RegretlessError(Exception):
    """Root of every error that the library raises on purpose."""


class InputError(RegretlessError, ValueError):
    """An argument, a shape or a value that cannot be used."""


class SolveError(RegretlessError, RuntimeError):
    """A solver that failed, reached its time limit without a solution, or found an instance infeasible or unbounded.

    Attributes:
        row: position in the batch of the first instance that failed, where there is one.
    """

    def __init__(self, *args: object, row: int | None = None) -> None:
        super().__init__(*args)
        self.row = row


class FileError(RegretlessError, OSError):
    """A file that is damaged, foreign, of a newer format, or cannot be written."""


class MissingDependencyError(RegretlessError, ImportError):
    """An optional package that is needed now and is not installed."""


class TrainingError(RegretlessError, RuntimeError):
    """Training that cannot go on, for example after a prediction that is not a number."""


class RegretlessWarning(UserWarning):
    """Something a user should know, after which the work goes on."""
