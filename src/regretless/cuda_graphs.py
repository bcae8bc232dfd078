"""Functions and steps of methods as CUDA graphs: a replay launches all their operations at once.

Small batches keep a GPU busy for a few microseconds per operation, and launching an operation takes longer than that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor

from regretless.most_recent import MostRecent
from regretless.tensors import lasting_tensors

# Threads that use a graph take turns, each until its result is copied: a graph reads and writes fixed places in memory.
# There is one turn for all, because some work of other threads ends a capture, and because torch's linear algebra fails
# if two threads call it for the first time on a GPU.
TURN = threading.RLock()
WARM_UP = 3
GRAPHS = 12
SMALLEST = 16


class Steps(Protocol):
    """The state of a batch: fixed tensors that a step changes in place."""

    ended: Tensor

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """All tensors of the state."""


State = TypeVar("State", bound=Steps)
Value = TypeVar("Value")


class CapturedSteps(Generic[State]):
    """Runs steps from graphs, two per size of the batch; a caller with threads holds ``TURN``.

    Args:
        begin: makes the state of a batch from its input ``(batch, ...)``, without a synchronization.
        advance: makes one step in place, without a synchronization.
    """

    def __init__(self, begin: Callable[[Tensor], State], advance: Callable[[State], None]) -> None:
        self.begin, self.advance = begin, advance
        self._graphs: MostRecent[int, _StepGraphs[State]] = MostRecent(GRAPHS)

    def run(self, given: Tensor, *, first_check: int, most: int, deadline: float | None = None) -> State:
        """Make steps until all have ended.

        Args:
            given: ``(batch, ...)``; the batch is filled up to a power of two with copies of its first entry.
            first_check: steps before the first check, each of which synchronizes.
            most: largest number of steps.
            deadline: value of ``time.monotonic()`` at which to stop.

        Returns:
            The state, which the next run of the same size overwrites.
        """
        batch = len(given)
        size = max(2, 1 << (batch - 1).bit_length())
        full = torch.cat([given, given[:1].expand(size - batch, *given.shape[1:])])
        graphs = self._graphs.find(size, lambda: self._capture(full))
        graphs.place.copy_(full)
        graphs.begin.replay()
        for step in range(most):
            graphs.advance.replay()
            if step < first_check:
                continue
            if bool(graphs.state.ended.all()) or (deadline is not None and time.monotonic() > deadline):
                break
        return graphs.state

    @lasting_tensors()
    def _capture(self, given: Tensor) -> _StepGraphs[State]:
        place = given.clone()
        state = self.begin(place)

        def begin() -> None:
            for mine, new in zip(state.tensors, self.begin(place).tensors, strict=True):
                mine.copy_(new)

        return _StepGraphs(place, state, capture(begin)[0], capture(lambda: self.advance(state))[0])


class _StepGraphs(NamedTuple, Generic[State]):
    place: Tensor  # of the input
    state: State
    begin: torch.cuda.CUDAGraph
    advance: torch.cuda.CUDAGraph


class CapturedFunction:
    """A function of batches ``(batch, ...)`` on a GPU, run from graphs, one per size of the batch.

    The function must treat rows separately and must not synchronize: a batch is filled up to a power of two.

    Args:
        function: from one tensor or more to a tensor, all with as many rows.
        most: largest batch that is captured; larger ones call the function itself.
    """

    def __init__(self, function: Callable[..., Tensor], *, most: int = 4096) -> None:
        self.function, self.most = function, most
        self._graphs: MostRecent[Hashable, tuple[torch.cuda.CUDAGraph, list[Tensor], Tensor]] = MostRecent(GRAPHS)

    def __call__(self, *given: Tensor) -> Tensor:
        """The function's value; a tensor of its own."""
        batch = len(given[0])
        size = max(SMALLEST, 1 << (batch - 1).bit_length())
        if size > self.most or batch == 0:
            return self.function(*given)
        key = (size, *((one.shape[1:], one.dtype, one.device) for one in given))
        with TURN:
            graph, places, value = self._graphs.find(key, lambda: self._capture(size, given))
            for place, one in zip(places, given, strict=True):
                place[:batch].copy_(one)
            graph.replay()
            return value[:batch].clone()

    @lasting_tensors()
    def _capture(self, size: int, given: tuple[Tensor, ...]) -> tuple[torch.cuda.CUDAGraph, list[Tensor], Tensor]:
        places = [one.new_zeros(size, *one.shape[1:]) for one in given]
        graph, value = capture(lambda: self.function(*places))
        return graph, places, value


def capture(job: Callable[[], Value]) -> tuple[torch.cuda.CUDAGraph, Value]:
    """Capture what a job launches; return the graph and the job's value, whose memory a replay overwrites."""
    # Libraries allocate their workspaces at first use, which must not happen while a graph is captured.
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            job()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    # What other threads do meanwhile, such as a loader that pins memory, is no part of the graph and must not end it.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        value = job()
    return graph, value
