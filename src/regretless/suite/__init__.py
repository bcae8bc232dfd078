"""The field's benchmark: problems, degrees and sizes times methods, and the leaderboard made of them."""

from regretless.suite.cells import Cell, cells_of
from regretless.suite.leaderboard import Leaderboard, make_leaderboard
from regretless.suite.suite_runs import plan_suite, run_suite

__all__ = ["Cell", "Leaderboard", "cells_of", "make_leaderboard", "plan_suite", "run_suite"]
