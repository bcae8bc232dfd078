from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, SolveError, TrainingError
from regretless.losses import MAP, Blackbox, SPOPlus, TwoStage
from regretless.problem import Problem
from regretless.training import Callback, evaluate, fit
from regretless.training.history import COLUMNS

from .runs import LOSSES, Trap, cache, data, model, problem, untimed, weights

TRAIN = data()
EVERY_LOSS = pytest.mark.parametrize("name", LOSSES)


def test_two_stage_finds_the_least_squares_solution():
    x = TRAIN.features.reshape(-1, 4).double().numpy()
    design = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    solution, *_ = np.linalg.lstsq(design, TRAIN.costs.reshape(-1).numpy(), rcond=None)
    trained = fit(model(), TwoStage(), TRAIN, epochs=500, lr=0.1, batch_size=13).model
    assert np.allclose(weights(trained).numpy(), solution, atol=1e-3)


@EVERY_LOSS
def test_training_lowers_the_loss_or_the_regret(name):
    before = evaluate(model(), TRAIN, problem()).regret
    fitted = fit(model(), LOSSES[name](TRAIN), TRAIN, epochs=25, lr=0.1, batch_size=4)
    losses = fitted.history.column("loss")
    assert losses[-1] < losses[0] or evaluate(fitted.model, TRAIN, problem()).regret < before
    assert fitted.reason == "all 25 epochs done"


@EVERY_LOSS
def test_the_same_seed_gives_the_same_weights_and_another_seed_others(name):
    first, second, other = (
        fit(model(), LOSSES[name](TRAIN), TRAIN, epochs=2, lr=0.1, batch_size=4, seed=seed) for seed in (1, 1, 2)
    )
    assert torch.equal(weights(first.model), weights(second.model))
    assert untimed(first.history) == untimed(second.history)
    assert not torch.equal(weights(first.model), weights(other.model))


def test_training_leaves_the_global_generators_alone():
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    fit(model(), LOSSES["map-cache"](TRAIN), TRAIN, epochs=1)
    assert torch.equal(torch.rand(3), expected)


def test_every_epoch_sees_every_instance_once_in_a_new_order():
    seen = []

    class Spy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append(x[:, 0, 0].tolist())
            return x[..., 0] * 0 + self.bias

    fit(Spy(), TwoStage(), TRAIN, epochs=2, batch_size=5)
    assert [len(part) for part in seen] == [5, 5, 3] * 2
    first, second = ([value for part in epoch for value in part] for epoch in (seen[:3], seen[3:]))
    assert sorted(first) == sorted(second) == sorted(TRAIN.features[:, 0, 0].tolist())
    assert first != second


def test_the_history_has_its_columns_and_exact_counts():
    n = len(TRAIN)
    for name, solves, lookups in (("two-stage", 0, 0), ("spo", n, 0)):
        history = fit(model(), LOSSES[name](TRAIN), TRAIN, epochs=3, batch_size=4).history
        assert set(COLUMNS) - {"regret"} <= set(history[0])
        assert history.column("epoch") == [1, 2, 3]
        assert history.column("solves") == [solves] * 3
        assert history.column("lookups") == [lookups] * 3
        assert history.column("cache_size") == [None] * 3
        assert history.column("not_optimal") == [0] * 3
        assert all(row["seconds"] >= row["solver_seconds"] >= 0 for row in history)
    history = fit(model(), Blackbox(problem()), TRAIN, epochs=2, batch_size=4).history
    assert history.column("solves") == [2 * n] * 2


@pytest.mark.parametrize(("grow_at", "queries"), [("predicted", 1), ("transformed", 2)])
def test_the_history_counts_what_the_cache_did(grow_at, queries):
    memory = cache(TRAIN, grow_at=grow_at)
    history = fit(model(), Blackbox(memory), TRAIN, epochs=3, batch_size=4).history
    did = memory.statistics
    assert history.total("solves") == did.solves == memory.problem.statistics.solves
    assert history.total("lookups") == did.lookups
    assert did.lookups == 2 * 3 * len(TRAIN) - (did.solves if grow_at == "transformed" else 0)
    assert did.solves % queries == 0
    assert history.column("cache_size")[-1] == len(memory)
    assert sorted(history.column("cache_size")) == history.column("cache_size")


def test_the_loss_of_the_history_is_the_mean_over_instances():
    frozen = model()
    for parameter in frozen.parameters():
        parameter.requires_grad_(False)
    frozen.extra = nn.Parameter(torch.zeros(()))  # something to optimise that changes nothing
    loss = SPOPlus(problem())
    history = fit(frozen, loss, TRAIN, epochs=1, batch_size=4).history
    with torch.no_grad():
        whole = loss(frozen(TRAIN.features), TRAIN.costs.float(), TRAIN.solutions.float())
    assert history[0]["loss"] == pytest.approx(whole.item(), rel=1e-5)
    summed = SPOPlus(problem(), reduction="sum")
    assert fit(frozen, summed, TRAIN, epochs=1, batch_size=4).history[0]["loss"] == pytest.approx(
        whole.item(), rel=1e-5
    )


def test_validation_regret_is_exact_and_not_counted_as_training():
    validation = data(6, seed=9)
    memory = cache(TRAIN, p_solve=0.0)
    fitted = fit(model(), MAP(memory), TRAIN, epochs=2, validation=validation, batch_size=4)
    assert fitted.history[-1]["regret"] == evaluate(fitted.model, validation, problem()).regret
    assert fitted.history.column("solves") == [0, 0]
    assert memory.statistics.solves == 0
    assert memory.problem.statistics.solves == 2 * len(validation)
    assert len(memory) == fitted.history[0]["cache_size"]


def test_a_family_trains_with_its_ids():
    from regretless.family import Family
    from regretless.milp import MILP

    many = Problem(Family([MILP([[3.0, 4.0, 5.0]], row_upper=limit) for limit in (5.0, 9.0)]), sense="max")
    ids = torch.arange(8) % 2
    features = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
    train = Dataset.solve(many, features, features.double() + 2.0, instance=ids)
    memory = SolutionCache(many, train.solutions, instance=ids, p_solve=0.3)
    fitted = fit(nn.Linear(3, 3), MAP(memory), train, epochs=3, batch_size=3, validation=train)
    assert math.isfinite(fitted.history[-1]["regret"])
    assert fitted.history[-1]["solves"] >= 0


def test_double_precision_models_train_in_double_precision():
    fitted = fit(model().double(), LOSSES["map-cache"](TRAIN), TRAIN, epochs=1)
    assert weights(fitted.model).dtype == torch.float64


def test_any_optimizer_is_taken():
    net = model()
    fit(net, TwoStage(), TRAIN, optimizer=torch.optim.SGD(net.parameters(), lr=0.0), epochs=2)
    assert torch.equal(weights(net), weights(model()))


def test_no_epochs_change_nothing():
    fitted = fit(model(), TwoStage(), TRAIN, epochs=0)
    assert torch.equal(weights(fitted.model), weights(model()))
    assert len(fitted.history) == 0


# --- what goes wrong ----------------------------------------------------------------------------------------------


class Poisoned(nn.Module):
    """Predicts a bad value for one instance, from the second epoch on."""

    def __init__(self, bad: float, which: torch.Tensor) -> None:
        super().__init__()
        self.linear, self.bad, self.which, self.seen = nn.Linear(4, 1), bad, which, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen += len(x)
        out = self.linear(x)[..., 0]
        hit = (x[:, 0, 0] == self.which) & (self.seen > len(TRAIN))
        return torch.where(hit[:, None] & (torch.arange(6) == 2), self.bad, out)


@EVERY_LOSS
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_prediction_that_is_no_number_stops_training_and_is_named(name, bad):
    order = torch.randperm(13, generator=(generator := torch.Generator().manual_seed(0)))
    order = torch.randperm(13, generator=generator)
    which = 7
    step = order.tolist().index(which) // 4 + 1
    message = rf"predicts {bad} for training instance 7, cost 2, in epoch 2, step {step}, learning rate 0\.03"
    net = Poisoned(bad, TRAIN.features[which, 0, 0])
    with pytest.raises(TrainingError, match=message):
        fit(net, LOSSES[name](TRAIN), TRAIN, epochs=3, batch_size=4, lr=0.03)


def test_cross_entropy_with_no_number_is_the_same_error():
    train = Dataset(TRAIN.features, (TRAIN.costs > 5).double(), TRAIN.solutions)
    net = nn.Sequential(Poisoned(float("nan"), TRAIN.features[7, 0, 0]), nn.Sigmoid())
    with pytest.raises(TrainingError, match="training instance 7, cost 2, in epoch 2"):
        fit(net, TwoStage(criterion="bce"), train, epochs=2, batch_size=4)


def test_a_loss_that_overflows_stops_training():
    train = Dataset(TRAIN.features, TRAIN.costs * 1e30, TRAIN.solutions)
    with pytest.raises(TrainingError, match=r"the loss is inf in epoch 1, step 1, learning rate 0\.1"):
        fit(model(), TwoStage(), train)


def test_weights_that_are_no_numbers_stop_training_before_the_checkpoint_is_replaced(tmp_path):
    class Root(nn.Module):  # its gradient at zero is not a number, its value is
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x[..., 0] * 0 * self.w).sqrt()

    with pytest.raises(TrainingError, match=r"weights are no longer finite after epoch 1, learning rate 0\.1"):
        fit(Root(), TwoStage(), TRAIN, batch_size=13, epochs=2, checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_failed_solve_names_the_training_instance():
    which = 5

    def solver(costs):
        if costs[0] == TRAIN.costs[which, 0].float().double().item():
            raise RuntimeError("no luck")
        return np.zeros(6)

    class Truth(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 0 * self.w

    train = Dataset(TRAIN.costs.float(), TRAIN.costs, TRAIN.solutions)
    failing = Problem(oracle=solver, dimension=6, sense="max")
    for oracle in (failing, SolutionCache(failing, TRAIN.solutions, p_solve=1.0)):
        with pytest.raises(SolveError, match=r"training instance 5 in epoch 1, step \d.*no luck"):
            fit(Truth(), SPOPlus(oracle), train, batch_size=4, epochs=1)


def test_a_problem_that_skips_failures_trains_on_the_rest():
    def solver(costs):
        if costs[0] > costs[1]:
            raise RuntimeError("no luck")
        return (costs > 0) * 1.0

    failing = Problem(oracle=solver, dimension=6, sense="max", on_failure="skip")
    history = fit(model(), SPOPlus(failing), TRAIN, epochs=2, batch_size=4).history
    assert all(0 < count < len(TRAIN) for count in history.column("not_optimal"))
    assert all(math.isfinite(value) for value in history.column("loss"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": -1}, "epochs >= 0"),
        ({"batch_size": 0}, "batch_size >= 1"),
        ({"train": TRAIN[:0]}, "0 instances"),
        ({"lr": 0.0}, "lr must be positive"),
        ({"loss": TwoStage(reduction="none")}, "reduction='mean' or 'sum'"),
        ({"loss": TwoStage(), "validation": TRAIN}, r"TwoStage\(problem\)"),
        ({"model": nn.Identity()}, "Identity has no parameters"),
    ],
)
def test_wrong_arguments_are_refused_before_training(change, message):
    arguments = {"model": model(), "loss": LOSSES["spo"](TRAIN), "train": TRAIN, "epochs": 1} | change
    with pytest.raises(InputError, match=message):
        fit(arguments.pop("model"), arguments.pop("loss"), arguments.pop("train"), **arguments)


def test_a_model_of_the_wrong_shape_is_named():
    with pytest.raises(InputError, match=r"predicted must have shape \(batch, 6\), got \(13, 6, 1\)"):
        fit(nn.Linear(4, 1), LOSSES["spo"](TRAIN), TRAIN, epochs=1)


def test_an_error_inside_a_model_is_not_hidden():
    def explode() -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        fit(Trap(model(), 2, explode), LOSSES["spo"](TRAIN), TRAIN, batch_size=4, epochs=1)


def test_callbacks_see_the_row_and_may_end_training():
    class Stop(Callback):
        def __init__(self) -> None:
            self.rows: list[dict] = []

        def on_epoch(self, state):
            self.rows.append(dict(state.row))
            state.row["mine"] = state.epoch * 10
            if state.epoch == 2:
                state.stop = "enough"

    stop = Stop()
    fitted = fit(model(), TwoStage(), TRAIN, epochs=9, callbacks=[stop])
    assert fitted.reason == "enough"
    assert fitted.history.column("mine") == [10, 20]
    assert [row["epoch"] for row in stop.rows] == [1, 2]
