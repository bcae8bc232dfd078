from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.paper.training_defaults import training_defaults


def test_the_papers_problems_take_the_papers_hyper_parameters():
    found = training_defaults("knapsack-120", "blackbox")
    assert (found["lr"], found["epochs"], found["settings"]) == (0.01, 32, {"lambda_": 1e-5})


def test_the_share_of_solves_is_left_to_the_user():
    assert "p_solve" not in training_defaults("knapsack-120", "map-dc")["settings"]


def test_other_problems_have_defaults_too():
    assert training_defaults("synthetic-knapsack-60", "spo")["lr"] == 0.5
    assert training_defaults("shortest-path", "map-dc")["lr"] == 0.01
    assert training_defaults("synthetic-knapsack-60", "two-stage")["lr"] == 0.1
    assert training_defaults("energy:some.txt", "map-dc")["epochs"] == 20


def test_a_search_leaves_the_epochs_open_and_the_demo_has_few():
    assert training_defaults("workshop", "auto") == {"lr": 0.1, "epochs": 0, "batch_size": None, "settings": {}}
    assert training_defaults("workshop", "spo")["epochs"] == 6
    assert training_defaults("workshop", "two-stage")["epochs"] == 20


def test_an_unknown_method_is_named():
    with pytest.raises(InputError, match="method must be one of"):
        training_defaults("knapsack-120", "magic")
