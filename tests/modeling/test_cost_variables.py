from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regretless.errors import InputError
from regretless.modeling.cost_variables import cost_columns

NAMES = ["x[0]", "x[1]", "x[10]", "y", "z_a", "z_b", "xx[0]"]
OBJECTIVE = np.array([0.0, 2.0, 0.0, -1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("wanted", "columns"),
    [
        (None, [1, 3]),
        ("y", [3]),
        ("z_*", [4, 5]),
        ("x[*]", [0, 1, 2]),
        ("x[?]", [0, 1]),
        ("x", [0, 1, 2]),
        ("*", [0, 1, 2, 3, 4, 5, 6]),
        (["z_b", "x[1]"], [5, 1]),
        (["z_*", "y"], [4, 5, 3]),
    ],
)
def test_names_patterns_and_arrays_choose_columns(wanted, columns):
    assert cost_columns(NAMES, OBJECTIVE, wanted) == columns


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("q_*", "no variable of the model matches 'q_\\*'"),
        ("z_c", "such as z_"),
        ([], "empty"),
        (["y", "*"], "'y' twice"),
        ([3], "int"),
    ],
)
def test_what_does_not_match_is_refused(wanted, message):
    with pytest.raises(InputError, match=message):
        cost_columns(NAMES, OBJECTIVE, wanted)


def test_an_objective_of_zeros_does_not_say_which_costs_are_predicted():
    with pytest.raises(InputError, match="cost_variables"):
        cost_columns(NAMES, np.zeros(6), None)


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=6, unique=True), st.data())
def test_a_variable_is_found_by_its_own_name_whatever_letters_it_has(names, data):
    j = data.draw(st.integers(0, len(names) - 1))
    assert cost_columns(names, np.zeros(len(names)), [names[j]]) == [j]
