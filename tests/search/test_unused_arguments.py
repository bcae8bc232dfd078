from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.search.unused_arguments import is_best_fit, refuse_unused, unused_arguments
from regretless.training import methods


@pytest.mark.parametrize(
    ("settings", "given", "best"),
    [
        ({}, {}, True),
        ({}, {"epochs": 0}, False),
        ({}, {"lr": 0.1}, False),
        ({"fit": "best"}, {"epochs": 3}, True),
        ({"fit": "gradient"}, {}, False),
    ],
)
def test_two_stage_is_the_best_fit_where_it_is_set_or_no_steps_are_given(settings, given, best):
    assert is_best_fit("two-stage", settings, **given) == best
    assert not is_best_fit("spo", settings, **given)


def test_methods_with_a_cache_use_everything():
    assert not unused_arguments("map-dc", {}, {"epochs": 1})
    assert list(unused_arguments("spo", {}, {"epochs": 1})) == ["solutions"]


@pytest.mark.parametrize("name", methods.names())
def test_what_is_not_given_is_never_refused(name):
    nothing = dict.fromkeys(("epochs", "lr", "batch_size", "validation", "checkpoint", "solutions"))
    refuse_unused(name, {}, nothing | {"callbacks": [], "patience": 0})


def test_no_epochs_are_given_epochs():
    with pytest.raises(InputError, match="leave out epochs"):
        refuse_unused("direct", {}, {"epochs": 0})
