"""What a search returns, and how its model is chosen: a committee, two-stage, or an average of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from regretless.cache import SolutionCache
from regretless.search.baseline import Baseline
from regretless.search.candidates import Candidate
from regretless.search.committee import Member, best_members, held_out_average, merge, ranked, streams_of, weighted
from regretless.search.scores import HeldOut
from regretless.search.verdict import Comparison, Verdict
from regretless.training.stacked_fit import StackedRuns


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
        solves: exact solves by purpose, growth and scoring; after an interruption those of all sessions.
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


def choose(
    runs: StackedRuns,
    regrets: Mapping[Member, Tensor],
    candidates: Sequence[Candidate],
    held_out: HeldOut,
    baseline: Baseline,
    comparison: Comparison,
    *,
    committee: int | None,
    fallback: bool,
) -> tuple[nn.Module, str, list[Member], Verdict]:
    """Compare a committee of the best settings with two-stage by exact solves, and choose.

    ``regrets`` are those of all settings by look-up; ``committee`` and ``fallback`` are those of ``auto``.

    Returns:
        The model, what it is, the members of the committee (none where it is two-stage), and the verdict.
    """
    # With known costs in the objective, predictions must keep the scale that the losses gave them.
    scale_free = not held_out.cache.problem.has_known_costs
    members = best_members(ranked(regrets), committee)
    # Without a member (all settings diverged) the result is two-stage, which is then compared with itself.
    average = held_out_average(regrets, committee, runs, held_out, scale_free) if members else baseline.predicted
    verdict = comparison.verdict(average)
    weight = verdict.weight if fallback else 1.0
    if not members or weight == 0:
        return baseline.model, "two-stage", [], verdict
    models, weights = weighted(members, runs, held_out.data, streams_of(members, runs), scale_free)
    name = f"committee of {len(members)}" if len(members) > 1 else candidates[members[0][1]].name
    if weight < 1:
        models = [*models, baseline.widest]
        weights = torch.cat([weight * weights, weights.new_tensor([1 - weight])])
        share = min(99, max(1, round(100 * weight)))  # both take part: neither has 0 or 100 %
        name = f"{name} ({share}%) and two-stage ({100 - share}%)"
    return merge(models, weights), name, members, verdict
