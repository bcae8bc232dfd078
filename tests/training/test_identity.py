from __future__ import annotations

import torch

from regretless.cache import Bernoulli
from regretless.data import Dataset
from regretless.losses import MAP, ExpectedRegret, TwoStage, WarmUp
from regretless.training.checkpoint import Parts
from regretless.training.identity import identity

from .runs import cache, data, model, problem

TRAIN = data()


def named(loss=None, train=TRAIN, lr=0.1, seed=0, batch_size=4, callbacks=(), **of_adam) -> dict:
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=lr, **of_adam)
    parts = Parts(net, loss or MAP(cache(TRAIN)), optimizer, list(callbacks), torch.Generator())
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
    assert different(loss=MAP(cache(TRAIN), cost="c_hat")) == {"loss"}
    assert different(loss=MAP(cache(TRAIN, p_solve=0.5))) == {"policy"}
    assert different(loss=MAP(cache(TRAIN, grow_at="transformed"))) == {"grow_at"}
    assert different(loss=MAP(cache(TRAIN, seed=6))) == {"cache_seed"}
    assert different(loss=MAP(cache(TRAIN, capacity=9, evict="oldest"))) == {"capacity", "evict"}
    assert different(train=TRAIN[:5]) == {"instances", "data"}
    assert different(train=Dataset(TRAIN.features + 1, TRAIN.costs, TRAIN.solutions)) == {"data"}
    assert "loss" in different(loss=TwoStage(problem()))


def test_a_warm_up_is_named_by_its_second_loss_and_its_steps():
    memory = cache(TRAIN)
    then = ExpectedRegret(memory)
    plain, warmed = named(loss=then), named(loss=WarmUp(MAP(memory), then, steps=7))
    assert {name for name in plain if plain[name] != warmed[name]} == {"loss"}
    assert warmed["loss"] == plain["loss"][:-1] + ", warm_up_steps=7)"


def test_training_and_a_schedule_do_not_change_it():
    net = model()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    loss = MAP(cache(TRAIN))
    parts = Parts(net, loss, optimizer, [], torch.Generator())
    before = identity(parts, TRAIN, seed=0, batch_size=4)
    loss(net(TRAIN.features), TRAIN.costs.float(), TRAIN.solutions.float()).backward()
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.05
    assert identity(parts, TRAIN, seed=0, batch_size=4) == before


def test_a_policy_without_a_text_of_its_own_is_named_by_its_class():
    class Mine(Bernoulli):
        __repr__ = object.__repr__

    assert named(loss=MAP(cache(TRAIN, policy=Mine(0.5))))["policy"] == "Mine"
