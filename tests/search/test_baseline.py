from __future__ import annotations

import pytest
import torch

from regretless import Dataset, Problem, SolutionCache, predict
from regretless.search.baseline import fit_baseline
from regretless.search.scores import HeldOut
from regretless.training.folds import make_folds, rest_of
from regretless.training.linear_model import find_linear
from regretless.training.models import make_model
from regretless.training.two_stage import fit_two_stage

LINEAR_AND_QUADRATIC = [(), ("products",)]
PROBLEM = Problem(oracle=lambda c: (c == c.min()) * 1.0, dimension=3)


def fitted(power: int, **more):
    chance = torch.Generator().manual_seed(0)
    x = torch.randn(60, 2, generator=chance)
    costs = (x @ torch.randn(2, 3, generator=chance)).to(torch.float64) ** power
    data = Dataset.solve(PROBLEM, x, costs + 0.01 * torch.randn(60, 3, generator=chance))
    parts = make_folds(60, 3, seed=0, ordered=False)
    streams = [*(rest_of(60, part) for part in parts), torch.arange(60)]
    held_out = HeldOut(SolutionCache(PROBLEM, torch.eye(3), p_solve=0.0), data, parts)
    model = make_model(data.features, 3, costs=data.costs)
    return held_out, model, fit_baseline(model, held_out, streams, seed=0, ordered=False, **more)


def test_the_baseline_is_the_best_two_stage_model_of_all_data():
    held_out, model, found = fitted(1, forms=[()])
    fit_two_stage(model, held_out.data, progress=False)
    torch.testing.assert_close(found.model(held_out.data.features), model(held_out.data.features))
    assert (len(found.starts), len(found.starts[0])) == (4, 1)


@pytest.mark.parametrize("forms", [[()], LINEAR_AND_QUADRATIC])
def test_held_out_predictions_are_those_of_the_chosen_fit_that_left_the_instance_out(forms):
    held_out, _, found = fitted(2, forms=forms)
    assert found.chosen == len(forms) - 1
    for part, nets in zip(held_out.folds, found.starts, strict=False):
        own = predict(nets[found.chosen], held_out.data.features[part]).double()
        torch.testing.assert_close(found.predicted[part], own, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("power", "quadratic"), [(1, False), (2, True)])
def test_the_kind_of_smaller_held_out_regret_is_the_baseline(power, quadratic):
    _, _, found = fitted(power, forms=LINEAR_AND_QUADRATIC)
    view = find_linear(found.model)
    assert view is not None
    assert (found.chosen == 1) == quadratic == (view.terms == ("products",))


def test_linear_starts_have_the_shape_of_quadratic_ones():
    held_out, _, found = fitted(2, forms=LINEAR_AND_QUADRATIC)
    linear, quadratic = found.starts[-1]
    assert linear.state_dict().keys() == quadratic.state_dict().keys()
    view = find_linear(linear)
    assert view is not None
    assert not view.layer.weight[:, 2:].any()
    assert (
        held_out.regrets(predict(quadratic, held_out.data.features).double()).mean()
        < held_out.regrets(predict(linear, held_out.data.features).double()).mean()
    )
