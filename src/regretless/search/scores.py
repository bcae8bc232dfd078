"""Regret on held-out folds: by look-up in the shared cache for all settings, exact for the few that matter."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import torch
from torch import Tensor

from regretless import metrics
from regretless.begun_solves import BegunSolves, solve_rows
from regretless.cache import SolutionCache
from regretless.data import Dataset
from regretless.instance_weights import relative_weights
from regretless.training.stacked_models import Parameters, StackedModels


class HeldOut:
    """Scores predictions for instances that a run did not train on.

    Where the data has weights, each regret is multiplied by the weight of its instance in units of their mean, so that
    a mean over instances is the weighted mean.

    Args:
        cache: shared by the search.
        data: all training instances.
        folds: held-out positions of each fold; stream f of a stack is trained without fold f.
        begun: file that keeps the solves of exact regrets, for a search that is interrupted.
        progress: show a bar for exact regrets; by default on a terminal.
    """

    def __init__(
        self,
        cache: SolutionCache,
        data: Dataset,
        folds: Sequence[Tensor],
        *,
        begun: Path | None = None,
        progress: bool | None = None,
    ) -> None:
        self.cache, self.data, self.folds, self.progress = cache, data, folds, progress
        self._begun = BegunSolves(begun, cache.problem.found)
        self._costs = cache.problem.to_minimization(data.costs, data.instance)
        if (counts := relative_weights(data.weight)) is not None:  # regrets are linear in the true costs
            self._costs = counts[:, None] * self._costs
        self._exact: dict[tuple[int, bytes], float] = {}  # by instance and prediction

    @property
    def solves(self) -> int:
        """Exact solves of the scores so far, also those of a search that was interrupted."""
        return len(self._exact)

    def predict(self, models: StackedModels, parameters: Parameters) -> Tensor:
        """Held-out predictions ``(settings, n, d)``, in the precision of the models."""
        first = next(iter(parameters.values()))
        predicted = torch.zeros(first.shape[1], *self.data.costs.shape, dtype=first.dtype)
        for f, held_out in enumerate(self.folds):
            predicted[:, held_out] = models.predict_with(parameters, f, held_out).cpu()
        return predicted

    def look_up(self, models: StackedModels, parameters: Parameters) -> Tensor:
        """Held-out regrets ``(settings, n)`` of every setting, by look-up."""
        return torch.stack([self.regrets(costs) for costs in self.predict(models, parameters)])

    def regrets(self, predicted: Tensor) -> Tensor:
        """Regrets ``(n,)`` of predictions ``(n, d)`` by look-up; infinite for predictions that are not finite."""
        if not bool(torch.isfinite(predicted).all()):
            return torch.full((len(predicted),), torch.inf, dtype=torch.float64)
        queries = self.cache.problem.to_minimization(predicted.to(torch.float64), self.data.instance)
        (found,) = self.cache.look_up([queries], self.data.instance)
        return ((found.to(torch.float64) - self.data.solutions) * self._costs).sum(dim=1)

    def exact(self, predicted: Tensor, rows: Tensor) -> Tensor:
        """Exact regrets ``(m,)`` of predictions ``(n, d)`` for the instances ``rows`` ``(m,)``.

        This takes one solve per instance, whose solution joins the cache; none where the same prediction was solved
        before, or by an interrupted search. The regret is NaN where a solve failed and the problem does not have
        ``on_failure="raise"``.
        """
        keys = [(row, blake2b(predicted[row].numpy().tobytes()).digest()) for row in rows.tolist()]
        new = [key for key in keys if key not in self._exact]
        if new:
            positions = torch.tensor([row for row, _ in new])
            self._exact |= zip(new, self._solved(predicted[positions], positions).tolist(), strict=True)
        return self._costs.new_tensor([self._exact[key] for key in keys])

    def _solved(self, predicted: Tensor, rows: Tensor) -> Tensor:
        """Exact regrets ``(m,)`` of predictions ``(m, d)`` for the instances ``rows`` ``(m,)``."""
        problem, regrets = self.cache.problem, self._costs.new_zeros(len(rows))
        members = None if self.data.instance is None else self.data.instance[rows]
        for part, solved in solve_rows(
            problem, predicted, members, self._begun, purpose="scoring", size=None, label="held-out regret",
            progress=self.progress,
        ):  # fmt: skip
            some = rows[part]
            data, instance = self.data[some], None if members is None else members[part]
            regrets[part] = metrics.checked_regrets(
                problem, solved, self._costs[some], data.solutions, instance=instance, status=data.status,
                rows=some.tolist(),
            )  # fmt: skip
            found = solved.found
            self.cache.add(solved.solution[found], None if instance is None else instance[found])
        return regrets
