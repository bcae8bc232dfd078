"""The user's own model, as it is: files and objects of modelling libraries to ``MILP``."""

from regretless.modeling.read import ModelRead, read

__all__ = ["ModelRead", "read"]
