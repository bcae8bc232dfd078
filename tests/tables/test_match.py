from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.tables import Costs, Features, matched


def test_rows_are_matched_by_instance_where_both_files_name_them() -> None:
    features = Features(np.array([[1.0], [2.0]]), ("a",), ("p", "q"))
    costs = Costs(np.zeros((2, 2)), ("q", "p"))
    assert matched(features, costs, names=("x", "c")).values.tolist() == [[2.0], [1.0]]
    plain = Costs(np.zeros((2, 2)), None)
    assert matched(features, plain, names=("x", "c")).values.tolist() == [[1.0], [2.0]]
    with pytest.raises(InputError, match=r"1 instances of x are not in c: p"):
        matched(features, Costs(np.zeros((2, 2)), ("q", "r")), names=("x", "c"))
    with pytest.raises(InputError, match="x has 2 instances and c has 3"):
        matched(features, Costs(np.zeros((3, 2)), None), names=("x", "c"))
