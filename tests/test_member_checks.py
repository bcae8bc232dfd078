from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless import member_checks
from regretless.member_checks import feasible_members
from regretless.milp import MILP


@given(seed=st.integers(0, 2**32 - 1), block=st.sampled_from([1, 5, 1 << 20]))
def test_the_mask_is_that_of_every_members_own_check(seed: int, block: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = (
        MILP(rng.integers(-2, 3, (2, 3)), row_upper=float(rng.integers(0, 4)), upper=2.0, integer=rng.random(3) < 0.5)
        for _ in range(2)
    )
    members = []
    for _ in range(6):
        base = one if rng.random() < 0.7 else other
        low = rng.choice([-np.inf, -1.0, 0.0], 2)
        upper = rng.choice([1.0, 2.0, np.inf], 3)
        members.append(base.replaced(row_lower=low, row_upper=np.maximum(low, base.row_upper), upper=upper))
    x = rng.choice([0.0, 1.0, 2.0, 0.5, 1.0 + 5e-7, np.nan], (7, 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(member_checks, "BLOCK", block)
        assert np.array_equal(feasible_members(members, x, 1e-6), np.stack([milp.check(x) for milp in members]))


def test_no_member_gives_an_empty_mask() -> None:
    assert feasible_members([], np.zeros((2, 3)), 1e-6).shape == (0, 2)
