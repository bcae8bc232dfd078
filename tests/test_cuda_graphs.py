from __future__ import annotations

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from regretless.cuda_graphs import GRAPHS, CapturedFunction

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


def squares(x: torch.Tensor) -> torch.Tensor:
    return x * x


@needs_gpu
def test_a_captured_function_has_the_values_of_the_function_for_every_batch():
    captured = CapturedFunction(squares, most=64)
    before = captured(torch.ones(3, 2, device="cuda"))
    for batch in (1, 3, 16, 17, 64, 100):
        given = torch.randn(batch, 2, device="cuda")
        assert torch.equal(captured(given), given * given)
    assert before.tolist() == [[1.0, 1.0]] * 3  # a result is not overwritten by the next call
    assert len(captured._graphs) == 3 <= GRAPHS


@needs_gpu
def test_threads_that_share_a_captured_function_get_their_own_values():
    captured = CapturedFunction(squares)
    given = [torch.full((3, 2), float(k), device="cuda") for k in range(300)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(captured, given))
    assert all(map(torch.equal, found, map(squares, given)))


@needs_gpu
def test_a_loader_may_pin_memory_while_a_graph_is_captured():
    ended = threading.Event()

    def pin() -> None:
        size = 1
        while not ended.is_set():
            size = size % 1000 + 1
            torch.empty(size * 4096).pin_memory()

    loader = threading.Thread(target=pin)
    loader.start()
    try:
        for width in range(1, 12):
            given = torch.randn(3, width, device="cuda")
            assert torch.equal(CapturedFunction(squares)(given), given * given)
    finally:
        ended.set()
        loader.join()


@needs_gpu
def test_a_copy_captures_its_own_graphs():
    captured = CapturedFunction(squares)
    captured(torch.ones(3, 2, device="cuda"))
    again = copy.deepcopy(captured)
    assert not again._graphs
    assert again(torch.full((1, 1), 3.0, device="cuda")).tolist() == [[9.0]]


def test_large_and_empty_batches_call_the_function_itself():
    captured = CapturedFunction(squares, most=8)
    assert captured(torch.full((9, 1), 2.0)).tolist() == [[4.0]] * 9
    assert captured(torch.zeros(0, 3)).shape == (0, 3)


@needs_gpu
def test_a_graph_of_inference_mode_serves_later_calls():
    captured, given = CapturedFunction(squares), torch.randn(3, 2, device="cuda")
    with torch.inference_mode():
        captured(given)
    assert torch.equal(captured(given + 1), (given + 1) ** 2)
