"""Checkpoints of stacked training: a search that was stopped continues as if it had not been."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regretless.cache import SolutionCache
from regretless.errors import FileError
from regretless.solvers import found_decisions
from regretless.storage import load_state, save_state
from regretless.training.checkpoint import OTHER_DATA
from regretless.training.random_draws import draws_state, set_draws_state
from regretless.training.running_stack import RunningStack
from regretless.training.stacked_models import Parameters

KIND, VERSION = "stacked", 1
OTHER_WEIGHTS = "Give a function seed -> model, or seed torch before the model is made"


def save(path: Path, stack: RunningStack, identity: dict[str, Any]) -> None:
    """Write a checkpoint atomically."""
    cache = next(iter(_caches(stack)), None)
    content = {
        "identity": identity,
        "parameters": stack.models.parameters,
        "adam": stack.adam.state_dict(),
        "generators": [generator.get_state() for generator in stack.generators],
        **draws_state(stack.device),
        "diverged": stack.diverged,
        "running": [loss.running_state() for loss in stack.losses],
        "cache": None if cache is None else cache.state_dict(),
        "observer": None if stack.observer is None else stack.observer.state_dict(),
        "found": found_decisions.saved(stack.losses[0].problem),
        "epoch": stack.epochs,
        "seconds": stack.seconds,
        "snapshots": [[epoch, parameters] for epoch, parameters in sorted(stack.snapshots.items())],
    }
    save_state(path, content, kind=KIND, version=VERSION)


def read(path: Path, identity: dict[str, Any]) -> Any:
    """The content of a checkpoint.

    Raises:
        FileError: the file is damaged or foreign, or belongs to another search (each difference is named).
    """
    content = load_state(path, kind=KIND, version=VERSION)
    before = content.get("identity") if isinstance(content, dict) else None
    if before != identity:
        known = before if isinstance(before, dict) else {}
        names = sorted(str(key) for key in known | identity if known.get(key) != identity.get(key))
        remedy = f". {OTHER_DATA}" if "data" in names else ""
        if names == ["initial weights"]:
            remedy = f". {OTHER_WEIGHTS}"
        raise FileError(f"{path} belongs to another search: it differs in {', '.join(names)}{remedy}")
    return content


def load(path: Path, stack: RunningStack, identity: dict[str, Any], snapshots: Sequence[int]) -> None:
    """Continue from a checkpoint: fill the stack; call it inside of ``seeded_draws``.

    ``snapshots`` are the epochs after which parameters are kept.

    Raises:
        FileError: as ``read``, or the content does not fit.
    """
    content = read(path, identity)
    try:
        for name, value in stack.models.parameters.items():
            value.copy_(content["parameters"][name])
        stack.adam.load_state_dict(content["adam"])
        for generator, saved in zip(stack.generators, content["generators"], strict=True):
            generator.set_state(saved)
        set_draws_state(stack.device, content)
        stack.diverged.copy_(content["diverged"])
        for loss, running in zip(stack.losses, content["running"], strict=True):
            loss.load_running_state(running)
        for cache in _caches(stack):
            cache.load_state_dict(content["cache"])
        if stack.observer is not None:
            stack.observer.load_state_dict(content["observer"])
        found_decisions.restore(stack.losses[0].problem, content.get("found"))
        kept = {int(epoch): _snapshot(stack, parameters) for epoch, parameters in content["snapshots"]}
        done = int(content["epoch"])
        if sorted(kept) != [epoch for epoch in snapshots if epoch <= done]:
            raise ValueError(f"snapshots of epochs {sorted(kept)} do not fit {done} epochs")
        stack.epochs, stack.seconds, stack.snapshots = done, float(content["seconds"]), kept
    except Exception as error:  # whatever the content causes, the file is the reason
        raise FileError(f"{path} does not fit this search: {error}") from error


def _caches(stack: RunningStack) -> list[SolutionCache]:
    """The shared cache: of the losses, or of the observer where no loss uses it."""
    found = [loss.oracle for loss in stack.losses] + [getattr(stack.observer, "cache", None)]
    return list({id(oracle): oracle for oracle in found if isinstance(oracle, SolutionCache)}.values())


def _snapshot(stack: RunningStack, saved: dict[str, Tensor]) -> Parameters:
    """Parameters of a snapshot, which must be those of this stack."""
    return {
        name: torch.empty_like(value).copy_(saved[name].view(value.shape))
        for name, value in stack.models.parameters.items()
    }
