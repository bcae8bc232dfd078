from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch

from regretless import MAP, Dataset, Problem, SolutionCache, fit
from regretless.errors import FileError, InputError
from regretless.losses import ExpectedRegret, SPOPlus
from regretless.training.models import make_model
from regretless.training.stacked_fit import Setting, fit_stacked
from regretless.training.stacked_models import StackedLinear


def data(n=30, d=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    problem = Problem(oracle=lambda c: (c <= sorted(c)[1]) * 1.0, dimension=d)
    x = torch.randn(n, 3, generator=generator)
    c = (x @ torch.randn(3, d, generator=generator)) ** 3 + torch.randn(n, d, generator=generator)
    return problem, Dataset.solve(problem, x, c)


def cache(problem, train, p_solve=0.0):
    return SolutionCache(problem, train.solutions, p_solve=p_solve)


STREAMS = [torch.arange(0, 20), torch.arange(7, 30), torch.arange(30)]
SETTINGS = [Setting(0, 0.01), Setting(1, 0.03), Setting(0, 0.1)]


def run(problem, train, kind="linear", settings=SETTINGS, streams=STREAMS, p_solve=0.0, **more):
    models = [make_model(train.features, 6, costs=train.costs, kind=kind, hidden=4) for _ in streams]
    shared = cache(problem, train, p_solve)
    losses = [MAP(shared, reduction="none"), SPOPlus(shared, reduction="none")]
    return fit_stacked(models, losses, settings, train, streams, epochs=3, batch_size=8, seed=5, progress=False, **more)


@pytest.mark.parametrize("kind", ["linear", "mlp"])
def test_a_run_inside_a_stack_equals_the_same_run_alone(kind):
    problem, train = data()
    together = run(problem, train, kind)
    for f, stream in enumerate(STREAMS):
        for s, setting in enumerate(SETTINGS):
            alone = run(problem, train, kind, settings=[setting], streams=[stream])
            if kind == "linear":  # scaled by all instances in both cases
                assert isinstance(alone.models, StackedLinear)
            a = together.models.export(together.snapshots[3], f, s)(train.features)
            b = alone.models.export(alone.snapshots[3], 0, 0)(train.features)
            torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-3)


def test_a_run_of_a_perceptron_takes_the_steps_of_fit():
    problem, train = data()
    together = run(problem, train, "mlp")
    stack = together.models
    for f, stream in enumerate(STREAMS):
        model = make_model(train.features, 6, costs=train.costs, kind="mlp", hidden=4)
        groups = [{"params": [p], "lr": 0.01 * float(stack.units[name])} for name, p in model.named_parameters()]
        optimizer = torch.optim.Adam(groups)
        fit(model, MAP(cache(problem, train)), train[stream], epochs=3, batch_size=8, seed=5, optimizer=optimizer)
        mine = stack.export(together.snapshots[3], f, 0)
        torch.testing.assert_close(mine(train.features), model(train.features), rtol=1e-3, atol=1e-3)


def test_snapshots_are_kept_after_the_epochs_asked_for():
    problem, train = data()
    found = run(problem, train, snapshots=[1])
    assert sorted(found.snapshots) == [1, 3]
    assert not torch.equal(found.snapshots[1]["weight"], found.snapshots[3]["weight"])


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
    start = make_model(train.features, 6, costs=train.costs)(train.features)
    free, held = (found.models.predict_all(found.snapshots[3], 2)[s] for s in (0, 1))
    assert float((held - start).norm()) < 0.5 * float((free - start).norm())


def test_the_shared_cache_grows_by_the_budget_of_its_coin():
    problem, train = data()
    shared = cache(problem, train, p_solve=0.5)
    models = [make_model(train.features, 6) for _ in STREAMS]
    losses = [ExpectedRegret(shared, reduction="none")]
    fit_stacked(models, losses, [Setting(0, 0.01)], train, STREAMS, epochs=1, batch_size=8, progress=False)
    assert shared.statistics.asked == sum(map(len, STREAMS))
    assert 0 < shared.statistics.solves < shared.statistics.asked


class Counter:
    """Stops after an epoch, and counts steps."""

    def __init__(self, stop_after=99):
        self.stop_after, self.steps = stop_after, 0

    def on_step(self, predicted, index, valid):
        self.steps += 1

    def on_epoch(self, epoch, models, diverged):
        return "enough" if epoch >= self.stop_after else ""

    def state_dict(self):
        return {"steps": self.steps}

    def load_state_dict(self, state):
        self.steps = state["steps"]


def test_an_observer_sees_every_step_and_can_end_training():
    problem, train = data()
    observer = Counter(stop_after=2)
    found = run(problem, train, observer=observer)
    assert (observer.steps, found.reason, sorted(found.snapshots)) == (8, "enough", [2])


def test_a_search_that_was_stopped_continues_from_its_checkpoint(tmp_path: Path, monkeypatch):
    problem, train = data()
    undisturbed = run(problem, train, p_solve=0.2, observer=Counter())
    path = tmp_path / "search.safetensors"

    class StopError(Exception):
        pass

    class Stopping(Counter):
        def on_step(self, predicted, index, valid):
            super().on_step(predicted, index, valid)
            if self.steps == 6:
                raise StopError

    with pytest.raises(StopError):
        run(problem, train, p_solve=0.2, observer=Stopping(), checkpoint=path, identity={"a": 1})
    resumed = run(problem, train, p_solve=0.2, observer=Counter(), checkpoint=path, identity={"a": 1})
    assert torch.equal(resumed.snapshots[3]["weight"], undisturbed.snapshots[3]["weight"])
    with pytest.raises(FileError, match="another search: it differs in a"):
        run(problem, train, p_solve=0.2, observer=Counter(), checkpoint=path, identity={"a": 2})


def test_what_does_not_fit_is_refused():
    problem, train = data()
    model = make_model(train.features, 6)
    with pytest.raises(InputError, match="reduction='none'"):
        fit_stacked([model], [MAP(cache(problem, train))], SETTINGS[:1], train, STREAMS[:1])
    loss = MAP(cache(problem, train), reduction="none")
    with pytest.raises(InputError, match="one model per stream, got 1 and 3"):
        fit_stacked([model], [loss], SETTINGS[:1], train, STREAMS)
    with pytest.raises(InputError, match="need epochs >= 1"):
        fit_stacked([copy.deepcopy(model)], [loss], SETTINGS[:1], train, STREAMS[:1], epochs=0)
