from __future__ import annotations

import torch
from hypothesis import settings

# The machine's load must not decide whether a property holds.
settings.register_profile("regretless", deadline=None)
settings.load_profile("regretless")
torch.set_num_threads(1)
