from __future__ import annotations

import pytest
import torch

from regretless.errors import InputError
from regretless.losses import MAP, NegativeIdentity

from .tiny import KINDS, batch, best, cache, members, value_and_gradient

EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("task", ["squared", "absolute"])
@EVERY_KIND
def test_the_gradient_is_minus_the_slope_of_the_distance_to_the_optimum(kind, task):
    kind = KINDS[kind]
    b = batch(kind, seed=1)
    values, gradient = value_and_gradient(NegativeIdentity(cache(kind.problem(), b), task=task, reduction="none"), b)
    p, d = kind.to_minimization(b.predicted), kind.problem().dimension
    for i in range(len(values)):
        error = (best(members(kind, b, i), p[i]) - b.solution[i])[:d]
        expected = (error.square(), -2 * error / d) if task == "squared" else (error.abs(), -error.sign() / d)
        torch.testing.assert_close(values[i], expected[0].mean())
        torch.testing.assert_close(gradient[i], expected[1])


def test_the_squared_distance_leads_where_map_leads():
    kind = KINDS["plain"]
    b = batch(kind, seed=2)
    _, gradient = value_and_gradient(NegativeIdentity(kind.problem(), reduction="sum"), b)
    _, of_map = value_and_gradient(MAP(kind.problem(), cost="c_hat", reduction="sum"), b)
    torch.testing.assert_close(gradient, of_map * 2 / 4)


def test_an_unknown_task_is_refused():
    with pytest.raises(InputError, match="task must be one of"):
        NegativeIdentity(KINDS["plain"].problem(), task="x")
