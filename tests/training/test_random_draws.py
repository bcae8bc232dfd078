from __future__ import annotations

import threading

import pytest
import torch

from regretless.training.models import make_model
from regretless.training.random_draws import draws_state, seeded_draws, seeded_weights, set_draws_state

CPU = torch.device("cpu")


def drawn(seed: int, **more: int) -> list[float]:
    with seeded_draws(seed, CPU, **more):
        return torch.rand(3).tolist()


def test_a_block_draws_by_its_seed_and_rank_and_leaves_the_generator_as_it_was():
    before = torch.get_rng_state()
    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(seed, rank=rank)) for seed in (0, 1, 2) for rank in (0, 1)}) == 6
    assert torch.equal(torch.get_rng_state(), before)
    with pytest.raises(RuntimeError), seeded_draws(1):
        torch.rand(-1)
    assert torch.equal(torch.get_rng_state(), before)


def test_numbers_are_not_those_of_a_generator_that_shuffles_by_the_same_seed():
    assert drawn(3) != torch.rand(3, generator=torch.Generator().manual_seed(3)).tolist()


def test_a_block_inside_of_another_does_not_disturb_it():
    with seeded_draws(1):
        first, second = torch.rand(1), torch.rand(1)
    with seeded_draws(1):
        assert torch.equal(torch.rand(1), first)
        assert drawn(2) == drawn(2)
        assert torch.equal(torch.rand(1), second)


def test_blocks_of_several_threads_leave_the_generator_as_it_was():
    before = torch.get_rng_state()
    inside, leave = threading.Barrier(3), [threading.Event(), threading.Event()]

    def work(k: int) -> None:
        with seeded_draws(k):
            torch.rand(5)
            inside.wait()
            leave[k].wait()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    inside.wait()
    for thread, event in zip(threads, leave, strict=True):  # the first to enter is perhaps not the last to leave
        event.set()
        thread.join()
    assert torch.equal(torch.get_rng_state(), before)


def test_models_can_be_built_inside_of_a_block():
    with seeded_draws(0):
        inside = make_model(torch.zeros(2, 3), 2, seed=4)
    outside = make_model(torch.zeros(2, 3), 2, seed=4)
    assert all(map(torch.equal, inside.state_dict().values(), outside.state_dict().values()))


def test_the_cpu_has_no_state_of_a_device():
    state = draws_state(CPU)
    assert state["device"] is None
    before = torch.get_rng_state()
    set_draws_state(CPU, state | {"device": torch.zeros(16, dtype=torch.uint8)})  # of a run on a GPU
    assert torch.equal(torch.get_rng_state(), before)


def test_weights_are_those_of_a_manual_seed_and_the_generator_stays_as_it_was():
    before = torch.get_rng_state()
    with seeded_weights(5):
        drawn_there = torch.rand(4)
    assert torch.equal(torch.get_rng_state(), before)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        assert torch.equal(drawn_there, torch.rand(4))


@pytest.mark.skipif(torch.cuda.is_available(), reason="with a GPU its generator is seeded, too")
def test_a_seed_leaves_nothing_for_devices_that_are_not_there():
    queued = len(torch.cuda._queued_calls)
    with seeded_weights(5):
        torch.rand(1)
    assert len(torch.cuda._queued_calls) == queued
