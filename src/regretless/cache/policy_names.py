"""Policies by name, for the command line and for grids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regretless.cache.policies import Bernoulli, Falling, GapAbove, LargestGap, Policy
from regretless.errors import InputError

# Policies, and their settings beside p_solve.
SETTINGS_OF = {
    "coin": ("final_p_solve", "p_epochs"),
    "batch-coin": (),
    "largest-gap": ("gap_at", "final_p_solve", "p_epochs"),
    "gap-above": ("gap_at", "epsilon"),
}
# The settings of a cache that belong to its policy.
SETTINGS = ("policy", "p_solve", "gap_at", "epsilon", "final_p_solve", "p_epochs")


def named_policy(settings: Mapping[str, Any], *, instances: int) -> Policy:
    """Build the policy that plain settings name.

    Args:
        settings: ``policy`` (``"coin"``, ``"batch-coin"``, ``"largest-gap"``, ``"gap-above"``, or a policy, which is
            returned as it is), ``p_solve`` (0.05), ``gap_at`` of the gap policies, ``epsilon`` of ``gap-above`` (0),
            and, for a falling p_solve, ``final_p_solve`` and the number of epochs ``p_epochs``.
        instances: of one epoch.

    >>> named_policy({"policy": "largest-gap", "p_solve": 0.01}, instances=552)
    LargestGap(p=0.01, gap_at='lookup')
    """
    policy = settings.get("policy", "coin")
    given = [name for name in SETTINGS[2:] if settings.get(name) is not None]
    if not isinstance(policy, str):
        if given:
            raise InputError(f"{given[0]} belongs to a policy given by name, got the policy {policy!r}")
        made: Policy = policy
        return made
    if policy not in SETTINGS_OF:
        raise InputError(f"policy must be one of {', '.join(SETTINGS_OF)} or a policy, got {policy!r}")
    if wrong := [name for name in given if name not in SETTINGS_OF[policy]]:
        owners = " or ".join(repr(name) for name, own in SETTINGS_OF.items() if wrong[0] in own)
        raise InputError(f"{wrong[0]} belongs to the policy {owners}, got it with {policy!r}: leave it out")
    p_solve = settings.get("p_solve", 0.05)
    where = {"gap_at": settings["gap_at"]} if "gap_at" in given else {}
    if policy == "gap-above":
        return GapAbove(float(settings.get("epsilon", 0.0)), p=p_solve, **where)
    if policy == "batch-coin":
        return Bernoulli(p_solve, per="batch")
    coin, fall = policy == "coin", [name for name in given if name != "gap_at"]
    if not fall:
        return Bernoulli(p_solve) if coin else LargestGap(p_solve, **where)
    if len(fall) < 2:
        raise InputError(f"final_p_solve and p_epochs must be given together, got only {fall[0]}")
    final, epochs = float(settings["final_p_solve"]), float(settings["p_epochs"])
    return Falling(p_solve, final, epochs=epochs, instances=instances, coin=coin, **where)


def policy_settings(policy: Policy) -> dict[str, Any] | None:
    """Plain settings from which ``named_policy`` builds the policy again; ``None`` for a policy without a name.

    >>> policy_settings(LargestGap(0.01))
    {'policy': 'largest-gap', 'p_solve': 0.01, 'gap_at': 'lookup'}
    """
    # Of exactly this class: a subclass decides in its own way, which the name of its base would lose.
    if type(policy) is Bernoulli:
        return {"policy": "coin" if policy.per == "instance" else "batch-coin", "p_solve": policy.p}
    if type(policy) is LargestGap:
        return {"policy": "largest-gap", "p_solve": policy.p, "gap_at": policy.gap_at}
    if type(policy) is GapAbove:
        return {"policy": "gap-above", "p_solve": policy.p, "gap_at": policy.gap_at, "epsilon": policy.epsilon}
    if type(policy) is Falling:
        named = {"policy": "coin"} if policy.coin else {"policy": "largest-gap", "gap_at": policy.gap_at}
        fall = {"p_solve": policy.first, "final_p_solve": policy.last, "p_epochs": policy.epochs}
        return named | fall | {"instances": policy.instances}
    return None
