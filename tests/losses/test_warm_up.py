from __future__ import annotations

import copy
import math

import pytest
import torch

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import MAP, ExpectedRegret, SPOPlus, TwoStage, WarmUp
from regretless.training import fit

from .tiny import KINDS, Batch, Kind, batch, cache, value_and_gradient


def soft(kind: Kind, b: Batch, *, steps: int, reduction: str = "mean", **settings) -> WarmUp:
    """MAP for a number of steps, then the expected regret, as the method ``soft`` builds it."""
    memory = cache(kind.problem(), b)
    then = ExpectedRegret(memory, reduction=reduction, **settings)
    return WarmUp(MAP(memory, cost="c_hat-c", reduction=reduction), then, steps=steps)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("path", ["fit", "autograd"])
def test_the_first_steps_are_those_of_the_first_loss(name, path):
    kind = KINDS[name]
    b = batch(kind, seed=4)
    loss = soft(kind, b, steps=2, reduction="none")
    first = MAP(cache(kind.problem(), b), cost="c_hat-c", reduction="none")
    then = ExpectedRegret(cache(kind.problem(), b), reduction="none")
    for expected in (first, first, then, then):
        mine, its = value_and_gradient(loss, b, path=path), value_and_gradient(expected, b, path=path)
        assert all(torch.equal(x, y) for x, y in zip(mine, its, strict=True))


def test_the_phase_changes_with_the_first_step_of_the_second_loss():
    kind = KINDS["plain"]
    b = batch(kind)
    loss, phases = soft(kind, b, steps=2), []
    for _ in range(4):
        value_and_gradient(loss, b)
        phases.append(loss.phase)
    assert phases == [0, 0, 1, 1]


def test_the_temperature_falls_only_after_the_warm_up():
    kind = KINDS["plain"]
    b = batch(kind)
    loss = soft(kind, b, steps=2, temperature=1.0, final_temperature=0.01, anneal_steps=4)
    seen = []
    for _ in range(4):
        seen.append(loss.diagnostics()["temperature"])
        value_and_gradient(loss, b)
    assert seen == pytest.approx([1.0, 1.0, 1.0, 10**-0.5])


def test_a_figure_that_does_not_exist_yet_is_left_out_of_the_history():
    kind = KINDS["plain"]
    b = batch(kind, n=8)
    loss = soft(kind, b, steps=2)
    value_and_gradient(loss, b)
    assert loss.diagnostics() == {"temperature": 0.1}
    fitted = fit(torch.nn.Linear(4, 4), loss, Dataset(b.true.float(), b.true, b.solution), epochs=2, progress=False)
    first, second = fitted.history.column("perplexity")
    assert first is None
    assert 1.0 <= second < math.inf


def test_outside_of_training_it_is_the_second_loss():
    kind = KINDS["plain"]
    b = batch(kind)
    loss, plain = soft(kind, b, steps=5), ExpectedRegret(cache(kind.problem(), b))
    assert torch.equal(loss.eval()(b.predicted, b.true, b.solution), plain(b.predicted, b.true, b.solution))
    state = loss.running_state()
    assert (state["taken"], state["losses"][0], state["losses"][1]["steps"]) == (0, {}, 0)


def test_fit_clears_the_state_of_the_optimizer_at_the_change_and_a_resumed_run_does_too(tmp_path):
    kind = KINDS["plain"]
    b = batch(kind, n=8, seed=3)
    train = Dataset(b.true.float(), b.true, b.solution)

    def run(epochs: int, checkpoint=None) -> tuple[torch.optim.Optimizer, torch.nn.Linear]:
        model = torch.nn.Linear(4, 4, bias=False)
        torch.nn.init.eye_(model.weight)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        loss = soft(kind, b, steps=5)
        fit(model, loss, train, epochs=epochs, batch_size=4, optimizer=optimizer, checkpoint=checkpoint, progress=False)
        return optimizer, model

    optimizer, uninterrupted = run(4)  # 8 steps: 5 of MAP, then 3
    assert float(optimizer.state[uninterrupted.weight]["step"]) == 3
    run(2, tmp_path / "run.safetensors")
    optimizer, resumed = run(4, tmp_path / "run.safetensors")
    assert float(optimizer.state[resumed.weight]["step"]) == 3
    assert torch.equal(uninterrupted.weight, resumed.weight)


def test_its_state_holds_the_shared_cache_once():
    kind = KINDS["plain"]
    b = batch(kind)
    state = soft(kind, b, steps=5).state_dict()
    assert list(state) == ["_extra_state"]
    assert sorted(state["_extra_state"]) == ["cache", "running"]


def test_a_copy_has_its_own_cache_and_shares_it_between_its_losses():
    kind = KINDS["plain"]
    b = batch(kind)
    loss = soft(kind, b, steps=1)
    other = copy.deepcopy(loss)
    assert other.oracle is not loss.oracle
    assert other.then.oracle is other.current.oracle is other.oracle


def test_wrong_settings_are_named():
    kind = KINDS["plain"]
    b = batch(kind)
    memory = cache(kind.problem(), b)
    with pytest.raises(InputError, match="steps must be an integer, at least 1, got 0"):
        WarmUp(MAP(memory), SPOPlus(memory), steps=0)
    for first in (MAP(SolutionCache(kind.problem())), MAP(memory, reduction="sum")):
        with pytest.raises(InputError, match="must have the same oracle and the same reduction"):
            WarmUp(first, SPOPlus(memory), steps=1)


def test_what_is_no_loss_is_refused():
    for given in ((3, TwoStage()), (TwoStage(), TwoStage)):
        with pytest.raises(InputError, match=r"must be a Loss, got (int|the class TwoStage): build it"):
            WarmUp(*given, steps=1)
