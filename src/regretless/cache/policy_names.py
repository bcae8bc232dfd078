"""Policies by name, for the command line and for grids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from regretless.cache.policies import Bernoulli, Falling, GapAbove, LargestGap, Policy
from regretless.errors import InputError

NAMES = ("coin", "batch-coin", "largest-gap", "gap-above")
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
    if policy not in NAMES:
        raise InputError(f"policy must be one of {', '.join(NAMES)} or a policy, got {policy!r}")
    p_solve = settings.get("p_solve", 0.05)
    where = {"gap_at": settings["gap_at"]} if "gap_at" in given else {}
    given = [name for name in given if name != "gap_at"]
    if policy == "gap-above":
        if set(given) - {"epsilon"}:
            raise InputError(f"policy 'gap-above' has no falling p_solve: leave out {given[-1]}")
        return GapAbove(float(settings.get("epsilon", 0.0)), p=p_solve, **where)
    if "epsilon" in given:
        raise InputError(f"epsilon belongs to the policy 'gap-above', got it with {policy!r}")
    if policy == "batch-coin":
        if given or where:
            raise InputError(f"policy 'batch-coin' has only the setting p_solve: leave out {[*where, *given][0]}")
        return Bernoulli(p_solve, per="batch")
    coin = policy == "coin"
    if coin and where:
        raise InputError("gap_at belongs to the policies 'largest-gap' and 'gap-above', got it with 'coin'")
    if not given:
        return Bernoulli(p_solve) if coin else LargestGap(p_solve, **where)
    if len(given) < 2:
        raise InputError(f"final_p_solve and p_epochs must be given together, got only {given[0]}")
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
