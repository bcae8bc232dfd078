from __future__ import annotations

import os

import torch
from hypothesis import settings

# The machine's load must not decide whether a property holds, and in CI neither must chance: there every run tries the
# same cases, so that a change is judged by what it changed. Elsewhere each run looks for new ones.
settings.register_profile("regretless", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("regretless")
torch.set_num_threads(1)
