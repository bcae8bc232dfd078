"""Cache files: one safetensors file with a JSON header."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any

from regretless.cache.policy_names import named_policy, policy_settings
from regretless.errors import FileError, InputError, RegretlessError
from regretless.family import Family
from regretless.problem import Problem
from regretless.storage import load_state, save_state

if TYPE_CHECKING:
    from regretless.cache.solution_cache import SolutionCache

KIND, VERSION = "cache", 1
_FIELDS = {"fingerprint", "store", "coin", "statistics"}
_SETTINGS: dict[str, type | UnionType] = {
    "grow_at": str, "seed": int, "capacity": int | None, "evict": str, "warm_start": bool, "bound": str | None,
}  # fmt: skip
# Stands in a file for a bound or a policy that is an object of the user and has no name.
UNNAMED = "unnamed"


def save(path: Path | str, state: dict[str, Any]) -> None:
    """Write the state of a cache atomically."""
    save_state(path, state, kind=KIND, version=VERSION)


def load(path: Path | str) -> dict[str, Any]:
    """Read the state of a cache; a damaged or foreign file is an error that names it."""
    state = load_state(path, kind=KIND, version=VERSION)
    missing = _FIELDS - set(state) if isinstance(state, dict) else _FIELDS
    if missing:
        raise FileError(f"{path}: field {sorted(missing)[0]!r} is missing")
    return dict(state)


def refuse_foreign(state: Mapping[str, Any], fingerprint: str, ranks: int) -> None:
    """Refuse the state of a cache of another problem, or of another number of ranks."""
    if state["fingerprint"] != fingerprint:
        raise InputError(
            f"this cache belongs to another problem: its fingerprint is {state['fingerprint']}, "
            f"the problem's is {fingerprint}: give it the problem that it was made for, or make a new cache"
        )
    before = state.get("ranks", 1)
    if ranks != before:
        raise InputError(
            f"this cache was shared by {before} ranks and is held by {ranks} now: resume with {before} ranks (call "
            "share() first), or read only its solutions with merge()"
        )


def fingerprint_at(state: Mapping[str, Any], problem: Problem) -> str:
    """The fingerprint that a problem had when a state was saved: a family may have grown since."""
    serves = state["store"].get("serves")
    if not isinstance(problem.model, Family) or serves is None or len(serves) > len(problem.model):
        return problem.fingerprint
    return problem.model.fingerprint_of(len(serves))


def settings_of(cache: SolutionCache) -> dict[str, Any]:
    """Settings that ``restored`` builds an equal cache from."""
    return {
        "grow_at": cache.grow_at,
        "seed": cache.seed,
        "capacity": cache.store.capacity,
        "evict": cache.store.evict,
        "warm_start": cache.warm_start,
        "bound": cache.bound_kind if isinstance(cache.bound_kind, str | None) else UNNAMED,
        "policy": policy_settings(cache.policy) or UNNAMED,
    }


def restored(
    path: Path | str, state: dict[str, Any], build: Callable[[dict[str, Any]], SolutionCache], given: Mapping[str, Any]
) -> SolutionCache:
    """Build a cache with the settings of a file and fill it.

    Args:
        path: of the file, for messages.
        state: what ``load`` returned.
        build: makes an empty cache from constructor settings.
        given: settings of the caller, which take precedence.
    """
    try:
        saved = {"dtype": state["store"]["rows"].dtype} | _settings(state.get("settings") or {}, given)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FileError(f"{path}: field 'store' or 'settings' cannot be used: {error}") from error
    cache = build(saved)
    try:
        cache.load_state_dict(state)
    except RegretlessError:
        raise
    except Exception as error:  # whatever the content makes the store do, the file is the cause
        raise FileError(f"{path} holds no cache of this problem: {error}") from error
    return cache


def _settings(saved: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Constructor settings from a file; files of version 0.1 hold none."""
    settings = {name: saved[name] for name in _SETTINGS if name in saved and name not in given}
    wrong = [name for name, value in settings.items() if not isinstance(value, _SETTINGS[name])]
    if wrong:
        raise TypeError(f"{wrong[0]} is {settings[wrong[0]]!r}")
    if "policy" in saved and not {"policy", "p_solve"} & set(given):
        settings["policy"] = saved["policy"]
    unnamed = [name for name, value in settings.items() if value == UNNAMED]
    if unnamed:
        raise InputError(f"this cache was saved with a {unnamed[0]} that has no name: pass it again as {unnamed[0]}=")
    if "policy" in settings:
        policy = settings["policy"]
        settings["policy"] = named_policy(policy, instances=int(policy.get("instances", 1)))
    return settings
