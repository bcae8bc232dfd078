"""The model that a search returns: a committee, two-stage, or an average of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regretless.search.baseline import Baseline
from regretless.search.candidates import Candidate
from regretless.search.committee import merge
from regretless.search.comparison import Comparison
from regretless.search.scores import HeldOut
from regretless.search.selection import Member, best_members, held_out_average, ranked, streams_of, weighted
from regretless.search.verdict import Verdict
from regretless.training.stacked_fit import StackedRuns


@dataclass(frozen=True)
class Choice:
    """What a search chose.

    Attributes:
        model: predicts costs.
        name: what the model is.
        members: of the committee; empty where the model is two-stage.
        verdict: gain of the committee over two-stage.
    """

    model: nn.Module
    name: str
    members: list[Member]
    verdict: Verdict


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
) -> Choice:
    """Compare a committee of the best settings with two-stage by exact solves, and choose.

    ``regrets`` are those of all settings by look-up; ``committee`` and ``fallback`` are those of ``auto``.
    """
    # With known costs in the objective, predictions must keep the scale that the losses gave them.
    scale_free = not held_out.cache.problem.has_known_costs
    members = best_members(ranked(regrets), committee)
    # Without a member (all settings diverged) the result is two-stage, which is then compared with itself.
    average = held_out_average(regrets, committee, runs, held_out, scale_free) if members else baseline.predicted
    verdict = comparison.verdict(average)
    weight = verdict.weight if fallback else 1.0
    if not members or weight == 0:
        return Choice(baseline.model, "two-stage", [], verdict)
    models, weights = weighted(members, runs, held_out.data, streams_of(members, runs), scale_free)
    name = f"committee of {len(members)}" if len(members) > 1 else candidates[members[0][1]].name
    if weight < 1:
        models = [*models, baseline.widest]
        weights = torch.cat([weight * weights, weights.new_tensor([1 - weight])])
        share = min(99, max(1, round(100 * weight)))  # both take part: neither has 0 or 100 %
        name = f"{name} ({share}%) and two-stage ({100 - share}%)"
    return Choice(merge(models, weights), name, members, verdict)
