from __future__ import annotations

from dataclasses import replace

import pytest

from regretless.errors import InputError
from regretless.runs import Spec

SPEC = Spec("knapsack-60", "map-dc", seed=3, settings={"p_solve": 0.1})


def test_a_specification_survives_plain_data() -> None:
    assert Spec.from_dict(SPEC.as_dict()) == SPEC
    assert Spec.from_dict(SPEC.as_dict()).digest == SPEC.digest
    assert Spec.from_dict(SPEC.as_dict() | {"lr": 1}).lr == 1, "an integer is a rate"


@pytest.mark.parametrize(
    ("field", "value"),
    [("seed", "0"), ("epochs", 1.5), ("epochs", True), ("lr", None), ("settings", []), ("problem", 3), ("watch", 1)],
)
def test_a_field_of_the_wrong_type_is_named(field: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{field} of a run's specification must not be {type(value).__name__}"):
        Spec.from_dict(SPEC.as_dict() | {field: value})


@pytest.mark.parametrize("values", [None, [], "text", 3])
def test_something_else_than_an_object_is_refused(values: object) -> None:
    with pytest.raises(InputError, match="a run's specification is an object of fields"):
        Spec.from_dict(values)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("map-dc", 0.05), ("spo", 1.0), ("blackbox", 1.0), ("direct", 1.0),
        ("two-stage", None), ("spo-relax", None), ("qptl", None), ("interior", None),
    ],
)  # fmt: skip
def test_methods_that_never_solve_exactly_have_no_p_solve(method: str, expected: float | None) -> None:
    assert Spec("knapsack-60", method).p_solve == expected


def test_shared_weights_are_those_of_seed_zero_whatever_the_seed_is() -> None:
    assert SPEC.first_weights == 3
    assert replace(SPEC, init="shared").first_weights == 0
