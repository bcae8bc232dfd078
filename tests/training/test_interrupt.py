from __future__ import annotations

import signal
import threading

import pytest

from regretless.training import Interrupted, fit
from regretless.training.interrupt import SIGNALS, Interruption

from .runs import LOSSES, Trap, data, model, problem

TRAIN = data()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_a_wish_until_the_next_step(number):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interruption() as interruption:
        assert interruption.received == ""
        signal.raise_signal(number)
        assert interruption.received == number.name
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_second_signal_ends_at_once():
    with Interruption():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_that_is_ignored_stays_ignored(number):
    before = signal.signal(number, signal.SIG_IGN)  # as nohup does with SIGHUP
    try:
        with Interruption() as interruption:
            signal.raise_signal(number)
            assert interruption.received == ""
            assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def test_handlers_are_put_back_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), Interruption():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_nothing_is_caught():
    caught = []

    def work() -> None:
        with Interruption() as interruption:
            caught.append(dict(interruption._before))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert caught == [{}]


def test_training_ends_after_the_step_and_says_so():
    net = Trap(model(), 5, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(Interrupted, match=r"SIGINT: training ended after epoch 2, step 2; nothing was kept"):
        fit(net, LOSSES["spo"](TRAIN), TRAIN, batch_size=4, epochs=3)
    assert net.left == -1, "no further step was taken"


def test_a_signal_while_evaluating_ends_training_after_the_epoch(tmp_path):
    class Waits:
        """Is asked to stop while it evaluates the last epoch."""

        def __init__(self) -> None:
            self.inner, self.calls = problem().backend, 0

        def solve(self, costs, instance=None, *, decision=False):
            self.calls += 1
            if self.calls == 2:
                signal.raise_signal(signal.SIGTERM)
            return self.inner.solve(costs, instance)

    watched = problem()
    watched.backend = Waits()
    loss = LOSSES["two-stage"](TRAIN)
    loss._problem = watched
    with pytest.raises(Interrupted, match=r"SIGTERM: training ended after epoch 2; the run is kept in"):
        fit(model(), loss, TRAIN, epochs=2, validation=TRAIN, checkpoint=tmp_path / "run")
    assert len(fit(model(), LOSSES["two-stage"](TRAIN), TRAIN, epochs=2, checkpoint=tmp_path / "run").history) == 2


def test_a_second_signal_in_training_is_a_keyboard_interrupt_at_once():
    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    net = Trap(model(), 2, twice)
    with pytest.raises(KeyboardInterrupt) as caught:
        fit(net, LOSSES["spo"](TRAIN), TRAIN, batch_size=4, epochs=3)
    assert not isinstance(caught.value, Interrupted)
    assert net.left == 0, "the step itself was cut short"
