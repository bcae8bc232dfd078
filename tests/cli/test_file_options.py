from __future__ import annotations

from pathlib import Path

import pytest

from regretless.cli.file_options import file_options, given
from regretless.errors import InputError


def test_only_what_was_given_is_kept() -> None:
    assert given(a=None, b=0) == {"b": 0}
    options = file_options("m.mps.gz", Path("x.csv"), Path("c.csv"), ["x_*"], test=0.2)
    assert options == {"features": "x.csv", "costs": "c.csv", "cost_variables": ["x_*"], "test": 0.2}
    assert file_options("knapsack-60", None, None, None) == {}


def test_a_model_file_needs_data_and_a_name_takes_none() -> None:
    with pytest.raises(InputError, match="--features and --costs"):
        file_options("M.LP", None, None, None)
    with pytest.raises(InputError, match="--cost-variables is for model files"):
        file_options("knapsack-60", None, None, ["x"])
