from __future__ import annotations

import math
import re
import signal
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError, SolveError, TrainingError
from regretless.losses import SPOPlus, TwoStage
from regretless.problem import Problem
from regretless.training import Callback, Interrupted, TimeLimit, TrainingState, fit
from tests.terminal import wide_terminal

from .runs import LOSSES, Trap, data, model, problem, weights

TRAIN = data()
EVERY_LOSS = pytest.mark.parametrize("name", LOSSES)


def test_every_epoch_sees_every_instance_once_in_a_new_order():
    seen = []

    class Spy(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bias = nn.Parameter(torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if self.training:  # and not before, when the model is checked
                seen.append(x[:, 0, 0].tolist())
            return x[..., 0] * 0 + self.bias

    fit(Spy(), TwoStage(), TRAIN, epochs=2, batch_size=5)
    assert [len(part) for part in seen] == [5, 5, 3] * 2
    first, second = ([value for part in epoch for value in part] for epoch in (seen[:3], seen[3:]))
    assert sorted(first) == sorted(second) == sorted(TRAIN.features[:, 0, 0].tolist())
    assert first != second


def test_the_loss_of_the_history_is_the_mean_over_instances():
    still = model()
    rate = 1e-30  # which changes nothing
    loss = SPOPlus(problem())
    history = fit(still, loss, TRAIN, epochs=1, batch_size=4, lr=rate).history
    with torch.no_grad():
        whole = loss(still(TRAIN.features), TRAIN.costs.float(), TRAIN.solutions.float())
    assert history[0]["loss"] == pytest.approx(whole.item(), rel=1e-5)
    summed = SPOPlus(problem(), reduction="sum")
    assert fit(still, summed, TRAIN, epochs=1, batch_size=4, lr=rate).history[0]["loss"] == pytest.approx(
        whole.item(), rel=1e-5
    )
    with torch.no_grad():
        part = loss(still(TRAIN.features[:10]), TRAIN.costs[:10].float(), TRAIN.solutions[:10].float())
    streamed = fit(still, loss, batches_of(2, known=True), epochs=1, lr=rate).history
    assert streamed[0]["loss"] == pytest.approx(part.item(), rel=1e-5)


def test_seconds_are_those_of_each_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(100, 200))
    monkeypatch.setattr("regretless.training.running_fit.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    assert fit(model(), TwoStage(), TRAIN, epochs=3).history.column("seconds") == [1, 1, 1]


def test_a_model_in_evaluation_mode_is_trained_in_training_mode():
    trained = [fit(net, TwoStage(), TRAIN, epochs=1).model for net in (model(dropout=0.5), model(dropout=0.5).eval())]
    assert torch.equal(*map(weights, trained))
    assert trained[1].training


def batches_of(count: int, known: bool) -> Iterable[Any]:
    """A loader that tells or does not tell how many batches it has."""

    class Loader:
        def __iter__(self) -> Iterator[Any]:
            for start in range(0, 5 * count, 5):
                yield (
                    TRAIN.features[start : start + 5],
                    TRAIN.costs[start : start + 5],
                    TRAIN.solutions[start : start + 5],
                )

        def __len__(self) -> int:
            if not known:
                raise TypeError("object of type 'Numbers' has no len()")
            return count

    return Loader()


@pytest.mark.parametrize(
    ("train", "bar"),
    [(TRAIN, r"epoch 1 .* 3/3 "), (batches_of(2, known=True), r"epoch 1 .* 2/2 "), (batches_of(2, known=False), None)],
)
def test_a_bar_counts_the_steps_of_an_epoch(train: Any, bar: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = wide_terminal(monkeypatch)
    monkeypatch.setattr("regretless.progress.sys", SimpleNamespace(stderr=stream))
    fit(model(), LOSSES["spo"](TRAIN), train, epochs=2, **({"batch_size": 5} if train is TRAIN else {}))
    assert re.search(r"training .* 2/2 ", stream.text)
    assert ("epoch" in stream.text) == (bar is not None)
    assert bar is None or re.search(bar, stream.text)
    before = stream.text
    fit(model(), LOSSES["spo"](TRAIN), train, epochs=2, progress=False)
    assert stream.text == before


@pytest.mark.parametrize(
    ("at", "said"),
    [
        (1, r"after epoch 1, step 2; nothing was kept \(no epoch was complete\)$"),
        (3, r"after epoch 2, step 1; epoch 1 is kept in .*run; the same call continues it"),
    ],
)
def test_an_interruption_with_a_loader_names_the_epoch_that_is_kept(at: int, said: str, tmp_path: Path) -> None:
    net, path = Trap(model(), at, lambda: signal.raise_signal(signal.SIGINT)), tmp_path / "run"
    with pytest.raises(Interrupted, match=said):
        fit(net, TwoStage(), batches_of(3, known=True), epochs=3, checkpoint=path)
    assert path.exists() == ("is kept in" in said)


def test_an_epoch_that_was_left_in_the_middle_is_done_before_a_time_limit_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = [0.0]
    monkeypatch.setattr("regretless.training.callbacks.time", SimpleNamespace(monotonic=lambda: clock[0]))

    def leave() -> None:
        clock[0] += 500.0
        signal.raise_signal(signal.SIGINT)

    def go(seconds: float, at: int = -1) -> Any:
        net, callbacks = Trap(model(), at, leave), [Tick(), TimeLimit(seconds)]
        return fit(net, TwoStage(), TRAIN, epochs=9, batch_size=5, callbacks=callbacks, checkpoint=tmp_path / "run")

    class Tick(Callback):
        def on_epoch(self, state: TrainingState) -> None:
            clock[0] += 1.0

    assert len(go(2).history) == 2
    with pytest.raises(Interrupted, match="after epoch 3, step 1"):
        go(99, at=0)
    ended = go(99)
    assert (len(ended.history), ended.reason) == (3, "the time limit of 99 s is reached")


class Poisoned(nn.Module):
    """Predicts a bad value for one instance, from the second epoch on."""

    def __init__(self, bad: float, which: torch.Tensor) -> None:
        super().__init__()
        self.linear, self.bad, self.which, self.seen = nn.Linear(4, 1), bad, which, 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen += len(x) if self.training else 0
        out = self.linear(x)[..., 0]
        hit = (x[:, 0, 0] == self.which) & (self.seen > len(TRAIN))
        return torch.where(hit[:, None] & (torch.arange(6) == 2), self.bad, out)


@EVERY_LOSS
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_prediction_that_is_no_number_stops_training_and_is_named(name, bad):
    order = torch.randperm(13, generator=(generator := torch.Generator().manual_seed(0)))
    order = torch.randperm(13, generator=generator)
    which = 7
    step = order.tolist().index(which) // 4 + 1
    message = rf"predicts {bad} for training instance 7, cost 2, in epoch 2, step {step}, learning rate 0\.03"
    net = Poisoned(bad, TRAIN.features[which, 0, 0])
    with pytest.raises(TrainingError, match=message):
        fit(net, LOSSES[name](TRAIN), TRAIN, epochs=3, batch_size=4, lr=0.03)


def test_an_error_names_the_checkpoint_from_before_where_there_is_one(tmp_path: Path) -> None:
    for path, kept in ((tmp_path / "run", True), (None, False)):
        net = Poisoned(float("nan"), TRAIN.features[7, 0, 0])
        with pytest.raises(TrainingError, match="epoch 2") as failed:
            fit(net, TwoStage(), TRAIN, batch_size=4, checkpoint=path)
        assert (f"(the checkpoint {path} is from before)" in str(failed.value)) == kept
    huge = replace(TRAIN, costs=TRAIN.costs * 1e30)
    with pytest.raises(TrainingError, match=r"epoch 1, step 1, learning rate 0\.1; lower"):
        fit(model(), TwoStage(), huge, checkpoint=tmp_path / "other")


def test_cross_entropy_with_no_number_is_the_same_error():
    train = Dataset(TRAIN.features, (TRAIN.costs > 5).double(), TRAIN.solutions)
    net = nn.Sequential(Poisoned(float("nan"), TRAIN.features[7, 0, 0]), nn.Sigmoid())
    with pytest.raises(TrainingError, match="training instance 7, cost 2, in epoch 2"):
        fit(net, TwoStage(criterion="bce"), train, epochs=2, batch_size=4)


def test_a_loss_that_overflows_stops_training():
    train = Dataset(TRAIN.features, TRAIN.costs * 1e30, TRAIN.solutions)
    with pytest.raises(TrainingError, match=r"the loss is inf in epoch 1, step 1, learning rate 0\.1"):
        fit(model(), TwoStage(), train)


def test_weights_that_are_no_numbers_stop_training_before_the_checkpoint_is_replaced(tmp_path):
    class Root(nn.Module):  # its gradient at zero is not a number, its value is
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x[..., 0] * 0 * self.w).sqrt()

    with pytest.raises(TrainingError, match=r"weights are no longer finite after epoch 1, learning rate 0\.1"):
        fit(Root(), TwoStage(), TRAIN, batch_size=13, epochs=2, checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_failed_solve_names_the_training_instance():
    which = 5

    def solver(costs):
        if costs[0] == TRAIN.costs[which, 0].float().double().item():
            raise RuntimeError("no luck")
        return np.zeros(6)

    class Truth(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 0 * self.w

    train = Dataset(TRAIN.costs.float(), TRAIN.costs, TRAIN.solutions)
    failing = Problem(oracle=solver, dimension=6, sense="max")
    for oracle in (failing, SolutionCache(failing, TRAIN.solutions, p_solve=1.0)):
        with pytest.raises(SolveError, match=r"training instance 5 in epoch 1, step \d.*no luck"):
            fit(Truth(), SPOPlus(oracle), train, batch_size=4, epochs=1)


def test_a_problem_that_skips_failures_trains_on_the_rest():
    def solver(costs):
        if costs[0] > costs[1]:
            raise RuntimeError("no luck")
        return (costs > 0) * 1.0

    failing = Problem(oracle=solver, dimension=6, sense="max", on_failure="skip")
    history = fit(model(), SPOPlus(failing), TRAIN, epochs=2, batch_size=4).history
    assert all(0 < count < len(TRAIN) for count in history.column("not_optimal"))
    assert all(math.isfinite(value) for value in history.column("loss"))


def test_an_error_inside_a_model_is_not_hidden():
    def explode() -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        fit(Trap(model(), 2, explode), LOSSES["spo"](TRAIN), TRAIN, batch_size=4, epochs=1)


@pytest.mark.parametrize(
    ("part", "said"), [("features", "features"), ("costs", "true costs"), ("solutions", "solutions")]
)
def test_data_that_are_not_finite_are_named_and_not_the_learning_rate(part, said):
    values = getattr(TRAIN, part).clone()
    values[3] = torch.nan
    bad = replace(TRAIN, **{part: values})
    with pytest.raises(InputError, match=f"the {said} of training instance 3 must be finite, got nan"):
        fit(model(), SPOPlus(problem()), bad, epochs=1, batch_size=4)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_that_overflow_are_an_error_of_training_without_a_warning_of_numpy():
    costs = torch.full((4, 3), 1e38)
    given = Dataset(torch.ones(4, 2), costs, torch.eye(3)[[0, 0, 0, 0]])
    wide = nn.Linear(2, 3)
    nn.init.constant_(wide.bias, -3e38)
    loss = SPOPlus(SolutionCache(Problem(oracle=lambda c: c, dimension=3), torch.eye(3), p_solve=0.0))
    with pytest.raises(TrainingError, match=r"the loss is|predicts"):
        fit(wide, loss, given, epochs=1, progress=False)
