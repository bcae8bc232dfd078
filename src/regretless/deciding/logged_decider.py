"""A decider that logs every decision, so that an audit can say later what they were worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, final

import torch

from regretless.deciding.decider import Decider
from regretless.deciding.decision import Decision, Found
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record, decision_key
from regretless.deciding.logged_decisions import log_files, record_of, settled
from regretless.runs.run_folder import read_two_stage
from regretless.tables.cells import row_name
from regretless.tables.constraints import constraint_numbers
from regretless.types import Status


@final
class LoggedDecider:
    """Decide for one instance at a time, and log what was decided; thread-safe.

    A decision is committed to the log before it is returned. The same instance with the same features and constraints
    is decided once: a second request returns the decision of the log, unless no feasible one was found in time.

    Args:
        folder: of a finished run on a model file.
        log: file of the log, which is created where there is none (see ``audit_decisions``).
        options: of ``Decider.load``.

    Raises:
        FileError: there is no finished run in the folder, or the log cannot be written.
    """

    def __init__(self, folder: Path | str, log: Path | str, **options: Any) -> None:
        self.decider = Decider.load(folder, **options)
        self.log = DecisionLog(log)
        self._run = self.log.add_run(log_files(self.decider, folder))
        self._baseline = read_two_stage(self.decider.run.blank, Path(folder))

    def __enter__(self) -> LoggedDecider:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the log and end the idle threads of the decider."""
        self.log.close()
        self.decider.close()

    def decide(
        self,
        instance: Any,
        features: Any,
        constraints: Mapping[str, float] | None = None,
        *,
        deadline: float | None = 0.2,
    ) -> Decision:
        """Decide and log.

        Args:
            instance: its name, by which an audit finds the true costs: a text, a number or a date.
            features, constraints, deadline: as in ``Decider.decide``.
        """
        instance, given = row_name(instance), constraint_numbers(constraints or {})
        seen = self.decider.seen(features)
        key = decision_key(self._run, instance, seen.to(torch.float64).numpy(), given)
        there = settled(self.log.find([key]))
        if there:
            self.log.append([there[key]])  # it counts again where another replaced it
        else:
            answer = self.decider.decide(seen, given, deadline=deadline)
            if self.log.append([record_of(self._run, instance, seen, given, answer, self._baseline)]):
                return answer
            there = self.log.find([key])  # another process logged it in the meantime, or neither one is feasible
        return self._logged(there[key])

    def _logged(self, record: Record) -> Decision:
        names, costs = self.decider.run.variable_names, self.decider.run.cost_names
        return Decision(
            decision=dict(zip(names, record.decision.tolist(), strict=True)),
            predicted=dict(zip(costs, record.predicted.tolist(), strict=True)),
            objective=record.objective,
            status=Status(record.status),
            found=cast(Found, record.found),
            gap=record.gap,
            violated=self.decider.violated(record.decision, record.constraints) if record.found == "infeasible" else (),
            message=f"decided at {record.at}, as the log says",
        )
