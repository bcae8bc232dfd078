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


def test_an_infinite_time_limit_is_none_in_plain_data() -> None:
    spec = replace(SPEC, options={"time_limit": float("inf")})
    assert spec.as_dict()["options"] == {"time_limit": None}
    assert Spec.from_dict(spec.as_dict()) == spec
    assert Spec.from_dict(spec.as_dict()).digest == spec.digest


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


def test_a_run_is_found_again_whatever_the_order_of_its_settings_and_by_later_versions() -> None:
    settings = {"p_solve": 0.1, "grow_at": "predicted"}
    one, other = (replace(SPEC, settings=dict(items)) for items in (settings.items(), reversed(settings.items())))
    assert one.digest == other.digest != SPEC.digest
    assert SPEC.digest == "013b44331f605390", "folders of finished runs have this name"
    assert replace(SPEC, options={"days": 3}).problem_key != SPEC.problem_key == replace(SPEC, seed=4).problem_key


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("seed", -1, "seed must be"), ("epochs", -1, "epochs must be"), ("lr", 0.0, "lr must be"),
        ("batch_size", 0, "batch_size must be"), ("patience", -1, "patience must be"), ("init", "zero", "init must be"),
        ("method", "magic", "method must be one of"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_named(field: str, value: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Spec.from_dict(SPEC.as_dict() | {field: value})
