from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from regretless.errors import InputError
from regretless.training.models import SharedLinear, Standardized, make_model


def features(*shape: int) -> torch.Tensor:
    return 50 + 7 * torch.randn(*shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("shape", [(200, 3), (40, 5, 3)])
def test_training_features_come_out_with_mean_zero_and_deviation_one(shape):
    x = features(*shape)
    scaled = Standardized(x, nn.Identity())(x).reshape(-1, 3)
    assert torch.allclose(scaled.mean(dim=0), torch.zeros(3), atol=1e-4)
    assert torch.allclose(scaled.std(dim=0, correction=0), torch.ones(3), atol=1e-4)


def test_new_features_are_scaled_by_the_training_data():
    x = features(100, 2)
    model = Standardized(x, nn.Identity())
    wanted = (torch.zeros(1, 2) - x.mean(dim=0)) / x.std(dim=0, correction=0)
    assert torch.allclose(model(torch.zeros(1, 2)), wanted, rtol=1e-4)


def test_a_constant_feature_becomes_zero_and_not_infinite():
    x = features(20, 3)
    x[:, 1] = 4.0
    scaled = Standardized(x, nn.Identity())(x)
    assert (scaled[:, 1] == 0).all()
    assert torch.isfinite(scaled).all()


@pytest.mark.parametrize("kind", ["linear", "quadratic", "splines", "mlp"])
@pytest.mark.parametrize("shape", [(20, 3), (20, 4, 3)])
def test_a_feature_that_was_constant_in_training_has_no_effect_later(kind, shape):
    x = features(*shape)
    x[..., 1] = 2024.0
    model, later = make_model(x, 4, kind=kind, costs=torch.rand(20, 4)), x.clone()
    later[..., 1] = 2025.0
    assert torch.equal(model(later), model(x))
    assert not torch.equal(model(later + torch.tensor([1.0, 0.0, 0.0])), model(x))


def test_the_scaling_is_kept_with_the_weights_and_is_not_trained():
    x = features(20, 3)
    model, other = make_model(x, 4), make_model(features(30, 3) + 10, 4, seed=1)
    other.load_state_dict(model.state_dict())
    assert torch.equal(model(x), other(x))
    assert {name for name, _ in model.named_parameters()} == {"inner.0.weight", "inner.0.bias"}


@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_features_of_an_instance_give_all_its_costs(kind):
    x = features(6, 3)
    assert make_model(x, 10, kind=kind)(x).shape == (6, 10)


@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_features_of_variables_share_one_small_model(kind):
    x = features(6, 10, 3)
    model = make_model(x, 10, kind=kind, hidden=5)
    assert model(x).shape == (6, 10)
    # The same variable in another place gets the same cost.
    order = torch.randperm(10, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(model(x[:, order]), model(x)[:, order])
    assert sum(p.numel() for p in model.parameters()) == (4 if kind == "linear" else 3 * 5 + 5 + 5 + 1)


def test_the_seed_decides_the_weights_and_the_global_generator_is_left_alone():
    x = features(6, 3)
    before = torch.random.get_rng_state()
    one, same, other = (make_model(x, 4, kind="mlp", seed=seed)(x) for seed in (0, np.int64(0), 1))
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_perceptron_is_not_linear():
    x = features(50, 3)
    model = make_model(x, 2, kind="mlp")
    middle = (x[:25] + x[25:]) / 2
    assert not torch.allclose(model(middle), (model(x[:25]) + model(x[25:])) / 2, atol=1e-3)


def test_what_cannot_be_built_is_named():
    with pytest.raises(InputError, match="model must be one of linear, quadratic, splines, mlp, got 'tree'"):
        make_model(features(6, 3), 4, kind="tree")
    with pytest.raises(InputError, match="hidden must be an integer, at least 1, got 0"):
        make_model(features(6, 3), 4, kind="mlp", hidden=0)
    with pytest.raises(InputError, match=r"\(n, 4, k\) for variables, got \(6, 5, 3\)"):
        make_model(features(6, 5, 3), 4)
    with pytest.raises(InputError, match=r"got \(6,\)"):
        make_model(features(6), 4)


def test_a_model_is_built_from_arrays_and_lists_as_from_tensors():
    features, costs = torch.randn(5, 2), torch.rand(5, 3)
    expected = make_model(features, 3, costs=costs)
    for dress in (lambda values: values.numpy(), lambda values: values.tolist()):
        built = make_model(dress(features), 3, costs=dress(costs))
        torch.testing.assert_close(built(features), expected(features))
    with pytest.raises(InputError, match="features must be numbers, got str"):
        make_model("features", 3)
    with pytest.raises(InputError, match="dimension must be an integer, at least 1, got 0"):
        make_model(features, 0)


@pytest.mark.parametrize(
    ("features", "costs", "message"),
    [
        (torch.zeros(0, 2), None, "a model needs training features for their mean and deviation, got 0 instances"),
        (torch.zeros(5, 0), None, r"a model needs at least one column of features, got shape \(5, 0\): give a column"),
        (torch.zeros(5, 3, 0), None, r"a model needs at least one column of features, got shape \(5, 3, 0\)"),
        (torch.rand(5, 2), torch.rand(5, 4), r"costs must have shape \(n, 3\), got \(5, 4\)"),
        (torch.rand(5, 2), torch.rand(3), r"costs must have shape \(n, 3\), got \(3,\)"),
    ],
)
def test_features_and_costs_that_give_no_scale_are_refused(features, costs, message):
    with pytest.raises(InputError, match=message):
        make_model(features, 3, costs=costs)


def test_features_of_another_shape_need_a_model_of_the_users_own():
    with pytest.raises(InputError, match=r"\(n, 6, k\) for variables, got \(4, 1, 8, 8\); .* a torch module of your"):
        make_model(torch.zeros(4, 1, 8, 8), 6)


@pytest.mark.parametrize("shape", [(5, 4, 3), (0, 4, 3), (5, 0, 3), (4, 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_shared_layer_is_a_linear_layer_with_one_output(shape, bias):
    model = SharedLinear(3)
    model.linear = torch.nn.Linear(3, 1, bias=bias)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    found, expected = model(x), model.linear(x).squeeze(-1)
    assert found.shape == expected.shape == shape[:-1]
    assert torch.allclose(found, expected, atol=1e-6)
