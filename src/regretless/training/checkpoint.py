"""Checkpoints: everything a run needs to continue as if it had never stopped, and what makes two runs the same run."""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Any

import torch
from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.errors import FileError
from regretless.losses import Loss, WarmUp
from regretless.losses.base import plain_settings
from regretless.ranks import Ranks
from regretless.solvers import found_decisions
from regretless.storage import load_state, save_state
from regretless.tensors import hash_of
from regretless.training.callbacks import Callback
from regretless.training.history import History, Row
from regretless.training.random_draws import draws_state, set_draws_state

KIND, VERSION = "checkpoint", 2
OTHER_DATA = "The data have changed since: restore the tables, or start again in another file or folder"
# What a checkpoint holds, and of which type it must be.
FIELDS: dict[str, type | UnionType] = {
    "settings": dict, "model": dict, "loss": dict, "optimizer": dict, "callbacks": list,
    "shuffle": Tensor, "global": Tensor, "epoch": int, "step": int, "order": Tensor | None, "row": dict,
    "history": list, "stopped": str,
}  # fmt: skip
# Of these, every rank of a data-parallel training has its own.
OF_RANK = ("loss", "callbacks", "global", "device", "row", "found")


@dataclass
class Progress:
    """How far training is: epochs done, steps done in this one, its shuffled order and the sums of its row."""

    epoch: int = 0
    step: int = 0
    order: Tensor | None = None
    row: Row = field(default_factory=dict)
    history: History = field(default_factory=History)
    stopped: str = ""


@dataclass
class Parts:
    """The parts of a run that change while it trains."""

    model: nn.Module
    loss: Loss
    optimizer: torch.optim.Optimizer
    callbacks: list[Callback]
    shuffle: torch.Generator
    loader: torch.Generator | None = None  # of a loader that shuffles itself


def save(
    path: Path | str, parts: Parts, progress: Progress, settings: dict[str, Any], ranks: Ranks | None = None
) -> None:
    """Write a checkpoint atomically; of ``ranks``, the first one writes what all of them need."""
    state: dict[str, Any] = {
        "settings": settings,
        "model": dict(parts.model.state_dict()),
        "loss": parts.loss.get_extra_state(),
        "optimizer": parts.optimizer.state_dict(),
        "callbacks": [callback.state_dict() for callback in parts.callbacks],
        "shuffle": parts.shuffle.get_state(),
        "loader": None if parts.loader is None else parts.loader.get_state(),
        **draws_state(next(parts.model.parameters()).device),
        **(vars(progress) | {"history": progress.history.rows}),
        "found": found_decisions.saved(parts.loss.problem),
    }
    if ranks is not None:
        own = {name: state[name] for name in OF_RANK}
        if own["loss"]["cache"] is not None:  # its solutions are the same on every rank
            own["loss"] = own["loss"] | {"cache": own["loss"]["cache"] | {"store": None}}
        state["ranks"] = ranks.gather_objects(own)
        ranks.first(lambda: save_state(path, state, kind=KIND, version=VERSION))
        return
    save_state(path, state, kind=KIND, version=VERSION)


def load(path: Path | str, parts: Parts, settings: dict[str, Any], epochs: int, ranks: Ranks | None = None) -> Progress:
    """Restore a checkpoint into the parts of a run and return how far it was; only rank 0 needs the file.

    Torch's global generators continue where they were, too: call it inside of ``seeded_draws``.

    Raises:
        FileError: the file is damaged or foreign, was written with other settings (each difference is named), or holds
            more than ``epochs`` epochs. The model has its own weights then.
    """

    def read() -> Any:
        return load_state(path, kind=KIND, version=VERSION)

    state = upgraded(read() if ranks is None else ranks.first(read), parts.loss)
    missing = [name for name in FIELDS if not isinstance(state, dict) or name not in state]
    if missing:
        raise FileError(f"{path}: field {missing[0]!r} is missing")
    for name, kind in FIELDS.items():
        if not isinstance(state[name], kind):
            raise FileError(f"{path}: field {name!r} must not be {type(state[name]).__name__}")
    refuse_another(path, "run", state["settings"], settings)
    begun = state["order"] is not None  # an epoch that was left in the middle has changed the weights
    if state["epoch"] + begun > epochs:
        held = f"{state['epoch']} epochs{' and part of the next' if begun else ''}"
        raise FileError(f"{path} holds {held} already, more than the {epochs} requested")
    first = copy.deepcopy(parts.model.state_dict())
    try:
        if ranks is not None:
            own = state["ranks"][ranks.rank]
            if own["loss"]["cache"] is not None:
                own["loss"]["cache"]["store"] = state["loss"]["cache"]["store"]
            state |= own
        parts.model.load_state_dict(state["model"])
        parts.loss.set_extra_state(state["loss"])
        _load_optimizer(parts.optimizer, state["optimizer"])
        for callback, saved in zip(parts.callbacks, state["callbacks"], strict=True):
            callback.load_state_dict(saved)
        parts.shuffle.set_state(state["shuffle"])
        if parts.loader is not None and state.get("loader") is not None:
            parts.loader.set_state(state["loader"])
        set_draws_state(next(parts.model.parameters()).device, state)
        found_decisions.restore(parts.loss.problem, state.get("found"))
    except Exception as error:  # whatever the content makes torch do, the file is the cause
        parts.model.load_state_dict(first)
        raise FileError(f"{path} does not fit this model, loss or optimizer: {error}") from error
    return Progress(
        state["epoch"], state["step"], state["order"], state["row"], History(state["history"]), state["stopped"]
    )


def refuse_another(path: Path | str, what: str, before: dict[str, Any], settings: dict[str, Any]) -> None:
    """Raise a ``FileError`` that names all settings in which a checkpoint differs from what continues from it."""
    different = [name for name in before | settings if before.get(name) != settings.get(name)]
    if different:
        text = "; ".join(f"{name} was {before.get(name)!r}, is {settings.get(name)!r}" for name in different)
        remedy = OTHER_DATA if "data" in different else "Use the same settings, or another checkpoint file"
        raise FileError(f"{path} belongs to another {what}: {text}. {remedy}")


def _load_optimizer(optimizer: torch.optim.Optimizer, saved: dict[str, Any]) -> None:
    """Restore an optimizer; torch casts its state to the precision of the weights, which changes the next steps."""
    optimizer.load_state_dict(saved)
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    for index, before in saved["state"].items():
        now = optimizer.state[weights[index]]
        for name, value in before.items():
            if isinstance(value, Tensor) and now[name].dtype != value.dtype:
                now[name] = value.to(now[name].device, copy=True)


def upgraded(state: Any, loss: Loss) -> Any:
    """A checkpoint of version 0.1 in today's form: it held the cache apart, and the warm-up inside of the loss."""
    if not isinstance(state, dict) or "cache" not in state:
        return state
    state, cache = dict(state), state["cache"]
    settings = dict(state.get("settings") or {})
    settings["loss"] = str(settings.get("loss")).replace(", warm_up_steps=0)", ")")
    steps = int(state["loss"]["steps"]) if isinstance(state.get("loss"), dict) and "steps" in state["loss"] else 0
    running: dict[str, Any] = {"steps": steps}
    if isinstance(loss, WarmUp):
        after = max(steps - loss.warm_up_steps, 0)
        running = {"taken": steps, "losses": [{}, {"steps": after}]}
    return state | {"settings": settings, "loss": {"cache": cache, "running": running}}


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
