from __future__ import annotations

import copy
import signal
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from regretless import MAP, fit, progress
from regretless.errors import InputError, RegretlessWarning
from regretless.losses import ExpectedRegret
from regretless.progress import LongWork
from regretless.training import stacked_fit
from regretless.training.interrupt import Interrupted
from regretless.training.models import make_model
from regretless.training.stacked_fit import fit_stacked, long_search
from regretless.training.stacked_linear import StackedLinear
from regretless.training.stacked_models import Setting

from .stacks import SETTINGS, STREAMS, Counter, cache, data, run


def go(monkeypatch: pytest.MonkeyPatch, seconds: float, steps: int, done: int) -> None:
    now = [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: now[0]))
    estimate = long_search(steps)
    for _ in range(done):
        now[0] += seconds
        estimate.step()


def test_a_search_of_hours_is_announced_once_after_half_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(RegretlessWarning, match="the search takes about 2.8 h more") as said:
        go(monkeypatch, seconds=1.0, steps=10_000, done=200)
    assert len(said) == 1


def test_a_short_search_is_not_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        go(monkeypatch, seconds=1.0, steps=1000, done=1000)


def test_every_step_of_a_stack_that_is_left_is_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[LongWork] = []
    monkeypatch.setattr(stacked_fit, "long_search", lambda steps: made.append(long_search(steps)) or made[-1])
    for stop_after in (1, 99):
        run(*data(), observer=Counter(stop_after), checkpoint=tmp_path / "search.safetensors")
    assert [(one.total, one.done) for one in made] == [(12, 4), (8, 8)]  # of 3 epochs, one and then the others


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


@pytest.mark.parametrize("family", [False, True])
def test_a_run_of_a_perceptron_takes_the_steps_of_fit(family):
    problem, train = data(family=family)
    together = run(problem, train, "mlp")
    stack = together.models
    for f, stream in enumerate(STREAMS):
        model = make_model(train.features, 6, costs=train.costs, kind="mlp", hidden=4)
        groups = [{"params": [p], "lr": 0.01 * float(stack.units[name])} for name, p in model.named_parameters()]
        optimizer = torch.optim.Adam(groups)
        fit(model, MAP(cache(problem, train)), train[stream], epochs=3, batch_size=8, seed=5, optimizer=optimizer)
        mine = stack.export(together.snapshots[3], f, 0)
        torch.testing.assert_close(mine(train.features), model(train.features), rtol=1e-3, atol=1e-3)


def test_dropout_follows_the_seed_and_not_the_global_generator():
    problem, train = data()
    found = []
    for _ in range(2):
        torch.rand(1)
        before = torch.get_rng_state()
        found.append(run(problem, train, "dropout").snapshots[3])
        assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(value, found[1][name]) for name, value in found[0].items())


def test_snapshots_are_kept_after_the_epochs_asked_for():
    problem, train = data()
    found = run(problem, train, snapshots=[1])
    assert sorted(found.snapshots) == [1, 3]
    assert not torch.equal(found.snapshots[1]["weight"], found.snapshots[3]["weight"])


def test_the_shared_cache_grows_by_the_budget_of_its_coin():
    problem, train = data()
    shared = cache(problem, train, p_solve=0.5)
    models = [make_model(train.features, 6) for _ in STREAMS]
    losses = [ExpectedRegret(shared, reduction="none")]
    fit_stacked(models, losses, [Setting(0, 0.01)], train, STREAMS, epochs=1, batch_size=8, progress=False)
    assert shared.statistics.asked == sum(map(len, STREAMS))
    assert 0 < shared.statistics.solves < shared.statistics.asked


def test_a_signal_ends_a_search_after_its_epoch_and_the_same_call_continues(tmp_path: Path):
    problem, train = data()
    path = tmp_path / "search.safetensors"

    class Signalling(Counter):
        def on_step(self, predicted, index, valid):
            super().on_step(predicted, index, valid)
            if self.steps == 2:
                signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match=r"SIGTERM: the search ended after epoch 1; it is kept in .*search"):
        run(problem, train, observer=Signalling(), checkpoint=path)
    observer = Counter()
    resumed, whole = run(problem, train, observer=observer, checkpoint=path), run(problem, train)
    assert observer.steps == 12
    assert torch.equal(resumed.snapshots[3]["weight"], whole.snapshots[3]["weight"])


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
