from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import MAP, TwoStage
from regretless.problem import Problem
from regretless.training import Callback, EarlyStopping, evaluate, fit
from regretless.training.fit_loop import check_data

from .runs import LOSSES, cache, data, model, problem, untimed, weights

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
    fitted = fit(model(), LOSSES[name](TRAIN), TRAIN, epochs=10, lr=0.1, batch_size=4)
    losses = fitted.history.column("loss")
    assert losses[-1] < losses[0] or evaluate(fitted.model, TRAIN, problem()).regret < before
    assert fitted.reason == "all 10 epochs done"


@EVERY_LOSS
def test_the_same_seed_gives_the_same_weights_and_another_seed_others(name):
    first, second, other = (
        fit(model(), LOSSES[name](TRAIN), TRAIN, epochs=2, lr=0.1, batch_size=4, seed=seed) for seed in (1, 1, 2)
    )
    assert torch.equal(weights(first.model), weights(second.model))
    assert untimed(first.history) == untimed(second.history)
    assert not torch.equal(weights(first.model), weights(other.model))


def test_integers_of_numpy_are_integers():
    settings = {"seed": 1, "epochs": 2, "batch_size": 4}
    numpy = {name: np.int64(value) for name, value in settings.items()}
    one, same = (fit(model(), TwoStage(), TRAIN, **given).model for given in (settings, numpy))
    assert torch.equal(weights(one), weights(same))


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_training_leaves_the_global_generators_alone(dropout):
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    fit(model(dropout), LOSSES["map-cache"](TRAIN), TRAIN, epochs=1)
    assert torch.equal(torch.rand(3), expected)


def test_dropout_follows_the_seed_and_not_the_global_generator():
    order = [(TRAIN.features, TRAIN.costs, TRAIN.solutions)]  # one batch, so that nothing but dropout differs
    found = []
    for seed in (1, 1, 2):
        torch.rand(1)
        found.append(weights(fit(model(0.5), TwoStage(), order, epochs=3, seed=seed).model))
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": -1}, "epochs must be an integer, at least 0, got -1"),
        ({"batch_size": 0}, "batch_size must be an integer, at least 1, got 0"),
        ({"train": TRAIN[:0]}, "0 instances"),
        ({"lr": 0.0}, "lr must be a finite number above 0"),
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
    with pytest.raises(InputError, match=r"must predict 6 costs per instance.* got \(2, 6, 1\)"):
        fit(nn.Linear(4, 1), LOSSES["spo"](TRAIN), TRAIN, epochs=1)


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


def test_a_caller_without_gradients_trains_all_the_same():
    train, nets = data(), [model(), model()]
    fit(nets[0], LOSSES["spo"](train), train, epochs=1)
    with torch.no_grad():
        fit(nets[1], LOSSES["spo"](train), train, epochs=1)
        assert not torch.is_grad_enabled()
    assert torch.equal(weights(nets[0]), weights(nets[1]))


SCHEDULER = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(model().parameters()), 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": len}, "model must be a Module, got builtin_function_or_method"),
        ({"loss": nn.MSELoss()}, r"loss must be a Loss, got MSELoss: build one over the problem, .* AutogradLoss"),
        ({"loss": TwoStage}, "loss must be a Loss, got the class TwoStage"),
        ({"validation": 0.2}, "validation must be a Dataset, got float"),
        ({"validation": TRAIN[:0]}, "validation needs data, got 0 instances"),
        (
            {"validation": Dataset(torch.zeros(2, 6, 3), TRAIN.costs[:2], TRAIN.solutions[:2])},
            r"validation data do not fit: the model Model cannot predict from features of shape \(2, 6, 3\)",
        ),
        (
            {"validation": Dataset(TRAIN.features, TRAIN.costs[:, :5], TRAIN.solutions[:, :5])},
            r"validation data must have 6 costs and solutions of width 6, got \(5, 5\)",
        ),
        (
            {"validation": Dataset(TRAIN.features, TRAIN.costs, TRAIN.solutions, torch.arange(len(TRAIN)))},
            "validation data do not fit: this problem is no family",
        ),
        ({"scheduler": SCHEDULER}, "scheduler belongs to an optimizer: pass that optimizer, too"),
        (
            {"scheduler": SCHEDULER, "optimizer": torch.optim.SGD(model().parameters())},
            "scheduler belongs to an optimizer: pass that optimizer, too",
        ),
        ({"scheduler": "cosine"}, "scheduler must be a learning-rate scheduler of torch, .* got 'cosine'"),
        ({"scheduler": torch.optim.lr_scheduler.StepLR}, "got the class StepLR"),
        ({"clip": "1"}, "clip must be a finite number above 0, got '1'"),
        ({"optimizer": torch.optim.SGD(model().parameters())}, "optimizer has no parameter of the model Model"),
        ({"optimizer": torch.optim.SGD}, "optimizer must be an Optimizer, got the class SGD"),
        ({"optimizer": torch.optim.LBFGS(model().parameters())}, "LBFGS computes the loss several times"),
        ({"callbacks": Callback()}, "callbacks must be a list of callbacks, got Callback: put it in a list"),
        ({"callbacks": [print]}, "each of callbacks must be a Callback"),
    ],
)
def test_objects_of_another_kind_are_refused_before_training(change, message):
    net = change.pop("model", model())
    with pytest.raises(InputError, match=message):
        fit(net, change.pop("loss", LOSSES["spo"](TRAIN)), TRAIN, epochs=1, **change)


def test_an_optimizer_of_some_parameters_trains_these():
    net = model()
    before, bias = weights(net), net.linear.bias.clone()
    fit(net, LOSSES["spo"](TRAIN), TRAIN, epochs=1, optimizer=torch.optim.SGD([net.linear.weight], lr=0.1))
    assert not torch.equal(weights(net), before)
    assert torch.equal(net.linear.bias, bias)


def test_a_loss_of_the_users_own_may_write_the_column_of_early_stopping():
    class Own(TwoStage):
        def diagnostics(self):
            return {"own_regret": 1.0}

    fitted = fit(model(), Own(), TRAIN, epochs=3, callbacks=[EarlyStopping(patience=1, column="own_regret")])
    assert fitted.reason == "no better own_regret than 1 for 1 epochs"


def test_data_that_are_none_and_a_checkpoint_that_is_no_path_are_refused(tmp_path):
    with pytest.raises(InputError, match="train must be a Dataset or a DataLoader, got NoneType"):
        check_data(None, None)
    with pytest.raises(InputError, match="checkpoint must be the path of a file, got int"):
        check_data([], 3)
    check_data([], tmp_path)
    check_data([], str(tmp_path))


def test_a_loader_that_cannot_collate_a_dataset_is_refused_with_what_to_pass():
    loader = torch.utils.data.DataLoader(TRAIN, batch_size=4)
    with pytest.raises(InputError, match=r"cannot collate a Dataset .*TensorDataset\(data.features"):
        fit(model(), TwoStage(), loader, epochs=1)
    whole = torch.utils.data.DataLoader(TRAIN, batch_size=4, collate_fn=lambda parts: TRAIN[: len(parts)])
    fit(model(), TwoStage(), whole, epochs=1, progress=False)
