from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless import MAP, MILP, Dataset, Problem, SolutionCache, fit
from regretless.problems.seeded_models import seeded
from regretless.training.label_precision import to_loss
from regretless.training.running_stack import RunningStack
from regretless.training.stacked_models import Setting

HALF = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])


def data() -> tuple[Problem, Dataset]:
    """Labels of up to 601, a number that bfloat16 does not have."""
    problem = Problem(MILP([[1.0, 1.0, 1.0]], row_upper=1000.0, upper=601.0), sense="max")
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(30, 3, generator=generator)
    return problem, Dataset.solve(problem, x, 5 + x.double() @ torch.randn(3, 3, generator=generator).double())


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_labels_have_the_precision_of_the_model_and_at_least_single_precision(model, labels):
    moved = to_loss(torch.tensor([601.0], dtype=torch.float64), torch.zeros(1, dtype=model))
    assert moved.dtype == labels
    assert moved.item() == 601.0


class Frozen(nn.Module):
    """Predicts the same costs in half precision whatever it is taught."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype, self.weight = dtype, nn.Parameter(torch.zeros(1, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        costs = torch.tensor([1.0, 2.0, 3.0], dtype=self.dtype) + self.weight * 0
        return costs.expand(len(x), 3)


@HALF
@pytest.mark.parametrize("streamed", [False, True])
def test_the_loss_of_a_model_in_half_precision_is_that_of_exact_labels(dtype, streamed):
    problem, train = data()
    found = []
    for of in (dtype, torch.float32):
        cache = SolutionCache(problem, train.solutions, p_solve=1.0)
        source = [train[:15], train[15:]] if streamed else train
        found.append(fit(Frozen(of), MAP(cache), source, epochs=1, lr=1e-3).history[0]["loss"])
    assert found[0] == pytest.approx(found[1], rel=1e-6)


def test_stacked_models_in_half_precision_have_exact_labels():
    problem, train = data()
    model = seeded(lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)), 0).to(torch.bfloat16)
    losses = [MAP(SolutionCache(problem, train.solutions), reduction="none")]
    stack = RunningStack([model], losses, [Setting(0, 0.1)], train, [torch.arange(30)], 8, 0, None)
    assert torch.equal(stack.solutions.double(), train.solutions)
    assert torch.equal(stack.costs, train.costs.float())
