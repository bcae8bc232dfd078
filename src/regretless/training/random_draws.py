"""What modules draw from torch's global generators, for their weights and for dropout and the like, follows a seed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

_lock = threading.Lock()  # all threads share the generators: one sets a seed at a time
_open: list[object] = []  # blocks that are entered, by any thread
_before: dict[torch.Generator, Tensor] = {}  # states before the first of them


@contextmanager
def seeded_weights(seed: int) -> Iterator[None]:
    """Draw the weights of modules built inside of the block from ``seed``; the global generators do not change.

    Modules draw from the global generators, which all threads share: one block runs at a time.
    """
    started = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    with _lock, torch.random.fork_rng(range(torch.cuda.device_count()) if started else []):
        if torch.cuda.is_available() or torch.backends.mps.is_available():
            torch.manual_seed(seed)
        else:
            # The same draws. ``torch.manual_seed`` also queues a call for every kind of device that may start later,
            # with the text of its stack: this takes milliseconds, and the memory is never freed.
            torch.default_generator.manual_seed(seed)
        yield


@contextmanager
def seeded_draws(seed: int, device: torch.device | None = None, *, rank: int = 0) -> Iterator[None]:
    """Seed the global generators for the time of a block; afterwards they are as they were.

    All threads share these generators. Blocks of several threads leave them as they were before the first one, but
    modules that draw numbers in several threads at once do not get the same numbers every time.

    Args:
        seed: of the numbers; they differ from those of a ``torch.Generator`` with this seed.
        device: of the model; the generator of a GPU is seeded, too.
        rank: of a data-parallel training, of which every rank draws its own numbers.
    """
    block, generators = object(), [torch.default_generator]
    if own := _of_device(device):
        generators.append(own)
    mixed = int(np.random.SeedSequence([seed, rank]).generate_state(1, np.uint64)[0])
    with _lock:
        states = {generator: generator.get_state() for generator in generators}
        for generator, state in states.items():
            _before.setdefault(generator, state)
            generator.manual_seed(mixed)
        _open.append(block)
    try:
        yield
    finally:
        with _lock:
            _open.remove(block)
            for generator, state in (states if _open else _before).items():
                generator.set_state(state)
            if not _open:
                _before.clear()


def draws_state(device: torch.device) -> dict[str, Tensor | None]:
    """States of the global generators, for checkpoints: of the CPU, and of a GPU that the model is on."""
    generator = _of_device(device)
    return {"global": torch.get_rng_state(), "device": None if generator is None else generator.get_state()}


def set_draws_state(device: torch.device, state: dict[str, Any]) -> None:
    """Continue from saved states; that of another kind of device does not apply."""
    torch.set_rng_state(state["global"])
    generator, saved = _of_device(device), state.get("device")
    if generator is not None and saved is not None:
        generator.set_state(saved)


def _of_device(device: torch.device | None) -> torch.Generator | None:
    if device is None or device.type != "cuda":
        return None
    index = torch.cuda.current_device() if device.index is None else device.index  # which also starts CUDA
    found: torch.Generator = torch.cuda.default_generators[index]
    return found
