"""Series that wander slowly, for the prices of generated problems."""

from __future__ import annotations

import numpy as np

from regretless.milp import Floats


def wander(generator: np.random.Generator, shape: tuple[int, int], memory: float, scale: float = 1.0) -> Floats:
    """Slow deviations within a day: an autoregressive process ``(days, slots)`` with deviation ``scale`` in the end."""
    noise = generator.standard_normal(shape) * scale * np.sqrt(1 - memory**2)
    for i in range(1, shape[1]):
        noise[:, i] += memory * noise[:, i - 1]
    return np.asarray(noise)
