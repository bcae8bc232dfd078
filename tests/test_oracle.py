from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regretless import Problem, SolutionCache, SPOPlus
from regretless.oracle import Oracle

PROBLEM = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=3)
COSTS = torch.tensor([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
BEST = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])


class Stubborn:
    """An oracle of one's own: always the same solution."""

    problem = PROBLEM

    def answer(self, queries: Sequence[Tensor], predicted: Tensor, instance: Tensor | None = None) -> list[Tensor]:
        return [torch.tensor([0.0, 0.0, 1.0]).expand_as(query) for query in queries]


def test_a_problem_a_cache_and_an_object_of_ones_own_answer_every_query() -> None:
    oracles: list[Oracle] = [PROBLEM, SolutionCache(PROBLEM, BEST, p_solve=0.0), Stubborn()]
    for oracle in oracles:
        answers = oracle.answer([COSTS, -COSTS], COSTS)
        assert [answer.shape for answer in answers] == [COSTS.shape] * 2
        assert oracle.problem is PROBLEM
    assert torch.equal(oracles[0].answer([COSTS], COSTS)[0], BEST)


def test_a_loss_takes_any_oracle() -> None:
    _, gradient = SPOPlus(Stubborn(), reduction="none").loss_and_gradient(COSTS, COSTS, BEST)
    assert torch.equal(gradient, 2 * (BEST - torch.tensor([0.0, 0.0, 1.0])))
