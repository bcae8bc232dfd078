from __future__ import annotations

import copy

import pytest

from regretless.cache import Bernoulli, Falling, GapAbove, LargestGap
from regretless.cache.policy_names import named_policy, policy_settings
from regretless.errors import InputError


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, Bernoulli(0.05)),
        ({"p_solve": 0.2}, Bernoulli(0.2)),
        ({"policy": "coin", "p_solve": 0.2}, Bernoulli(0.2)),
        ({"policy": "batch-coin", "p_solve": 0.2}, Bernoulli(0.2, per="batch")),
        ({"policy": "largest-gap", "p_solve": 0.01}, LargestGap(0.01)),
        ({"policy": "largest-gap", "gap_at": "solve"}, LargestGap(0.05, gap_at="solve")),
        ({"policy": "gap-above", "gap_at": "lookup"}, GapAbove(0.0, gap_at="lookup")),
        ({"policy": "gap-above"}, GapAbove(0.0)),
        ({"policy": "gap-above", "epsilon": 0.001}, GapAbove(0.001)),
        (
            {"policy": "largest-gap", "p_solve": 0.2, "final_p_solve": 0.01, "p_epochs": 5},
            Falling(0.2, 0.01, epochs=5, instances=30),
        ),
        ({"p_solve": 0.2, "final_p_solve": 0.01, "p_epochs": 5}, Falling(0.2, 0.01, epochs=5, instances=30, coin=True)),
    ],
)
def test_settings_name_policies(settings, expected):
    assert repr(named_policy(settings, instances=30)) == repr(expected)


@pytest.mark.parametrize(
    "policy",
    [
        Bernoulli(0.2),
        Bernoulli(0.2, per="batch"),
        LargestGap(0.01),
        LargestGap(0.01, gap_at="solve"),
        GapAbove(0.001, p=0.3),
        GapAbove(gap_at="lookup"),
        Falling(0.2, 0.01, epochs=2.5, instances=30),
        Falling(0.2, 0.01, epochs=5, instances=30, gap_at="solve"),
        Falling(0.2, 0.01, epochs=5, instances=30, coin=True),
    ],
    ids=repr,
)
def test_a_policy_is_built_again_from_its_settings(policy):
    settings = policy_settings(policy)
    again = named_policy(settings, instances=settings.get("instances", 1))
    assert repr(again) == repr(policy)
    assert getattr(again, "p", None) == getattr(policy, "p", None)


def test_a_policy_of_the_user_has_no_settings():
    class Mine:
        def choose(self, batch, generator):
            raise NotImplementedError

    assert policy_settings(Mine()) is None


@pytest.mark.parametrize(
    "base", [Bernoulli(0.2), LargestGap(0.1), GapAbove(0.1), Falling(0.2, 0.1, epochs=1, instances=3)], ids=repr
)
def test_a_policy_derived_from_one_with_a_name_has_no_settings(base):
    derived = copy.copy(base)
    derived.__class__ = type("Mine", (type(base),), {})
    assert policy_settings(derived) is None


def test_a_policy_is_taken_as_it_is():
    policy = LargestGap(0.5)
    assert named_policy({"policy": policy}, instances=1) is policy


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"policy": "dice"}, "policy must be one of coin, batch-coin, largest-gap, gap-above"),
        ({"policy": "batch-coin", "gap_at": "solve"}, "gap_at belongs to .*, got it with 'batch-coin': leave it out"),
        (
            {"policy": "largest-gap", "epsilon": 0.1},
            "epsilon belongs to the policy 'gap-above'",
        ),
        (
            {"policy": "gap-above", "final_p_solve": 0.1},
            "belongs to the policy 'coin' or 'largest-gap'",
        ),
        ({"final_p_solve": 0.1}, "must be given together"),
        ({"gap_at": "solve"}, "gap_at belongs to"),
        ({"policy": LargestGap(0.1), "epsilon": 0.1}, "belongs to a policy given by name"),
        ({"policy": "largest-gap", "p_solve": 2.0}, "between 0 and 1"),
    ],
)
def test_what_does_not_fit_together_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        named_policy(settings, instances=30)
