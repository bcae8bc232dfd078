from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import SPOPlus, TwoStage
from regretless.training import (
    Converged,
    EarlyStopping,
    History,
    Schedule,
    TimeLimit,
    TrainingState,
    Watch,
    evaluate,
    fit,
)
from regretless.training import callbacks as module

from .runs import LOSSES, data, model, problem, weights

TRAIN, VALIDATION = data(), data(7, seed=1)


def state(**row) -> TrainingState:
    net = nn.Linear(1, 1)
    return TrainingState(net, torch.optim.SGD(net.parameters(), lr=1.0), 1, row, History())


class Kept(module.Callback):
    """Keeps the weights of every epoch."""

    def __init__(self) -> None:
        self.weights: list[torch.Tensor] = []

    def on_epoch(self, state: TrainingState) -> None:
        self.weights.append(weights(state.model))


def test_early_stopping_ends_with_the_best_weights():
    net, kept = model(), Kept()
    fitted = fit(
        net,
        SPOPlus(problem()),
        TRAIN,
        epochs=40,
        lr=0.5,
        batch_size=4,
        validation=VALIDATION,
        callbacks=[kept, EarlyStopping(patience=4)],
    )
    regrets = fitted.history.column("regret")
    assert evaluate(net, VALIDATION, problem()).regret == min(regrets)
    assert len(regrets) < 40
    best = regrets.index(min(regrets))
    assert best == len(regrets) - 5
    assert torch.equal(weights(net), kept.weights[best])
    assert not torch.equal(weights(net), kept.weights[-1])
    assert f"no better regret than {min(regrets):.6g} for 4 epochs" in fitted.reason


def test_early_stopping_counts_from_the_last_improvement():
    stopping, at = EarlyStopping(patience=2), state()
    stops = []
    for value in (5.0, 6.0, 4.0, 4.0, 4.5):
        at.row = {"regret": value}
        stopping.on_epoch(at)
        stops.append(bool(at.stop))
    assert stops == [False, False, False, False, True]
    assert stopping.best == 4.0


def test_a_regret_that_is_no_number_is_no_improvement():
    stopping, at = EarlyStopping(patience=1), state(regret=math.nan)
    stopping.on_epoch(at)
    assert at.stop


def test_early_stopping_without_restoring_keeps_the_last_weights():
    stopping, at = EarlyStopping(patience=1, restore=False), state(regret=1.0)
    stopping.on_epoch(at)
    with torch.no_grad():
        at.model.weight.fill_(9.0)
    stopping.on_end(at)
    assert at.model.weight.item() == 9.0


def test_early_stopping_continues_with_the_best_weights_of_a_saved_state():
    first, at = EarlyStopping(patience=2), state(regret=1.0)
    first.on_epoch(at)
    best = at.model.weight.item()
    at.row = {"regret": 2.0}
    first.on_epoch(at)
    second = EarlyStopping(patience=2)
    second.on_start(at)
    second.load_state_dict(first.state_dict())
    with torch.no_grad():
        at.model.weight.fill_(9.0)
    second.on_epoch(at)
    second.on_end(at)
    assert (bool(at.stop), second.best, at.model.weight.item()) == (True, 1.0, best)


def test_a_schedule_continues_from_a_saved_state():
    at = state()
    first, second = (Schedule(torch.optim.lr_scheduler.StepLR(at.optimizer, step_size=2, gamma=0.1)) for _ in range(2))
    at.optimizer.step()
    first.on_epoch(at)
    second.load_state_dict(first.state_dict())
    second.on_epoch(at)
    assert at.optimizer.param_groups[0]["lr"] == pytest.approx(0.1)


def test_early_stopping_forgets_an_earlier_run():
    stopping = EarlyStopping(patience=3)
    fit(model(), TwoStage(problem()), TRAIN, epochs=2, validation=VALIDATION, callbacks=[stopping])
    other = nn.Sequential(model())  # has other names of weights: the old ones would not fit
    fit(other, TwoStage(problem()), TRAIN, epochs=2, validation=VALIDATION, callbacks=[stopping])


def test_early_stopping_says_what_it_needs():
    with pytest.raises(InputError, match="needs the column 'cache_size'"):
        fit(model(), TwoStage(), TRAIN, epochs=2, callbacks=[EarlyStopping(column="cache_size")])
    with pytest.raises(InputError, match="patience must be an integer, at least 1, got 0"):
        EarlyStopping(patience=0)


@pytest.mark.parametrize(
    ("column", "before"),
    [("regret", []), ("test_regret", []), ("test_regret", [Watch(problem(), VALIDATION, every=2)])],
    ids=["without validation data", "without a watch", "not in every epoch"],
)
def test_early_stopping_by_a_regret_that_nothing_writes_is_refused_before_any_solve(column, before):
    loss = SPOPlus(problem())
    with pytest.raises(InputError, match=f"needs the column '{column}' in every epoch"):
        fit(model(), loss, TRAIN, callbacks=[*before, EarlyStopping(column=column)])
    assert loss.problem is not None
    assert loss.problem.statistics.solves == 0


def test_a_callback_of_the_users_own_may_write_the_column_of_early_stopping():
    class Writes(module.Callback):
        def on_epoch(self, state: TrainingState) -> None:
            state.row["my_regret"] = 1.0

    fitted = fit(model(), TwoStage(), TRAIN, callbacks=[Writes(), EarlyStopping(patience=1, column="my_regret")])
    assert fitted.reason == "no better my_regret than 1 for 1 epochs"


def test_early_stopping_can_watch_any_column():
    watch = Watch(problem(), VALIDATION, name="validation")
    stopping = EarlyStopping(patience=2, column="validation_regret")
    fitted = fit(model(), SPOPlus(problem()), TRAIN, epochs=30, lr=0.5, batch_size=4, callbacks=[watch, stopping])
    assert "validation_regret" in fitted.reason


def test_a_watch_writes_exact_figures_and_changes_nothing():
    watched = fit(
        model(), LOSSES["map-cache"](TRAIN), TRAIN, epochs=4, callbacks=[Watch(problem(), VALIDATION, every=2)]
    )
    alone = fit(model(), LOSSES["map-cache"](TRAIN), TRAIN, epochs=4)
    assert torch.equal(weights(watched.model), weights(alone.model))
    result = evaluate(watched.model, VALIDATION, problem())
    assert watched.history.column("test_regret")[0] is None
    assert watched.history.column("test_regret")[3] == result.regret
    assert watched.history.column("test_mse")[3] == result.mse
    with pytest.raises(InputError, match="every must be an integer, at least 1"):
        Watch(problem(), VALIDATION, every=0)


def test_regrets_of_single_epochs_are_counted_as_watching():
    train, solver = data(), problem()
    held_out = data(5, seed=1)
    watch = Watch(solver, data(7, seed=2))
    history = fit(model(), SPOPlus(solver), train, epochs=2, validation=held_out, callbacks=[watch]).history
    assert history.column("watching_solves") == [12, 12]
    assert history.total("solves") == solver.statistics.by_purpose["growth"].solves == 2 * len(train)
    assert history.total("watching_seconds") == pytest.approx(solver.statistics.by_purpose["watching"].seconds)
    unwatched = fit(model(), SPOPlus(solver), train, epochs=1).history
    assert unwatched.column("watching_solves") == [None]


def test_training_ends_when_the_loss_stands_still():
    easy = Dataset(torch.ones(8, 1), torch.full((8, 2), 3.0), torch.zeros(8, 2))
    fitted = fit(
        nn.Linear(1, 2), TwoStage(), easy, epochs=5000, lr=0.05, batch_size=8, callbacks=[Converged(patience=4)]
    )
    assert "the loss changed by less than 0.0001 for 4 epochs" in fitted.reason
    losses = fitted.history.column("loss")
    assert max(losses[-5:]) - min(losses[-5:]) <= 1e-4 * max(map(abs, losses[-5:]))
    assert max(losses[-6:-1]) - min(losses[-6:-1]) > 1e-4 * max(map(abs, losses[-6:-1])), "and not before"
    with pytest.raises(InputError, match="patience must be an integer, at least 1"):
        Converged(patience=0)


@pytest.mark.parametrize(
    ("losses", "stands"),
    [
        ([100.0, 99.0, 100.0], True),
        ([-100.0, -99.0, -100.0], True),
        ([100.0, 98.9, 100.0], False),
        ([0.0, 0.0, 0.0], True),
        ([5.0, 5.0], False),
        ([9.0, 5.0, 5.0, 5.0], True),
    ],
)
def test_the_change_of_the_loss_is_relative_to_the_largest_of_the_last_epochs(losses, stands):
    *before, last = losses
    at = state(loss=last)
    for loss in before:
        at.history.append({"loss": loss})
    Converged(tolerance=0.01, patience=2).on_epoch(at)
    assert bool(at.stop) == stands


def test_the_time_limit_counts_training_only(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    limit = TimeLimit(3.0)
    clock[0] += 1000.0  # preparing data, say

    class Tick(module.Callback):
        def on_epoch(self, state: TrainingState) -> None:
            clock[0] += 1.0

    fitted = fit(model(), TwoStage(), TRAIN, epochs=9, callbacks=[Tick(), limit])
    assert len(fitted.history) == 3
    assert fitted.reason == "the time limit of 3 s is reached"
    again = fit(model(), TwoStage(), TRAIN, epochs=9, callbacks=[Tick(), limit])
    assert len(again.history) == 3
    with pytest.raises(InputError, match="seconds must be a finite number above 0"):
        TimeLimit(0.0)


def test_a_time_limit_goes_on_counting_after_a_pause(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])
    first, second = TimeLimit(10.0), TimeLimit(10.0)
    first.on_start(state())
    clock[0] = 4.0
    first.on_epoch(state())
    clock[0] = 6.0  # in the middle of the next epoch
    saved = first.state_dict()
    clock[0] = 500.0
    second.on_start(state())
    second.load_state_dict(saved)
    at = state()
    clock[0] = 503.0
    second.on_epoch(at)
    assert not at.stop
    clock[0] = 504.0
    second.on_epoch(at)
    assert at.stop


def test_with_a_longer_limit_a_run_that_the_time_limit_ended_continues(monkeypatch, tmp_path):
    clock = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: clock[0])

    class Tick(module.Callback):
        def on_epoch(self, state: TrainingState) -> None:
            clock[0] += 1.0

    def go(seconds: float, path, patience: int = 99, backwards: bool = False):
        ends = [Converged(tolerance=10.0, patience=patience), TimeLimit(seconds)]
        callbacks = [Tick(), *(reversed(ends) if backwards else ends)]
        return fit(model(), TwoStage(), TRAIN, epochs=5, callbacks=callbacks, checkpoint=path)

    ended = [go(seconds, tmp_path / "run") for seconds in (2, 2, 4, 99)]
    assert [len(fitted.history) for fitted in ended] == [2, 2, 4, 5]
    assert ended[2].reason == "the time limit of 4 s is reached"
    assert torch.equal(weights(ended[-1].model), weights(go(99, None).model))
    # A run that ended by itself, in the epoch of the limit, stays ended, in whichever order the callbacks are.
    for name, backwards in (("other", False), ("another", True)):
        found = [go(seconds, tmp_path / name, patience=1, backwards=backwards) for seconds in (2, 99)]
        assert [len(fitted.history) for fitted in found] == [2, 2]


def test_a_schedule_steps_once_an_epoch():
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.8)
    rates = []

    class Rates(module.Callback):
        def on_epoch(self, state: TrainingState) -> None:
            rates.append(state.optimizer.param_groups[0]["lr"])

    schedule = Schedule(torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5))
    fit(net, TwoStage(), TRAIN, optimizer=optimizer, epochs=5, callbacks=[Rates(), schedule])
    assert rates == [0.8, 0.8, 0.4, 0.4, 0.2]


@pytest.mark.parametrize(("validation", "column"), [(None, "loss"), (TRAIN, "regret")])
def test_a_schedule_on_plateaus_follows_the_validation_regret_or_the_loss(validation, column):
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.8)
    followed = []

    class Plateau(torch.optim.lr_scheduler.ReduceLROnPlateau):
        def step(self, metrics, epoch=None):
            followed.append(metrics)
            super().step(metrics)

    loss, scheduler = SPOPlus(problem()), Plateau(optimizer)
    fitted = fit(net, loss, TRAIN, optimizer=optimizer, scheduler=scheduler, epochs=3, validation=validation)
    assert followed == fitted.history.column(column)


def test_the_text_of_a_callback_has_its_settings():
    assert repr(module.EarlyStopping(patience=3)) == "EarlyStopping(patience=3, column='regret', restore=True)"
    assert repr(module.Watch(problem(), TRAIN, every=2)) == "Watch(name='test', every=2)"
    assert repr(module.Callback()) == "Callback()"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Converged(patience=1.5), "patience must be an integer"),
        (lambda: Converged(tolerance="small"), "tolerance must be a finite number"),
        (lambda: Converged(tolerance=-1e-9), "tolerance must be a finite number"),
        (lambda: Schedule("cosine"), "scheduler must be a learning-rate scheduler of torch"),
        (lambda: Watch(VALIDATION, problem()), "problem must be a Problem, got Dataset"),
        (lambda: Watch(problem(), VALIDATION.features), "data must be a Dataset, got Tensor"),
        (lambda: Watch(problem(), VALIDATION[:0]), "a watch needs data, got 0 instances"),
    ],
)
def test_settings_that_cannot_work_are_refused_before_training(build, message):
    with pytest.raises(InputError, match=message):
        build()
