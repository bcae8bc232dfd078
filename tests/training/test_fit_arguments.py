from __future__ import annotations

import pytest
import torch
from torch import nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import TwoStage
from regretless.training import Callback, EarlyStopping, fit
from regretless.training.fit_arguments import check_data

from .runs import LOSSES, data, model, weights

TRAIN = data()
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
