"""What makes two runs the same run: only then may one continue from the other's checkpoint."""

from __future__ import annotations

import inspect
from typing import Any

import torch

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.losses import Loss, WarmUp
from regretless.losses.base import plain_settings
from regretless.tensors import hash_of
from regretless.training.checkpoint import Parts


def identity(
    parts: Parts, train: Dataset | Any, *, seed: int, batch_size: int, ranks: int = 1, clip: float | None = None
) -> dict[str, Any]:
    """Return everything that determines the numbers of a run, by name, as plain data.

    The number of epochs is not part of it, so that a run can be extended; nor are workers, which change no number.
    The content of a loader is not known.
    """
    loss, groups = parts.loss, parts.optimizer.param_groups
    named: dict[str, Any] = {
        "seed": seed,
        "batch_size": batch_size,
        "instances": len(train) if isinstance(train, Dataset) else None,
        "data": digest_of(train) if isinstance(train, Dataset) else type(train).__name__,
        "loss": _described(loss),
        "optimizer": type(parts.optimizer).__name__,
        # A schedule changes the rate during the run; the first one identifies it.
        "lr": [float(group.get("initial_lr", group["lr"])) for group in groups],
        "callbacks": [type(callback).__name__ for callback in parts.callbacks],
        "problem": None if loss.problem is None else loss.problem.fingerprint,
    }
    if any(given := [_not_default(parts.optimizer, group) for group in groups]):
        named["optimizer_settings"] = given
    if clip is not None:
        named["clip"] = float(clip)
    if ranks > 1:
        named["ranks"] = ranks
    if isinstance(loss.oracle, SolutionCache):
        cache = loss.oracle
        policy = cache.policy
        named |= {
            "policy": type(policy).__name__ if type(policy).__repr__ is object.__repr__ else repr(policy),
            "grow_at": cache.grow_at,
            "cache_seed": cache.seed,
            "capacity": cache.store.capacity,
            "evict": cache.store.evict,
            "warm_start": cache.warm_start,
        }
    return named


def _not_default(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> dict[str, str]:
    """Settings of a group of parameters, other than the rate, that are not those of the optimizer's class."""
    usual = inspect.signature(type(optimizer)).parameters
    own = (name for name in sorted(group) if name in usual and name not in ("params", "lr"))
    return {name: repr(group[name]) for name in own if repr(group[name]) != repr(usual[name].default)}


def _described(loss: Loss) -> str:
    """A loss by its name and its plain settings."""
    if isinstance(loss, WarmUp):
        return f"{_described(loss.then)[:-1]}, warm_up_steps={loss.warm_up_steps})"
    plain = plain_settings(loss)
    return f"{type(loss).__name__}({', '.join(f'{name}={value!r}' for name, value in plain.items())})"


def digest_of(data: Dataset) -> str:
    """A hash of the content of a data set."""
    given = (data.features, data.costs, data.solutions, data.instance, data.weight)
    return hash_of(tensor for tensor in given if tensor is not None)[:16]
