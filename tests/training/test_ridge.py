from __future__ import annotations

import pytest
import torch

from regretless.training import ridge as module
from regretless.training.folds import make_folds
from regretless.training.ridge import ridge
from regretless.training.terms import QuadraticTerms


def data(n=60, k=3, d=4, noise=0.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, k, generator=generator, dtype=torch.float64) * torch.tensor([1.0, 100.0, 0.01]) + 5.0
    weight = torch.randn(d, k, generator=generator, dtype=torch.float64)
    c = x @ weight.T + 7.0
    return x, c + noise * torch.randn(n, d, generator=generator, dtype=torch.float64), weight


def test_without_noise_the_map_is_found_exactly_whatever_the_units_of_the_features():
    x, c, weight = data()
    found, bias = ridge(x, c, bias=True, folds=make_folds(60, 5))
    torch.testing.assert_close(found, weight, rtol=1e-6, atol=1e-8)
    torch.testing.assert_close(bias, torch.full((4,), 7.0, dtype=torch.float64), rtol=1e-6, atol=1e-6)


def test_with_no_folds_it_is_ordinary_least_squares():
    x, c, _ = data(noise=1.0)
    found, bias = ridge(x, c, bias=True, folds=[])
    design = torch.cat([x, torch.ones(60, 1, dtype=torch.float64)], dim=1)
    expected = torch.linalg.lstsq(design, c).solution.T
    torch.testing.assert_close(torch.cat([found, bias[:, None]], dim=1), expected, rtol=1e-6, atol=1e-8)


def test_one_layer_shared_by_all_costs_is_fitted_to_all_of_them():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(20, 6, 2, generator=generator, dtype=torch.float64)
    weight, bias = ridge(x, x @ torch.tensor([2.0, -3.0], dtype=torch.float64) + 1.0, bias=True, folds=[])
    torch.testing.assert_close(weight, torch.tensor([[2.0, -3.0]], dtype=torch.float64))
    torch.testing.assert_close(bias, torch.ones(1, dtype=torch.float64))


def test_without_a_bias_the_features_are_not_centered():
    x, c, weight = data()
    found, bias = ridge(x, c - 7.0, bias=False, folds=[])
    assert bias is None
    torch.testing.assert_close(found, weight, rtol=1e-6, atol=1e-8)


def test_folds_choose_a_penalty_where_noise_dominates(monkeypatch):
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(30, 20, generator=generator, dtype=torch.float64)
    c = torch.randn(30, 5, generator=generator, dtype=torch.float64)
    found, _ = ridge(x, c, bias=True, folds=make_folds(30, 5))
    monkeypatch.setattr(module, "PENALTIES", (1.0,))
    largest, _ = ridge(x, c, bias=True, folds=[])
    torch.testing.assert_close(found, largest)


def penalized(z, constants, c, penalty):
    """Weights and constants by the normal equations: ``z`` ``(m, k)``, one column of ``constants`` per constant."""
    design = torch.cat([z, constants], dim=1)
    sizes = torch.tensor([penalty * len(z)] * z.shape[1] + [0.0] * constants.shape[1], dtype=torch.float64)
    return torch.linalg.solve(design.T @ design + torch.diag(sizes), design.T @ c)


@pytest.mark.parametrize("kind", ["bias", "no bias", "shared", "intercepts"])
def test_the_penalty_is_that_of_the_smallest_error_on_the_folds(kind):
    chosen = set()
    for seed in range(6):
        generator = torch.Generator().manual_seed(seed)
        shape = (20, 2, 12) if kind in ("shared", "intercepts") else (20, 12)
        x = torch.randn(shape, generator=generator, dtype=torch.float64) + 3.0
        x = x + 0.2 * torch.arange(20.0).reshape(-1, *[1] * (len(shape) - 1))  # folds differ in their means
        weight = torch.randn(12, generator=generator, dtype=torch.float64)
        c = (x @ weight)[..., None] if len(shape) == 3 else (x @ weight)[:, None].repeat(1, 2)
        c = c + 5.0 + 2.0**seed * torch.randn(c.shape, generator=generator, dtype=torch.float64)
        rows = x.reshape(-1, 12)
        center = rows.mean(dim=0) if kind != "no bias" else torch.zeros(12, dtype=torch.float64)
        scale = (rows - center).square().mean(dim=0).sqrt()
        each = 1 if len(shape) == 2 else 2  # rows per instance
        ones = torch.eye(2).repeat(20, 1) if kind == "intercepts" else torch.ones(len(rows), kind != "no bias")
        z, ones, goal = (rows - center) / scale, ones.double(), c.reshape(len(rows), -1)
        folds, errors = [torch.arange(0, 7), torch.arange(7, 14), torch.arange(14, 20)], []
        for penalty in module.PENALTIES:
            errors.append(0.0)
            for fold in folds:
                out = torch.zeros(20, dtype=torch.bool)
                out[fold] = True
                out = out.repeat_interleave(each)
                found = penalized(z[~out], ones[~out], goal[~out], penalty)
                errors[-1] += float((torch.cat([z[out], ones[out]], dim=1) @ found - goal[out]).square().sum())
        chosen.add(errors.index(min(errors)))
        best = penalized(z, ones, goal, module.PENALTIES[errors.index(min(errors))])
        expected = (best[:12] / scale[:, None]).T
        found, bias = ridge(
            x, c[..., 0] if len(shape) == 3 else c, bias=kind != "no bias", folds=folds, intercepts=kind == "intercepts"
        )
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
        if bias is not None:
            torch.testing.assert_close(bias, best[12:].reshape(-1) - expected @ center, rtol=1e-6, atol=1e-6)
    assert len(chosen) > 1


def test_a_constant_feature_has_no_weight():
    x, c, _ = data()
    x[:, 1] = 3.0
    found, _ = ridge(x, c, bias=True, folds=[])
    assert (found[:, 1] == 0).all()


def test_products_of_levels_that_depend_on_each_other_up_to_rounding_get_no_huge_weights():
    generator = torch.Generator().manual_seed(0)
    days = torch.randint(7, (400,), generator=generator)
    features = torch.cat([torch.eye(7)[days], torch.randn(400, 1, generator=generator)], dim=1)
    inputs = QuadraticTerms(features)(features)
    assert inputs.dtype == torch.float32
    noise = 0.1 * torch.randn(400, 1, generator=generator)
    weight, bias = ridge(inputs, days[:, None] + features[:, 7:] + noise, bias=True, folds=[])
    assert weight.abs().max() < 2
    assert (inputs.double() @ weight.T + bias - days[:, None] - features[:, 7:]).abs().max() < 0.2


def test_a_feature_that_differs_by_rounding_only_is_constant():
    generator = torch.Generator().manual_seed(0)
    plain = torch.randn(40, 1, generator=generator)
    rounded = 1 + torch.finfo(torch.float32).eps * (plain > 0)
    costs = plain + torch.randn(40, 1, generator=generator)
    weight, _ = ridge(torch.cat([plain, rounded], dim=1), costs, bias=True, folds=[])
    assert weight[0, 1] == 0


def test_a_dependency_that_double_precision_tells_from_rounding_is_used():
    x = torch.randn(40, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    inputs = torch.cat([x, x + 1e-7 * x**2], dim=1)
    weight, bias = ridge(inputs, x**2, bias=True, folds=[])
    torch.testing.assert_close(inputs @ weight.T + bias, x**2, rtol=1e-4, atol=1e-4)
