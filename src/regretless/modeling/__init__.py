"""Read the user's own model: files and objects of modeling libraries become a ``MILP``."""

from regretless.modeling.read_model import ModelRead, read

__all__ = ["ModelRead", "read"]
