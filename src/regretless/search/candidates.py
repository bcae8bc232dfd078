"""The settings that a search tries: methods, learning rates, temperatures, anchors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from regretless.cache import SolutionCache
from regretless.errors import InputError
from regretless.losses import Loss
from regretless.number_checks import check_number
from regretless.training.methods import build_loss, method
from regretless.training.model_terms import Terms, checked_terms, forms_of
from regretless.training.stacked_models import Setting
from regretless.type_checks import check_type

# Relative to the deviation of the costs (linear models) or to the size of the weights (others).
RATES = (0.0015, 0.004, 0.012, 0.035)
ANCHORED_RATES = (0.004, 0.012)
ANCHOR = 0.3


@dataclass(frozen=True)
class Candidate:
    """One way to train, by name.

    Attributes:
        method: name in the table of methods; one without a cache solves in every step of every run.
        rate: learning rate, relative to the natural step of each parameter.
        anchor: weight of the pull towards the two-stage predictions.
        options: settings of the loss, as pairs of name and value; all candidates share one cache.
        terms: what the model has beside its features; see ``model_terms``.

    Raises:
        InputError: a rate that is not positive, a negative anchor, or options that are no pairs.
    """

    method: str
    rate: float
    anchor: float = 0.0
    options: tuple[tuple[str, Any], ...] = ()
    terms: Terms = ()

    def __post_init__(self) -> None:
        check_number("rate", self.rate)
        check_number("anchor", self.anchor, least=0)
        if not isinstance(self.options, tuple) or not all(isinstance(one, tuple) for one in self.options):
            raise InputError(f"options must be pairs such as (('temperature', 0.1),), got {self.options!r}")

    @property
    def name(self) -> str:
        """Short description for tables."""
        words = [f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}" for key, value in self.options]
        words += [f"anchor={self.anchor:g}"] if self.anchor else []
        words += self.terms
        return f"{self.method} rate={self.rate:g}" + (f" {' '.join(words)}" if words else "")


def default_candidates(steps: int) -> list[Candidate]:
    """The candidates of ``auto``; a falling temperature falls over the training steps of a run."""
    falling = (("temperature", 0.3), ("final_temperature", 0.05), ("anneal_steps", steps))
    kinds: list[tuple[str, tuple[tuple[str, Any], ...]]] = [
        ("spo-cache", ()),
        ("map-dc", ()),
        ("soft", (("temperature", 0.1),)),
        ("soft", falling),
    ]
    found = [Candidate(name, rate, 0.0, options) for name, options in kinds for rate in RATES]
    return found + [Candidate(name, rate, ANCHOR) for name in ("spo-cache", "map-dc") for rate in ANCHORED_RATES]


def candidates_of(methods: Sequence[str], steps: int) -> list[Candidate]:
    """The default candidates of some methods; a method that is not among them is tried at every rate."""
    known = default_candidates(steps)
    found: list[Candidate] = []
    for name in methods:
        if name == "auto" or method(name).search is not None:
            raise InputError(f"a search takes methods that have a loss, and {name!r} has none")
        mine = [candidate for candidate in known if candidate.method == name]
        found += mine or [Candidate(name, rate) for rate in RATES]
    return found


def planned_candidates(
    given: Sequence[Candidate] | None,
    methods: str | Sequence[str] | None,
    terms: str | Sequence[str] | None,
    usual: Terms,
    *,
    steps: int,
) -> list[Candidate]:
    """What a search tries: the candidates that were given, or those of methods, each with every form of the model.

    ``usual`` are the terms where none are named, and ``steps`` the training steps of a run; see ``auto`` for the rest.
    """
    if given is None:
        if isinstance(methods, str):
            methods = [name.strip() for name in methods.split(",")]
        plain = default_candidates(steps) if methods is None else candidates_of(methods, steps)
        wanted = usual if terms is None else checked_terms(terms)
        given = [replace(one, terms=form) for form in forms_of(wanted) for one in plain]
    elif methods is not None or terms is not None:
        raise InputError("candidates say what to try, with methods and terms: leave out methods= and terms=")
    for candidate in given:
        check_type("each of candidates", candidate, Candidate, hint="names of methods go to methods=")
    if not given:
        raise InputError("a search needs at least one method or candidate, got none")
    return list(given)


def make_grid(
    candidates: Sequence[Candidate], cache: SolutionCache, *, forms: Sequence[Terms] = ((),)
) -> tuple[tuple[Loss, ...], tuple[Setting, ...]]:
    """Losses over one shared cache, one per method and options, and settings of ``fit_stacked``, one per candidate.

    Each candidate starts from one of ``forms``, the terms of the models of a stream.
    """
    kinds = list(dict.fromkeys((candidate.method, candidate.options) for candidate in candidates))
    losses = tuple(
        build_loss(name, cache if method(name).cached else cache.problem, reduction="none", **dict(options))
        for name, options in kinds
    )
    settings = tuple(
        Setting(
            kinds.index((one.method, one.options)),
            one.rate,
            one.anchor,
            start=forms.index(one.terms),
            terms=one.terms if len(forms) > 1 else None,
        )
        for one in candidates
    )
    return losses, settings
