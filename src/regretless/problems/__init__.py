"""Problems with data: the paper's three, and an embedded synthetic one."""

from regretless.problems.loaded import Loaded
from regretless.problems.table import load, names

__all__ = ["Loaded", "load", "names"]
