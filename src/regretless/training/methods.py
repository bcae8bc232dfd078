"""The table of methods: a name, and how to build its loss from a problem and training data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal

from regretless import losses
from regretless.cache import SolutionCache
from regretless.cache.policy_names import SETTINGS as POLICY_SETTINGS
from regretless.cache.policy_names import named_policy
from regretless.data import Dataset
from regretless.errors import InputError
from regretless.losses import Loss
from regretless.losses.base import Reduction
from regretless.number_checks import check_integer
from regretless.oracle import Oracle
from regretless.problem import Problem
from regretless.relaxation.linear_relaxation import LinearRelaxation
from regretless.training.direct import direct
from regretless.training.running_fit import Fitted

CACHE_SETTINGS = ("grow_at", "capacity", "evict", "bound", "warm_start", *POLICY_SETTINGS)
# Arguments of losses that are no settings of a method.
FIXED = ("cost", "objective", "reduction")


@dataclass(frozen=True)
class Method:
    """A row of the table.

    Attributes:
        summary: one line.
        build: ``(oracle, **options) -> Loss``.
        cached: whether the oracle is a solution cache around the problem.
        solves: whether training solves the problem exactly; a relaxation or the prediction error never does.
        options: settings of the loss and their defaults.
        needs_costs: whether training uses true costs beside the true optima, with the default options.
        batch_size: instances per step, where the method differs from its problem.
        search: trains the model where the method has no loss: ``(model, problem, train, seed=, **options) -> Fitted``.
    """

    summary: str
    build: Callable[..., Loss]
    cached: bool = False
    solves: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)
    needs_costs: bool = True
    batch_size: int | None = None
    search: Callable[..., Fitted] | None = None


def _spo_relax(problem: Problem, *, engine: Literal["highs", "batched-lp"] = "highs", **options: Any) -> Loss:
    return losses.SPOPlus(LinearRelaxation(problem, engine=engine), **options)


def _soft(cache: SolutionCache, *, warm_up_steps: int = 0, reduction: Reduction = "mean", **options: Any) -> Loss:
    """Expected regret, after a number of steps with MAP at ``c_hat - c``, whose gradient leads from any weights."""
    check_integer("warm_up_steps", warm_up_steps, least=0)
    loss = losses.ExpectedRegret(cache, reduction=reduction, **options)
    if not warm_up_steps:
        return loss
    return losses.WarmUp(losses.MAP(cache, cost="c_hat-c", reduction=reduction), loss, steps=warm_up_steps)


def _two_stage(problem: Problem, *, fit: str = "gradient", **options: Any) -> Loss:
    """The prediction error; ``fit`` says how it is minimized, and is for ``train``."""
    if fit not in ("gradient", "best"):
        raise InputError(f"fit must be 'gradient' or 'best', got {fit!r}")
    return losses.TwoStage(problem, **options)


def _settings(loss: Callable[..., Loss]) -> dict[str, Any]:
    """Settings of a loss: its keyword-only arguments, with their defaults."""
    arguments = inspect.signature(loss).parameters.values()
    return {one.name: one.default for one in arguments if one.kind is one.KEYWORD_ONLY and one.name not in FIXED}


def _row(summary: str, loss: Callable[..., Loss], **more: Any) -> Method:
    """The row of a loss, whose settings are the options of the method."""
    return Method(summary, loss, options=_settings(loss), **more)


def _both(
    name: str, loss: Callable[..., Loss], what: str, solves: str, *, needs_costs: bool = False
) -> dict[str, Method]:
    """Two rows of one loss: ``name`` over the problem itself, and ``name-cache`` over the solution cache.

    Most of these losses need true optima only.
    """
    return {
        name: _row(f"{what}, {solves}", loss, needs_costs=needs_costs),
        f"{name}-cache": _row(f"{what} over the cache", loss, cached=True, needs_costs=needs_costs),
    }


def _contrastive(name: str, loss: Callable[..., Loss]) -> dict[str, Method]:
    """Three rows of a contrastive loss, by its cost: at the predicted costs alone it needs no true ones."""
    costs = (("c", "c_hat"), ("dc", "c_hat-c"), ("2c", "2c_hat-c"))
    return {
        f"{name}-{short}": _row(
            f"{name.upper()} at {cost}", partial(loss, cost=cost), cached=True, needs_costs=short != "c"
        )
        for short, cost in costs
    }


TABLE: dict[str, Method] = {
    "auto": Method(
        "search over one shared cache, a committee of the best",
        _two_stage,
        options={
            "folds": 5,
            "ordered": False,
            "methods": None,
            "growth": 1.0,
            "scoring": 1.0,
            "committee": None,
            "terms": None,
            "fallback": True,
            "time_limit": None,
            "max_solves": None,
            "sample": 5000,
        },
    ),
    "two-stage": Method(
        "prediction error, then solve",
        _two_stage,
        solves=False,
        options=_settings(losses.TwoStage) | _settings(_two_stage),
        batch_size=1,
    ),
    **_both("spo", losses.SPOPlus, "SPO+", "one solve per instance and step", needs_costs=True),
    **_both("blackbox", losses.Blackbox, "regret with interpolated gradient", "two solves", needs_costs=True),
    "spo-relax": _row("SPO+ with the linear relaxation as oracle", _spo_relax, solves=False),
    "qptl": _row("regret through a quadratic relaxation", losses.QPTL, solves=False),
    "interior": _row("regret through a log-barrier relaxation", losses.Interior, solves=False),
    **_contrastive("nce", losses.NCE),
    **_contrastive("map", losses.MAP),
    "soft": Method(
        "expected regret over the cache (ours)",
        _soft,
        cached=True,
        options=_settings(losses.ExpectedRegret) | _settings(_soft),
    ),
    **_both("pfy", losses.PerturbedFenchelYoung, "perturbed Fenchel-Young", "K solves per instance and step"),
    **_both("dpo", losses.PerturbedOptimizer, "loss of the mean perturbed solution", "K solves"),
    **_both("imle", losses.ImplicitMLE, "implicit maximum likelihood", "2 K solves"),
    **_both("aimle", losses.AdaptiveImplicitMLE, "I-MLE with an adaptive width", "2 K solves"),
    **_both("nid", losses.NegativeIdentity, "negative identity as the solver's slope", "one solve"),
    **_both("pg", losses.PerturbationGradient, "perturbation gradient", "two solves", needs_costs=True),
    **_both("rfy", losses.RegularizedFenchelYoung, "regularized Fenchel-Young", "a solve per iteration"),
    **_both("rfw", losses.RegularizedOptimizer, "loss of the regularized solution", "a solve per iteration"),
    "cave": _row("angle to the optimality cone", losses.ConeAlignment, solves=False, needs_costs=False),
    "lava": _row("the optimum leads its neighbors in S", losses.LAVA, cached=True, needs_costs=False),
    "sce": _row("contrastive through a quadratic relaxation", losses.SmoothedContrastive, solves=False),
    "pointwise": _row("ranking: match every score", losses.Pointwise, cached=True),
    "pairwise": _row("ranking: the best leads every other", losses.Pairwise, cached=True),
    "pairwise-difference": _row("ranking: match the lead of the best", losses.PairwiseDifference, cached=True),
    "listwise": _row("ranking: match the distribution", losses.Listwise, cached=True),
    "direct": Method(
        "exact training regret by CMA-ES, for small models",
        losses.TwoStage,
        options={"generations": 150, "population": None, "sigma": 0.5},
        search=direct,
    ),
}


def names() -> list[str]:
    """Names of all methods."""
    return list(TABLE)


def method(name: str) -> Method:
    """Return the row of a method; an unknown name is an error that lists the known ones."""
    if name not in TABLE:
        close = get_close_matches(str(name), TABLE, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        if isinstance(name, Loss):
            hint = ". A loss of your own is trained by regretless.fit(model, loss, data)"
        raise InputError(f"method must be one of {', '.join(TABLE)}, got {name!r}{hint}")
    return TABLE[name]


def make_loss(name: str, problem: Problem, train: Dataset, *, seed: int = 0, **settings: Any) -> Loss:
    """Build the loss of a method, with its cache started from the training optima.

    Args:
        name: a key of the table of methods.
        problem: what to solve.
        train: training data; its optima start the cache, and its costs the bounds of gap policies.
        seed: of the cache's coin, and of the noise of losses that have one.
        settings: of the loss, of the cache (``grow_at``, ``capacity``, ``evict``, ``bound``,
            ``warm_start``) and of its policy (``p_solve``, ``policy`` and what belongs to it; see
            ``regretless.cache.policy_names``).

    >>> sorted(method("map-dc").options)
    ['select']
    """
    row = method(name)
    chosen(name, settings)
    of_loss = {key: value for key, value in settings.items() if key in row.options}
    if "seed" in row.options:  # of the loss's own noise
        of_loss = {"seed": seed} | of_loss
    oracle: Oracle = problem
    if row.cached:
        oracle = make_cache(problem, train, seed=seed, **{k: v for k, v in settings.items() if k in CACHE_SETTINGS})
    return build_loss(name, oracle, **of_loss)


def build_loss(name: str, oracle: Oracle, *, reduction: Reduction = "mean", **options: Any) -> Loss:
    """Build the loss of a method over an oracle that exists already, for instance a cache that several losses share.

    Args:
        name: a key of the table of methods.
        oracle: a problem, or a cache for methods that use one.
        reduction: over the batch.
        options: settings of the loss.

    Raises:
        InputError: the method has no loss, or an option is unknown or belongs to the cache, which exists already.
    """
    row = method(name)
    if row.search is not None or name == "auto":
        raise InputError(f"method {name!r} has no loss: train with it through regretless.train")
    of_loss = chosen(name, options)
    for key in options:
        if key not in of_loss:
            raise InputError(f"{key!r} is a setting of the cache, and the cache exists already: leave it out")
    return row.build(oracle, reduction=reduction, **of_loss)


def make_cache(problem: Problem, train: Dataset, *, seed: int = 0, **settings: Any) -> SolutionCache:
    """Build a cache that starts from the training optima; ``settings`` are of the cache and its policy."""
    policy = named_policy(settings, instances=len(train))
    more = {key: value for key, value in settings.items() if key not in POLICY_SETTINGS}
    cache = SolutionCache(problem, train.solutions, instance=train.instance, seed=seed, policy=policy, **more)
    cache.prepare(problem.to_minimization(train.costs, train.instance), train.instance)
    return cache


def chosen(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a method with the user's settings in place of defaults; an unknown one lists the known ones."""
    row = method(name)
    allowed = [*row.options, *(CACHE_SETTINGS if row.cached else ())]
    unknown = [key for key in settings if key not in allowed]
    if unknown:
        known = f"its settings are {', '.join(allowed)}" if allowed else "it has no settings"
        raise InputError(f"method {name!r} does not know {unknown[0]!r}: {known}")
    return dict(row.options) | {key: value for key, value in settings.items() if key in row.options}
