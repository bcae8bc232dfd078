from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.training.folds import make_folds, rest_of


@pytest.mark.parametrize("ordered", [False, True])
def test_folds_cover_every_instance_once_in_parts_of_almost_equal_size(ordered):
    parts = make_folds(23, 5, ordered=ordered)
    assert sorted(torch.cat(parts).tolist()) == list(range(23))
    assert {len(part) for part in parts} <= {4, 5}


def test_ordered_folds_are_consecutive_blocks():
    assert all((part.diff() == 1).all() for part in make_folds(20, 4, ordered=True))


def test_the_seed_decides_the_parts():
    assert all(torch.equal(a, b) for a, b in zip(make_folds(30, 3, seed=1), make_folds(30, 3, seed=1), strict=True))
    assert not torch.equal(make_folds(30, 3, seed=1)[0], make_folds(30, 3, seed=2)[0])


def test_the_rest_is_what_is_not_held_out():
    assert rest_of(5, torch.tensor([1, 3])).tolist() == [0, 2, 4]


@pytest.mark.parametrize(
    ("folds", "message"), [(1, "an integer, at least 2"), (2.5, "an integer, at least 2"), (6, "2 and the 5 instances")]
)
def test_a_number_of_folds_that_does_not_fit_is_refused(folds, message):
    with pytest.raises(InputError, match=f"folds must be .*{message}, got {folds}"):
        make_folds(5, folds)
