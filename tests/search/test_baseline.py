from __future__ import annotations

import pytest
import torch

from regretless import Dataset, Problem, SolutionCache, predict
from regretless.search.baseline import fit_baseline, weights_of
from regretless.search.scores import HeldOut
from regretless.training.folds import make_folds, rest_of
from regretless.training.linear_model import find_linear
from regretless.training.models import make_model
from regretless.training.two_stage import fit_two_stage

ROWS = torch.tensor([1, 3, 5, 7])


def solved(looked_up, wrong=0.0):
    return looked_up[:, ROWS] + wrong


def test_equal_forms_have_equal_weights():
    same = torch.rand(1, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).repeat(3, 1)
    assert weights_of(same, solved(same), ROWS).tolist() == pytest.approx([1 / 3] * 3)


def test_the_weight_falls_to_zero_at_two_standard_errors():
    noise = torch.tensor([-1.0, 1.0] * 4, dtype=torch.float64)
    error = float(noise.std()) / 8**0.5
    for errors, expected in ((0.0, 0.5), (1.0, 1 / 3), (1.9, 0.05 / 1.05), (2.1, 0.0)):
        forms = torch.stack([torch.zeros_like(noise), noise + errors * error])
        assert weights_of(forms, solved(forms), ROWS)[1].item() == pytest.approx(expected)


def test_what_look_ups_are_wrong_by_is_added_with_its_own_error():
    forms = torch.zeros(2, 8, dtype=torch.float64)
    wrong = torch.tensor([[0.0] * 4, [1.0, 1.0, 1.0, 1.0]], dtype=torch.float64)
    assert weights_of(forms, solved(forms, wrong), ROWS).tolist() == [1.0, 0.0]
    wrong[1] = torch.tensor([1.0, -1.0, 3.0, 1.0])
    error = float(wrong[1].std()) / 2
    weight = 1 - 1 / (2 * error)
    assert weights_of(forms, solved(forms, wrong), ROWS)[1].item() == pytest.approx(weight / (1 + weight))


def test_instances_that_no_solve_answered_are_left_out():
    forms = torch.stack([torch.zeros(8), torch.ones(8)]).double()
    wrong = torch.tensor([[0.0, torch.nan, 0.0, 0.0], [-2.0, 9.0, -2.0, -2.0]], dtype=torch.float64)
    assert weights_of(forms, solved(forms, wrong), ROWS).tolist() == [0.0, 1.0]
    nothing = torch.full((2, 4), torch.nan, dtype=torch.float64)
    assert weights_of(forms, nothing, ROWS).tolist() == [1.0, 0.0], "look-ups decide"


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
def test_held_out_predictions_are_those_of_the_best_fit_that_left_the_instance_out(forms):
    held_out, _, found = fitted(2, forms=forms)
    for part, nets in zip(held_out.folds, found.starts, strict=False):
        own = predict(nets[-1], held_out.data.features[part]).double()
        torch.testing.assert_close(found.predicted[part], own, rtol=1e-4, atol=1e-4)


def test_a_form_that_is_clearly_better_is_the_baseline():
    _, _, found = fitted(2, forms=LINEAR_AND_QUADRATIC)
    view = find_linear(found.model)
    assert view is not None
    assert view.terms == ("products",)
    torch.testing.assert_close(find_linear(found.widest).layer.weight, view.layer.weight)


def test_forms_that_cannot_be_told_apart_are_averaged():
    held_out, _, found = fitted(1, forms=LINEAR_AND_QUADRATIC)
    assert found.model is found.widest
    x = held_out.data.features
    each = torch.stack([predict(net, x) for net in found.starts[-1]])
    share = ((found.model(x) - each[1]) / (each[0] - each[1])).detach().double()
    assert 0.05 < share.median() < 0.95
    assert (share - share.median()).abs().median() < 1e-2
    for part, nets in zip(held_out.folds, found.starts, strict=False):
        linear, quadratic = (predict(net, x[part]).double() for net in nets)
        own = share.median() * linear + (1 - share.median()) * quadratic
        torch.testing.assert_close(found.predicted[part], own, rtol=1e-3, atol=1e-3)


def test_a_form_that_look_ups_prefer_wrongly_is_not_the_baseline():
    held_out, _, found = fitted(2, forms=LINEAR_AND_QUADRATIC)
    predictions = [torch.zeros_like(found.predicted), found.predicted]
    exact = torch.stack([held_out.exact(one, torch.arange(25)) for one in predictions])
    flattered = torch.stack([torch.zeros(60, dtype=torch.float64), held_out.regrets(found.predicted) + 0.1])
    assert flattered.mean(dim=1).argmin() == 0
    assert weights_of(flattered, exact, torch.arange(25)).tolist() == [0.0, 1.0]


def test_predictions_that_are_not_finite_take_no_part(monkeypatch):
    fits = []

    def fit_badly(net, data, **more):
        fits.append(net)
        fit_two_stage(net, data, **more)
        if len(fits) > 4:  # the second form
            find_linear(net).layer.weight.data.fill_(torch.inf)

    monkeypatch.setattr("regretless.search.baseline.fit_two_stage", fit_badly)
    _, _, found = fitted(1, forms=LINEAR_AND_QUADRATIC)
    assert torch.isfinite(found.predicted).all()
    assert find_linear(found.model).terms == ()


def test_a_bar_counts_the_fits_of_all_forms_and_streams(monkeypatch):
    shown = []

    def track(items, **how):
        shown.append((how["label"], how["total"], len(items)))
        return items

    monkeypatch.setattr("regretless.search.baseline.track", track)
    fitted(1, forms=LINEAR_AND_QUADRATIC)
    assert shown == [("two-stage fits", 8, 8)]


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
