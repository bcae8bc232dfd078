from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.tables.columns import listed, ordered


def test_columns_come_in_the_order_wanted() -> None:
    values = np.arange(6.0).reshape(1, 2, 3)
    assert ordered(Path("x"), ["a", "b", "c"], values, ["c", "a", "b"], "cost").tolist() == [[[2, 0, 1], [5, 3, 4]]]
    assert listed(["a", "b"]) == "a, b"


def test_missing_and_unknown_columns_are_listed_but_not_all_of_a_thousand() -> None:
    wanted = [f"x{i}" for i in range(1000)]
    with pytest.raises(InputError, match=r"missing: x0, x1, x2, x3, x4 and 995 more; unknown: z") as error:
        ordered(Path("c.csv"), ["z"], np.zeros((1, 1)), wanted, "cost")
    assert len(str(error.value)) < 300
