"""What a search returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import nn

from regretless.cache import SolutionCache
from regretless.search.verdict import Verdict


@dataclass(frozen=True)
class CandidateScore:
    """How well a candidate did on the held-out folds.

    Attributes:
        name: of the candidate.
        epochs: number of epochs.
        regret: mean held-out regret by look-up; infinite where a run diverged.
        member: whether it belongs to the committee.
    """

    name: str
    epochs: int
    regret: float
    member: bool = False


@dataclass(frozen=True)
class AutoResult:
    """What a search found.

    Attributes:
        model: predicts costs: the committee, two-stage where nothing beats it, or an average of both where the gain is
            within its uncertainty. It is in evaluation mode, as ``two_stage`` is.
        two_stage: the baseline, trained on all data.
        verdict: gain over two-stage on held-out folds.
        chosen: what the model is: ``"committee of k"``, the name of a single setting, ``"two-stage"``, or an average.
        scores: all candidates, best first.
        history: one row per epoch: best look-up regret, seconds, growth solves, cache size.
        solves: exact solves by purpose: growth and scoring.
        reason: why training ended.
        seconds: wall-clock time of the stacked training.
        cache: the shared cache.
    """

    model: nn.Module = field(repr=False)
    two_stage: nn.Module = field(repr=False)
    verdict: Verdict
    chosen: str
    scores: list[CandidateScore] = field(repr=False)
    history: list[dict[str, Any]] = field(repr=False)
    solves: dict[str, int]
    reason: str
    seconds: float
    cache: SolutionCache
