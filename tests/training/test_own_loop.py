"""A loop of one's own from the batches and steps of ``fit`` is ``fit``, to the bit."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import regretless as rl
from regretless.errors import InputError
from regretless.training.fast_linear import LinearStep
from regretless.training.models import SharedLinear
from regretless.training.scaling import with_cost_scale
from regretless.training.step import GradientStep, ScaledStep

ROWS = rl.MILP([[3.0, 4.0, 5.0, 2.0]], row_upper=7.0)


def data(n: int = 13, *, unit: float = 1.0, **more) -> tuple[rl.Problem, rl.Dataset]:
    generator = torch.Generator().manual_seed(0)
    problem = rl.Problem(ROWS, sense="max")
    features = torch.randn(n, 4, 3, generator=generator)
    costs = unit * (features.sum(-1) + torch.rand(n, 4, generator=generator) + 2)
    return problem, rl.Dataset.solve(problem, features, costs, progress=False, **more)


def own_loop(model: nn.Module, loss: rl.Loss, train: rl.Dataset, *, epochs: int, **step) -> list[float]:
    steps, values = rl.make_step(model, **step), []
    batches = rl.Batches(train, model, batch_size=5, seed=3)
    model.train()
    for _ in range(epochs):
        for batch in batches:
            predicted = steps.predict(batch.features)
            value, gradient = loss.loss_and_gradient(predicted, *batch[1:])
            steps.update(predicted, gradient)
            values.append(float(value) * len(batch.costs))
    return values


MODELS = {
    "linear": lambda: SharedLinear(3),
    "network": lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.Flatten()),
    "with batch normalization": lambda: nn.Sequential(nn.Flatten(), nn.BatchNorm1d(12), nn.Linear(12, 4)),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("given", ["nothing", "weights", "clip", "optimizer"])
def test_it_is_fit_with_the_same_seed(kind, given):
    problem, train = data(11 if kind == "with batch normalization" else 13)
    if given == "weights":
        train = rl.Dataset(train.features, train.costs, train.solutions, weight=torch.linspace(1, 2, len(train)))
    weights, histories = [], []
    for own in (True, False):
        torch.manual_seed(0)
        model = MODELS[kind]()
        loss = rl.SPOPlus(rl.SolutionCache(problem, train.solutions, p_solve=0.5, seed=1))
        how = {"lr": 0.05}
        if given == "clip":
            how["clip"] = 0.5
        if given == "optimizer":
            how["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.05)
        if own:
            values = own_loop(model, loss, train, epochs=3, **how)
            histories.append(sum(values[-(len(values) // 3) :]) / len(train))
        else:
            fitted = rl.fit(model, loss, train, epochs=3, batch_size=5, seed=3, progress=False, **how)
            histories.append(fitted.history.rows[-1]["loss"])
        weights.append([weight.detach().clone() for weight in model.parameters()])
    assert all(torch.equal(mine, its) for mine, its in zip(*weights, strict=True))
    assert histories[0] == pytest.approx(histories[1], rel=1e-6)


def test_extreme_costs_are_trained_as_by_fit():
    problem, train = data(unit=1e-15)
    trained = []
    for own in (True, False):
        torch.manual_seed(0)
        model = with_cost_scale(SharedLinear(3), train.costs, shared=True)
        before = next(model.parameters()).detach().clone()
        assert isinstance(rl.make_step(model), ScaledStep)
        assert isinstance(rl.make_step(model, clip=1.0), GradientStep)  # in units of the gradient
        loss = rl.TwoStage(problem)
        if own:
            own_loop(model, loss, train, epochs=2, lr=0.05)
        else:
            rl.fit(model, loss, train, epochs=2, lr=0.05, batch_size=5, seed=3, progress=False)
        trained.append(next(model.parameters()).detach().clone())
        assert not torch.equal(trained[-1], before)
    assert torch.equal(*trained)


def test_ids_of_a_family_come_with_the_batches():
    problem = rl.Problem(rl.Family.vary(ROWS, row_upper=[[7.0], [5.0], [9.0]]), sense="max")
    costs = torch.rand(6, 4, generator=torch.Generator().manual_seed(0))
    ids = torch.tensor([0, 1, 2, 0, 1, 2])
    train = rl.Dataset.solve(problem, costs[..., None], costs, instance=ids, progress=False)
    seen = {}
    for batch in rl.Batches(train, SharedLinear(1), batch_size=4):
        seen |= {tuple(row.tolist()): int(one) for row, one in zip(batch.features[..., 0], batch.instance, strict=True)}
    assert seen == {tuple(row.tolist()): int(one) for row, one in zip(costs, ids, strict=True)}
    assert len(own_loop(SharedLinear(1), rl.SPOPlus(problem), train, epochs=2)) == 4


def test_every_pass_has_a_new_order_and_all_instances():
    _, train = data()
    batches = rl.Batches(train, SharedLinear(3), batch_size=5, seed=0)
    first, second = ([batch.costs for batch in batches] for _ in range(2))
    assert [len(costs) for costs in first] == [5, 5, 3]
    assert len(batches) == 3
    assert not torch.equal(torch.cat(first), torch.cat(second))
    assert torch.equal(torch.cat(first).sort(dim=0).values, torch.cat(second).sort(dim=0).values)
    assert torch.equal(torch.cat(first), torch.cat([b.costs for b in rl.Batches(train, SharedLinear(3), batch_size=5)]))


def test_batches_have_the_precision_of_the_model():
    _, train = data()
    batch = next(iter(rl.Batches(train, SharedLinear(3).double())))
    assert {part.dtype for part in batch[:3]} == {torch.float64}
    batch = next(iter(rl.Batches(train, SharedLinear(3).half())))
    assert [part.dtype for part in batch[:3]] == [torch.float16, torch.float32, torch.float32]  # labels keep theirs


def test_the_optimizer_of_a_step_takes_a_scheduler():
    _, train = data()
    model = SharedLinear(3)
    step = rl.make_step(model, lr=0.1)
    assert isinstance(step, LinearStep)
    scheduler = torch.optim.lr_scheduler.StepLR(step.optimizer, 1, gamma=0.0)
    for number, batch in enumerate(rl.Batches(train, model, batch_size=13)):
        before = model.linear.weight.detach().clone()
        predicted = step.predict(batch.features)
        step.update(predicted, torch.ones_like(predicted))
        assert not torch.equal(model.linear.weight, before)
        scheduler.step()
        before = model.linear.weight.detach().clone()
        step.update(step.predict(batch.features), torch.ones_like(predicted))
        assert torch.equal(model.linear.weight, before), f"a rate of zero moves nothing, step {number}"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda model, train: rl.Batches(train.features, model), "train must be a Dataset"),
        (lambda model, train: rl.Batches(train[:0], model), "training needs data, got 0 instances"),
        (lambda model, train: rl.Batches(train, model, batch_size=0), "batch_size must be"),
        (lambda model, train: rl.Batches(train, SharedLinear(2)), "SharedLinear"),
        (lambda model, train: rl.make_step("model"), "model must be a Module"),
        (lambda model, train: rl.make_step(nn.Flatten()), "no parameters to train"),
        (lambda model, train: rl.make_step(model, lr=-1.0), "lr must be"),
        (
            lambda model, train: rl.make_step(model, optimizer=torch.optim.SGD(SharedLinear(1).parameters(), lr=0.1)),
            "optimizer has no parameter of the model",
        ),
    ],
)
def test_what_does_not_fit_is_refused(wrong, message):
    _, train = data(3)
    with pytest.raises(InputError, match=message):
        wrong(SharedLinear(3), train)
