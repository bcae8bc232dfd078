from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:  # The process that starts the workers runs no test: it need not wait for torch.
    import numpy as np

    from regretless.milp import MILP

# The machine's load must not decide whether a property holds, and in CI neither must chance: there every run tries the
# same cases, so that a change is judged by what it changed. Elsewhere each run looks for new ones. ``make test-all``
# tries more of them.
settings.register_profile("fast", deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=20)
settings.register_profile("thorough", settings.get_profile("fast"), max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))
# Runs and logs are written to disk to the last byte before a command ends, for which a test need not wait.
MEMORY = "/dev/shm"
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)
# Under nohup, and in the background of a script, signals are ignored, by child processes too. Tests send them.
for number in [getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name)]:
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)


# Modules and thousands of collected tests live until the end: the collector need not walk through them.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on tests make garbage."""
    import torch

    torch.set_num_threads(1)
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked ``data`` read the public files, which are not part of the project.

    Weights that a test draws without a seed of its own do not depend on the tests before it. Where a test replaces
    parts of the library, settings are checked again.
    """
    import torch

    from regretless.search import check_settings

    torch.default_generator.manual_seed(0)
    if "monkeypatch" in getattr(item, "fixturenames", ()):
        check_settings._PASSED.clear()
    if item.get_closest_marker("data") and not os.environ.get("REGRETLESS_DATA"):
        pytest.skip("REGRETLESS_DATA names no folder with the public files")


@pytest.fixture(name="random_model", scope="session")
def _random_model() -> Callable[..., MILP]:
    from .random_linear_models import random_model

    return random_model


@pytest.fixture(name="minimum", scope="session")
def _minimum() -> Callable[[MILP, np.ndarray], float]:
    from .random_linear_models import minimum

    return minimum
