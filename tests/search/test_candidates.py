from __future__ import annotations

import pytest

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import MAP, ExpectedRegret
from regretless.problem import Problem
from regretless.search.candidates import RATES, Candidate, candidates_of, default_candidates, make_grid


def test_names_are_distinct_and_say_what_is_tried():
    names = [candidate.name for candidate in default_candidates(100)]
    assert len(set(names)) == len(names)
    assert "map-dc rate=0.004" in names
    assert "spo-cache rate=0.004 anchor=0.3" in names


def test_candidates_of_one_method_share_one_loss_and_one_cache():
    cache = SolutionCache(Problem(oracle=lambda c: c, dimension=2), [[0.0, 1.0]])
    losses, settings = make_grid(
        [Candidate("map-dc", 0.1), Candidate("soft", 0.1), Candidate("map-dc", 0.2, anchor=0.5)], cache
    )
    assert [type(loss) for loss in losses] == [MAP, ExpectedRegret]
    assert [(s.loss, s.rate, s.anchor) for s in settings] == [(0, 0.1, 0.0), (1, 0.1, 0.0), (0, 0.2, 0.5)]
    assert all(loss.oracle is cache and loss.reduction == "none" for loss in losses)


def test_a_candidate_starts_from_the_model_of_its_form_and_uses_no_other_terms():
    cache = SolutionCache(Problem(oracle=lambda c: c, dimension=2), [[0.0, 1.0]])
    tried = [Candidate("soft", 0.1, terms=("products",)), Candidate("soft", 0.1)]
    _, both = make_grid(tried, cache, forms=[(), ("products",)])
    assert [(s.start, s.terms) for s in both] == [(1, ("products",)), (0, ())]
    _, alone = make_grid(tried[:1], cache, forms=[("products",)])
    assert [(s.start, s.terms) for s in alone] == [(0, None)]


def test_a_falling_temperature_falls_over_all_steps_of_a_run():
    assert {dict(candidate.options).get("anneal_steps") for candidate in default_candidates(123)} == {None, 123}


def test_a_method_outside_of_the_defaults_is_tried_at_every_rate():
    assert [candidate.rate for candidate in candidates_of(["nce-c"], 10)] == list(RATES)
    assert {candidate.method for candidate in candidates_of(["soft", "map-dc"], 10)} == {"soft", "map-dc"}


@pytest.mark.parametrize("name", ["auto", "direct"])
def test_a_method_without_a_loss_is_refused(name):
    with pytest.raises(InputError, match=f"methods that have a loss, and '{name}' has none"):
        candidates_of([name], 10)


def test_a_method_without_a_cache_gets_the_problem_itself():
    problem = Problem(oracle=lambda c: c, dimension=2)
    losses, _ = make_grid([Candidate("spo", 0.1), Candidate("map-dc", 0.1)], SolutionCache(problem, [[0.0, 1.0]]))
    assert losses[0].oracle is problem
    assert losses[1].oracle is not problem


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": -0.1}, "rate must be a finite number above 0, got -0.1"),
        ({"anchor": -1.0}, "anchor must be a finite number, at least 0, got -1.0"),
        ({"options": {"temperature": 0.1}}, "options must be pairs such as"),
        ({"options": ("temperature", 0.1)}, "options must be pairs such as"),
    ],
)
def test_a_candidate_that_cannot_be_trained_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        Candidate(**{"method": "soft", "rate": 0.1} | change)


def test_a_setting_of_the_cache_which_all_candidates_share_is_refused():
    problem = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=2)
    with pytest.raises(InputError, match="'p_solve' is a setting of the cache, and the cache exists already"):
        make_grid([Candidate("soft", 0.1, options=(("p_solve", 0.5),))], SolutionCache(problem))
