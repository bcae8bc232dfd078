"""A run that was killed and resumed ends like one that never was: weights and history, bit for bit."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from regretless.cache import Bernoulli
from regretless.data import Dataset
from regretless.errors import FileError
from regretless.losses import MAP, ExpectedRegret, Loss, SPOPlus, TwoStage, WarmUp
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.solvers.found_decisions import FoundDecisions
from regretless.storage import load_state, save_state
from regretless.training import Converged, EarlyStopping, Interrupted, Schedule, Watch, fit
from regretless.training.checkpoint import KIND, VERSION, Parts, identity
from regretless.training.methods import make_loss
from tests import forked

from .runs import LOSSES, WEIGHTS, Trap, cache, data, model, problem, untimed, weights

TRAIN, VALIDATION = data(), data(5, seed=4)
EPOCHS, BATCH = 3, 4
STEPS = EPOCHS * -(-len(TRAIN) // BATCH)
EVERY_LOSS = pytest.mark.parametrize("name", LOSSES)


class KilledError(Exception):
    """Stands for anything that ends a process."""


def kill() -> None:
    raise KilledError


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def run(name: str, path: Path | None, *, trap=None, dropout: float = 0.3, epochs: int = EPOCHS):
    """What a script would do: everything built afresh, then ``fit``; ``trap`` is a step and what happens there."""
    net: nn.Module = model(dropout)
    net = Trap(net, *(trap or (-1, kill)))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    callbacks = [
        Schedule(torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)),
        Watch(LOSSES["two-stage"](TRAIN).problem, VALIDATION),
        EarlyStopping(patience=9),
    ]
    return fit(
        net,
        LOSSES[name](TRAIN),
        TRAIN,
        epochs=epochs,
        optimizer=optimizer,
        batch_size=BATCH,
        seed=2,
        validation=VALIDATION,
        callbacks=callbacks,
        checkpoint=path,
    )


@pytest.fixture(scope="module")
def undisturbed():
    """One run without a checkpoint for every loss."""
    return {name: run(name, None) for name in LOSSES}


def same(fitted, other) -> bool:
    return torch.equal(weights(fitted.model), weights(other.model)) and untimed(fitted.history) == untimed(
        other.history
    )


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(list(LOSSES)),
    at=st.lists(st.integers(0, STEPS - 1), min_size=1, max_size=3),
    gentle=st.booleans(),
)
def test_killed_at_any_step_and_resumed_a_run_ends_as_if_undisturbed(tmp_path_factory, undisturbed, name, at, gentle):
    path = tmp_path_factory.mktemp("runs") / "run"
    for step in at:
        try:
            run(name, path, trap=(step, interrupt if gentle else kill))
            break  # the run was over before the trap
        except (KilledError, Interrupted):
            pass
    assert same(run(name, path), undisturbed[name])


@EVERY_LOSS
def test_every_loss_resumes_inside_an_epoch(tmp_path, undisturbed, name):
    with pytest.raises(Interrupted):
        run(name, tmp_path / "run", trap=(5, interrupt))
    assert same(run(name, tmp_path / "run"), undisturbed[name])


@EVERY_LOSS
def test_a_checkpoint_file_changes_no_number(tmp_path, undisturbed, name):
    assert same(run(name, tmp_path / "run"), undisturbed[name])


def test_a_longer_run_continues_from_a_finished_one(tmp_path, undisturbed):
    run("map-cache", tmp_path / "run", epochs=1)
    run("map-cache", tmp_path / "run", epochs=2)
    assert same(run("map-cache", tmp_path / "run"), undisturbed["map-cache"])


def test_decisions_that_were_found_before_a_kill_are_those_of_the_run(tmp_path):
    def found(path, at: int = -1):
        """Train at a rate that leads through ever new decisions, and list those that the problem keeps."""
        solved = Problem(MILP([WEIGHTS], row_upper=10.0), sense="max")
        solved.found = FoundDecisions(len(WEIGHTS))
        try:
            start(path, SPOPlus(solved), net=Trap(model(), at, kill), epochs=EPOCHS, lr=5.0)
        except KilledError:
            return None
        return solved.found.rows.tolist()

    whole = found(None)
    found(tmp_path / "run", at=STEPS - 1)
    assert found(tmp_path / "run") == whole != []


@pytest.mark.filterwarnings("error")
def test_a_run_that_was_left_after_the_last_step_of_its_first_epoch_resumes_without_a_warning(tmp_path):
    with pytest.raises(Interrupted, match="after epoch 1, step 4"):
        run("two-stage", tmp_path / "run", trap=(STEPS // EPOCHS - 1, interrupt))
    run("two-stage", tmp_path / "run")


def test_a_finished_run_is_not_run_again(tmp_path):
    first = run("map-cache", tmp_path / "run")
    again = run("map-cache", tmp_path / "run", trap=(0, kill))
    assert same(first, again)


def test_a_run_that_was_stopped_stays_stopped(tmp_path):
    def go():
        loss = LOSSES["two-stage"](TRAIN)
        callbacks = [Converged(tolerance=10.0, patience=1)]
        return fit(model(), loss, TRAIN, epochs=9, batch_size=BATCH, callbacks=callbacks, checkpoint=tmp_path / "run")

    first, again = go(), go()
    assert len(first.history) == len(again.history) == 2
    assert first.reason == again.reason != "all 9 epochs done"
    assert same(first, again)


def test_a_resumed_run_leaves_the_callers_generator_alone(tmp_path):
    torch.manual_seed(99)
    expected = torch.get_rng_state()
    for epochs in (1, 2):
        fit(model(0.5), LOSSES["spo"](TRAIN), TRAIN, epochs=epochs, checkpoint=tmp_path / "run")
        assert torch.equal(torch.get_rng_state(), expected)


SCRIPT = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from training import test_checkpoint as t
forward = t.Trap.forward
def dawdle(self, x):
    if self.training:
        print("step", flush=True)
        time.sleep(0.05)
    return forward(self, x)
t.Trap.forward = dawdle
t.run("map-cache", Path(sys.argv[2]))
"""


# Both signals reach the command line in tests/robustness, which starts no process of its own for it.
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_signalled_can_be_resumed_by_another(tmp_path, undisturbed, number):
    path, said = tmp_path / "run", tmp_path / "said"
    process = forked.start(SCRIPT, Path(__file__).parents[1], path, output=said)
    while not (said.exists() and said.read_text().count("step\n") >= 6):  # in the second epoch of four steps
        assert process.is_alive()
        time.sleep(0.01)
    os.kill(process.pid, number)
    process.join(60)
    assert process.exitcode != 0
    if number == signal.SIGINT:
        assert "Interrupted: SIGINT: training ended after epoch" in said.read_text()
        assert "the same call continues it (train, retrain: with --resume)" in said.read_text()
    assert path.exists()
    assert not list(tmp_path.glob("*.tmp"))
    assert same(run("map-cache", path), undisturbed["map-cache"])


# --- files of version 0.1 -----------------------------------------------------------------------------------------


def soft(**settings) -> Loss:
    return make_loss("soft", problem(), TRAIN, seed=5, p_solve=0.4, **settings)


OLD = {
    "two-stage": lambda: TwoStage(problem()),
    "spo": lambda: SPOPlus(problem()),
    "map-cache": lambda: MAP(cache(TRAIN)),
    "soft": soft,
    "soft annealed": lambda: soft(final_temperature=0.01, anneal_steps=9),
    "soft warming up": lambda: soft(warm_up_steps=7),
    "soft warmed up": lambda: soft(warm_up_steps=3, final_temperature=0.01, anneal_steps=6),
}


def downgraded(path: Path) -> None:
    """Rewrite a checkpoint as version 0.1 did: the cache apart and without settings, the steps in a buffer."""
    state = load_state(path, kind="checkpoint", version=2)
    cache, running = state["loss"]["cache"], state["loss"]["running"]
    if cache is not None:
        del cache["settings"]
    described = state["settings"]["loss"]
    steps = running.get("taken", running.get("steps"))
    if described.startswith("ExpectedRegret") and "warm_up_steps" not in described:
        state["settings"]["loss"] = described[:-1] + ", warm_up_steps=0)"
        if "anneal_steps=None" in described:
            steps = 0  # it counted only where the number mattered
    state |= {"cache": cache, "loss": {} if steps is None else {"steps": torch.tensor(steps)}}
    save_state(path, state, kind="checkpoint", version=1)


@pytest.mark.parametrize("name", OLD)
def test_a_checkpoint_of_version_0_1_resumes_bit_for_bit(tmp_path, name):
    def go(epochs: int, path: Path | None):
        return fit(model(), OLD[name](), TRAIN, epochs=epochs, batch_size=BATCH, seed=2, checkpoint=path)

    uninterrupted = go(3, None)
    go(1, tmp_path / "run")
    downgraded(tmp_path / "run")
    resumed = go(3, tmp_path / "run")
    assert same(resumed, uninterrupted)
    assert load_state(tmp_path / "run", kind="checkpoint", version=2)["loss"].keys() == {"cache", "running"}


def test_a_newer_version_is_refused(tmp_path):
    start(tmp_path / "run")
    save_state(
        tmp_path / "run", load_state(tmp_path / "run", kind="checkpoint", version=2), kind="checkpoint", version=3
    )
    with pytest.raises(FileError, match="field 'version' is 3, this library reads up to 2; upgrade regretless"):
        start(tmp_path / "run")


# --- files that do not belong -------------------------------------------------------------------------------------


def start(path: Path, loss=None, *, train=TRAIN, net=None, **change):
    arguments = {"epochs": 1, "batch_size": BATCH, "lr": 0.1, "seed": 2, "checkpoint": path} | change
    return fit(net or model(), loss or MAP(cache(TRAIN)), train, **arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 3}, "seed was 2, is 3"),
        ({"batch_size": 5}, "batch_size was 4, is 5"),
        ({"lr": 0.2}, r"lr was \[0\.1\], is \[0\.2\]"),
        (
            {"train": data(12)},
            r"instances was 13, is 12; data was .*\. The data have changed since: restore the tables",
        ),
        ({"loss": SPOPlus(cache(TRAIN))}, r"loss was \"MAP\(cost='c_hat-c'.*is \"SPOPlus\("),
        ({"loss": MAP(cache(TRAIN), cost="c_hat")}, "loss was"),
        ({"loss": MAP(cache(TRAIN, p_solve=0.9))}, r"policy was 'Bernoulli\(p=0\.4\)', is 'Bernoulli\(p=0\.9\)'"),
        ({"callbacks": [Converged()]}, r"callbacks was \[\], is \['Converged'\]"),
        ({"optimizer": None, "seed": 5, "batch_size": 7}, "seed was 2, is 5; batch_size was 4, is 7"),
        ({"net": nn.Sequential(model())}, "does not fit this model"),
        ({"epochs": 0}, "holds 1 epochs already, more than the 0 requested"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused_and_kept(tmp_path, change, message):
    path = tmp_path / "run"
    start(path)
    content = path.read_bytes()
    net = change.get("net", model())
    before = weights(net).clone()
    with pytest.raises(FileError, match=message) as caught:
        start(path, **{"net": net} | change)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == content
    assert torch.equal(weights(net), before)


def test_a_model_keeps_its_weights_where_another_part_of_a_checkpoint_does_not_fit(tmp_path):
    start(tmp_path / "run")
    state = load_state(tmp_path / "run", kind=KIND, version=VERSION)
    save_state(tmp_path / "run", state | {"optimizer": {}}, kind=KIND, version=VERSION)
    net = model()
    with pytest.raises(FileError, match="does not fit this model, loss or optimizer"):
        start(tmp_path / "run", net=net)
    assert torch.equal(weights(net), weights(model()))


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text"])
def test_a_damaged_checkpoint_is_named_and_kept(tmp_path, damage):
    path = tmp_path / "run"
    start(path)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        del content[-9:]
    elif damage == "flip":
        content[-5] ^= 1
    else:
        content = bytearray(b"" if damage == "empty" else b"weights: 1, 2, 3")
    path.write_bytes(content)
    net = model()
    with pytest.raises(FileError, match="run"):
        start(path, net=net)
    assert path.read_bytes() == bytes(content)
    assert torch.equal(weights(net), weights(model()))


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="file"):
        start(tmp_path / "file" / "run")


def test_a_checkpoint_is_small(tmp_path):
    start(tmp_path / "run", epochs=20)
    assert (tmp_path / "run").stat().st_size < 30_000


def test_a_run_that_was_left_inside_an_epoch_is_not_a_shorter_run(tmp_path):
    with pytest.raises(Interrupted, match="epoch 3, step 1"):
        run("spo", tmp_path / "run", trap=(8, interrupt))
    with pytest.raises(FileError, match="holds 2 epochs and part of the next already, more than the 2 requested"):
        run("spo", tmp_path / "run", epochs=2)


def test_an_optimizer_continues_in_the_precision_of_its_own_state(tmp_path):
    def go(epochs, path):
        net = model().double()  # torch would cast a factor that NAdam holds in single precision
        optimizer = torch.optim.NAdam(net.parameters(), lr=0.05)
        loss = SPOPlus(problem())
        return fit(net, loss, TRAIN, epochs=epochs, optimizer=optimizer, batch_size=BATCH, checkpoint=path)

    go(1, tmp_path / "run")
    assert same(go(3, tmp_path / "run"), go(3, None))


TRAIN_OF_IDENTITY = data()


def named(loss=None, train=TRAIN_OF_IDENTITY, lr=0.1, seed=0, batch_size=4, callbacks=(), **of_adam) -> dict:
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=lr, **of_adam)
    parts = Parts(net, loss or MAP(cache(TRAIN_OF_IDENTITY)), optimizer, list(callbacks), torch.Generator())
    return identity(parts, train, seed=seed, batch_size=batch_size)


def different(**change) -> set[str]:
    mine, its = named(), named(**change)
    return {name for name in mine | its if mine.get(name) != its.get(name)}


def test_the_same_run_has_the_same_identity():
    assert different() == set()


def test_each_setting_is_named_by_itself():
    assert different(seed=1) == {"seed"}
    assert different(batch_size=8) == {"batch_size"}
    assert different(lr=0.2) == {"lr"}
    assert different(weight_decay=0.1) == {"optimizer_settings"}
    assert different(betas=(0.8, 0.999)) == {"optimizer_settings"}
    assert different(loss=MAP(cache(TRAIN_OF_IDENTITY), cost="c_hat")) == {"loss"}
    assert different(loss=MAP(cache(TRAIN_OF_IDENTITY, p_solve=0.5))) == {"policy"}
    assert different(loss=MAP(cache(TRAIN_OF_IDENTITY, grow_at="transformed"))) == {"grow_at"}
    assert different(loss=MAP(cache(TRAIN_OF_IDENTITY, seed=6))) == {"cache_seed"}
    assert different(loss=MAP(cache(TRAIN_OF_IDENTITY, capacity=9, evict="oldest"))) == {"capacity", "evict"}
    assert different(train=TRAIN_OF_IDENTITY[:5]) == {"instances", "data"}
    assert different(
        train=Dataset(TRAIN_OF_IDENTITY.features + 1, TRAIN_OF_IDENTITY.costs, TRAIN_OF_IDENTITY.solutions)
    ) == {"data"}
    assert "loss" in different(loss=TwoStage(problem()))


def test_a_warm_up_is_named_by_its_second_loss_and_its_steps():
    memory = cache(TRAIN_OF_IDENTITY)
    then = ExpectedRegret(memory)
    plain, warmed = named(loss=then), named(loss=WarmUp(MAP(memory), then, steps=7))
    assert {name for name in plain if plain[name] != warmed[name]} == {"loss"}
    assert warmed["loss"] == plain["loss"][:-1] + ", warm_up_steps=7)"


def test_training_and_a_schedule_do_not_change_it():
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    loss = MAP(cache(TRAIN_OF_IDENTITY))
    parts = Parts(net, loss, optimizer, [], torch.Generator())
    before = identity(parts, TRAIN_OF_IDENTITY, seed=0, batch_size=4)
    loss(
        net(TRAIN_OF_IDENTITY.features), TRAIN_OF_IDENTITY.costs.float(), TRAIN_OF_IDENTITY.solutions.float()
    ).backward()
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.05
    assert identity(parts, TRAIN_OF_IDENTITY, seed=0, batch_size=4) == before


def test_a_policy_without_a_text_of_its_own_is_named_by_its_class():
    class Mine(Bernoulli):
        __repr__ = object.__repr__

    assert named(loss=MAP(cache(TRAIN_OF_IDENTITY, policy=Mine(0.5))))["policy"] == "Mine"
