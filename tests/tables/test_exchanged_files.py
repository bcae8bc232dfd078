from __future__ import annotations

from pathlib import Path

import pytest

from regretless.errors import InputError
from regretless.tables.cells import Cells
from regretless.tables.exchanged_files import refuse_exchanged

FEATURES = Cells("x.csv", {"day": ["1"], "wind": ["3"]}, ("line 2",))
COSTS = Cells("c.csv", {"day": ["1"], "a": ["3"], "b": ["4"]}, ("line 2",))
LONG = Cells("l.csv", {"day": ["1"], "item": ["a"], "price": ["3"]}, ("line 2",))


def test_exchanged_files_and_one_file_for_both_are_refused() -> None:
    with pytest.raises(InputError, match=r"c\.csv has the columns of the costs, and x\.csv has none .*: exchange"):
        refuse_exchanged(COSTS, FEATURES, ["a", "b"])
    with pytest.raises(InputError, match=r"--features and --costs both name c\.csv"):
        refuse_exchanged(COSTS, COSTS, ["a", "b"])


def test_costs_of_yesterday_may_be_features_of_the_same_name() -> None:
    nearly = Cells("n.csv", {"day": ["1"], "A": ["3"], "B": ["4"]}, ("line 2",))
    misnamed = Cells("m.csv", {"day": ["1"], "variable": ["c"], "price": ["3"]}, ("line 2",))
    for costs in (COSTS, LONG, nearly, misnamed):
        refuse_exchanged(Cells("y.csv", {"a": ["2"]}, ("line 2",)), costs, ["a", "b"])


def test_arrays_are_not_compared() -> None:
    refuse_exchanged(Path("all.npz"), Path("all.npz"), ["a", "b"])
