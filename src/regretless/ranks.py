"""The processes of a data-parallel training (``torchrun``): which one this is, and what all of them hold."""

from __future__ import annotations

import atexit
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, final

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from regretless.errors import InputError

T = TypeVar("T")
EXIT_SECONDS = 0.2  # that the end of the process waits for the threads of gloo


@final
class Ranks:
    """A process group of torch. Every method but the constructor must be called by all ranks alike.

    Args:
        group: the group; by default all processes.

    Attributes:
        rank: number of this process, from 0.
        size: number of processes.

    Raises:
        InputError: torch.distributed is not initialized.
    """

    def __init__(self, group: Any = None) -> None:
        if not (dist.is_available() and dist.is_initialized()):
            raise InputError(
                "torch.distributed is not initialized: start the program with torchrun, and call "
                "torch.distributed.init_process_group('gloo') first"
            )
        self.group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        # NCCL moves tensors between GPUs only.
        self._device = torch.device("cuda" if dist.get_backend(group) == "nccl" else "cpu")
        _wait_at_exit()

    def gather(self, values: Tensor) -> Tensor:
        """Tensors of one shape ``(...)`` of all ranks, stacked to ``(size, ...)``."""
        own = values.to(self._device).contiguous()
        found = [torch.empty_like(own) for _ in range(self.size)]
        dist.all_gather(found, own, group=self.group)
        return torch.stack(found).to(values.device)

    def gather_rows(self, rows: Tensor, counts: Sequence[int] | None = None) -> Tensor:
        """Rows ``(m, ...)`` of all ranks, in the order of ranks; ``m`` may differ.

        Args:
            rows: of this rank.
            counts: the number of rows of every rank, where it is known.
        """
        counts = self.gather(torch.tensor(len(rows))).tolist() if counts is None else counts
        padded = rows.new_zeros(max(counts), *rows.shape[1:])
        padded[: len(rows)] = rows
        found = self.gather(padded)
        return torch.cat([part[:count] for part, count in zip(found, counts, strict=True)])

    def gather_objects(self, value: T) -> list[T]:
        """Objects of all ranks, in the order of ranks; they are pickled."""
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, value, group=self.group)
        return found

    def any(self, flag: bool) -> bool:
        """Whether the flag is set on any rank."""
        return bool(self.gather(torch.tensor(flag)).any())

    def first(self, function: Callable[[], T]) -> T:
        """Call a function on rank 0 only, and return its result, or raise what it raised, on every rank."""
        answer: Any = None
        if self.rank == 0:
            try:
                answer = function(), None
            except Exception as raised:
                answer = None, raised
        result, error = self.gather_objects(answer)[0]
        if error is not None:
            raise error
        found: T = result
        return found


def ranks_of(model: nn.Module) -> Ranks | None:
    """The ranks that train a model together, where it is wrapped in ``DistributedDataParallel``."""
    return Ranks(model.process_group) if isinstance(model, DistributedDataParallel) else None


def unwrapped(model: nn.Module) -> nn.Module:
    """A model without ``DistributedDataParallel``."""
    return model.module if isinstance(model, DistributedDataParallel) else model


@functools.cache
def _wait_at_exit() -> None:
    """Give the threads of gloo time to release the tensors of the last exchange before Python shuts down.

    They need the interpreter for that, and abort the process where it is gone. ``destroy_process_group`` does not wait
    for them as long as a ``DistributedDataParallel`` model exists (https://github.com/pytorch/pytorch/pull/179291).
    """
    atexit.register(time.sleep, EXIT_SECONDS)
