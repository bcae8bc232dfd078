from __future__ import annotations

from dataclasses import replace

import torch

from regretless import MILP, Dataset, Problem
from regretless.training.models import make_model
from regretless.training.stacked_models import Setting

from .stacks import Counter, data, run


def test_a_run_that_diverges_drops_out_and_leaves_the_others_alone():
    problem, train = data()
    settings = [Setting(0, 0.01), Setting(0, 1e38)]
    found = run(problem, train, settings=settings)
    assert found.diverged[:, 1].all()
    assert not found.diverged[:, 0].any()
    alone = run(problem, train, settings=settings[:1])
    torch.testing.assert_close(found.snapshots[3]["weight"][:, :1], alone.snapshots[3]["weight"])


def test_an_anchor_holds_predictions_near_the_start():
    problem, train = data()
    settings = [Setting(0, 0.03), Setting(0, 0.03, anchor=30.0)]
    found = run(problem, train, settings=settings)
    start = make_model(train.features, 6, costs=train.costs)(train.features).detach()
    free, held = (found.models.predict_with(found.snapshots[3], 2)[s] for s in (0, 1))
    assert float((held - start).norm()) < 0.5 * float((free - start).norm())


def test_an_anchor_holds_each_setting_near_its_own_start():
    problem, train = data()
    starts = [make_model(train.features, 6, costs=train.costs, seed=seed) for seed in (0, 1)]
    settings = [Setting(0, 0.03, anchor=30.0, start=start) for start in (1, 0)]
    found = run(problem, train, settings=settings, models=[starts] * 3)
    first, second = (model(train.features).detach() for model in starts)
    held = found.models.predict_with(found.snapshots[3], 2)
    assert float((held[0] - second).norm()) < 0.2 * float((held[0] - first).norm())
    assert float((held[1] - first).norm()) < 0.2 * float((held[1] - second).norm())


def test_an_observer_sees_every_step_and_can_end_training():
    problem, train = data()
    observer = Counter(stop_after=2)
    found = run(problem, train, observer=observer)
    assert (observer.steps, found.reason, sorted(found.snapshots)) == (8, "enough", [2])


def test_a_stream_with_a_shorter_last_batch_is_filled_up_with_what_has_no_effect():
    problem, train = data()
    short, long = torch.arange(0, 9), torch.arange(7, 30)  # batches of 8 and 1 instances beside 8, 8 and 7
    settings = [Setting(0, 0.01), Setting(1, 0.03, anchor=3.0)]
    both, alone = (run(problem, train, settings=settings, streams=some) for some in ([short, long], [short]))
    torch.testing.assert_close(both.snapshots[3]["weight"][:1], alone.snapshots[3]["weight"])


def test_steps_and_anchors_do_not_depend_on_the_units_of_the_costs():
    problem, train = data()
    found = []
    for unit in (1.0, 1024.0, 2.0**-30):  # the last is below the constant that Adam adds to gradients
        scaled = replace(train, costs=train.costs * unit)
        model = make_model(train.features, 6, costs=scaled.costs)
        runs = run(problem, scaled, settings=[Setting(0, 0.03, anchor=0.3)], models=[model] * 3)
        found.append(runs.models.predict_with(runs.snapshots[3], 2) / unit)
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-3, atol=1e-3)


def test_the_weight_of_an_anchor_does_not_depend_on_the_units_of_known_costs():
    _, train = data()
    found = []
    for unit in (1.0, 1024.0):
        penalty = torch.tensor([0.0] * 6 + [2.0 * unit])  # two of six, or a penalty for each that is missing
        model = MILP([[1.0] * 7], row_lower=2, upper=[1] * 6 + [2], cost_map=torch.eye(6, 7), fixed_cost=penalty)
        problem = Problem(model)
        scaled = Dataset.solve(problem, train.features, train.costs * unit + 2.0 * unit, progress=False)
        linear = make_model(scaled.features, 6, costs=scaled.costs)
        runs = run(problem, scaled, settings=[Setting(0, 0.03, anchor=0.3)], models=[linear] * 3)
        found.append(runs.models.predict_with(runs.snapshots[3], 2) / unit)
    torch.testing.assert_close(found[1], found[0], rtol=1e-3, atol=1e-3)
