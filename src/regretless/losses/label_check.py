"""The checks of labels: they are feasible, and neither another label nor an answer of an oracle beats them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from regretless.arrays import Array, Numbers
from regretless.errors import InputError
from regretless.labels import refuse_beaten_labels, refuse_infeasible_labels
from regretless.problem import Problem
from regretless.solvers.checked_solve import refuse_better_than_label, value_scale
from regretless.types import Status


class Noted(NamedTuple):
    """Answers of a step, and by how much the best of them leads its label."""

    lead: Any  # largest lead of an answer over its label
    answers: Sequence[Tensor | Array]
    true: Tensor | Array
    solution: Tensor | Array
    instance: Tensor | None
    problem: Problem
    given: Tensor | None  # true costs as the user gave them


class LabelCheck:
    """Answers are noted when they come, and refused at the end of the step.

    To read a number of a GPU is to wait for all that it has still to compute. At the end of the step everything else
    has been launched by then.
    """

    def __init__(self) -> None:
        self._noted: Noted | None = None
        self._given: Tensor | None = None
        self.known = False  # whether labels have been seen that are feasible

    def refuse_infeasible(self, solution: Tensor, instance: Tensor | None, problem: Problem) -> None:
        """Refuse labels ``(n, width)`` that are infeasible for the model, such as true costs in their place.

        Raises:
            InputError: with the first such row.
        """
        if solution.shape[1] != problem.width:
            raise InputError(f"solution must have shape (n, {problem.width}), got {tuple(solution.shape)}")
        if problem.is_family:
            problem.check_instance(instance, len(solution))
        # Single precision rounds large labels, and rows of large numbers then do not hold.
        if solution.dtype == torch.float64:
            refuse_infeasible_labels(problem, solution, instance)
        self.known = True

    def refuse_beaten(
        self,
        true: Tensor,
        solution: Tensor,
        instance: Tensor | None,
        problem: Problem,
        status: Sequence[Status] | None = None,
    ) -> None:
        """Refuse labels ``(n, width)`` of which some other one is better at their true costs ``(n, d)``.

        Labels that maximize where the problem minimizes, or that belong to other rows, would train without an error
        where a loss asks no oracle. Rows of zeros mean that the true costs are not known.

        Raises:
            SolveError: with the first such row.
        """
        if problem.statistics.not_optimal or true.shape != (len(solution), problem.dimension):
            return
        costs, best = (part.detach().to("cpu", torch.float64) for part in (true, solution))
        known = torch.isfinite(costs).all(dim=1) & costs.any(dim=1)
        best = best.masked_fill(~known[:, None], torch.nan)
        refuse_beaten_labels(problem, costs, best, None if instance is None else instance.cpu(), status)

    def note(
        self, answers: Sequence[Numbers], true: Numbers, solution: Numbers, instance: Tensor | None, problem: Problem
    ) -> None:
        """Note answers ``(batch, width)`` at minimizing true costs; earlier ones are refused first.

        Labels of solves that were cut short are only bounds, and are not compared.
        """
        if self._noted is not None:  # a loss that asks many times in a step does not hold all answers
            self.finish()
        if problem.statistics.not_optimal or not answers[0].shape[0]:
            return
        lead: Any
        if isinstance(true, np.ndarray):
            for answer in answers:
                lead = np.maximum.reduce(np.add.reduce(true * (solution - answer), axis=1))
                if not lead <= 0:
                    break
            else:
                return
        else:
            together = answers[0] if len(answers) == 1 else torch.stack(list(answers))
            lead = (true * (solution - together)).sum(-1).max()
        self._noted = Noted(lead, answers, true, solution, instance, problem, self._given)

    def begin(self, given: Tensor) -> None:
        """Begin a step at true costs ``(batch, d)`` as the user gave them; drop what a step noted that did not end."""
        self._noted, self._given = None, given

    def take(self) -> Noted | None:
        """What was noted since the last ``finish``, which is forgotten."""
        noted, self._noted = self._noted, None
        return noted

    def put(self, noted: Noted | None) -> None:
        """Note again what was taken: a graph has written its answers anew."""
        self._noted = noted

    def finish(self) -> None:
        """Refuse noted answers that are better than their labels beyond rounding.

        True costs of zeros mean that they are not known; what is left are known costs, at which no label is optimal.

        Raises:
            SolveError: with the first such instance.
        """
        noted = self._noted
        if noted is None:
            return
        self._noted = None
        if noted.lead.item() <= 0:
            return
        true, solution = torch.as_tensor(noted.true), torch.as_tensor(noted.solution)
        compared = None if noted.given is None else noted.given.any(dim=1)
        for answer in map(torch.as_tensor, noted.answers):
            value, label = ((true * one).sum(-1) for one in (answer, solution))
            scale = value_scale(true, answer, solution)
            refuse_better_than_label(
                value, label, scale, optimal=compared, instance=noted.instance, sense=noted.problem.sense
            )
