"""Decide and log every decision, for many instances or one at a time; what the log has already is not decided again."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final

import numpy as np
import torch
from torch import Tensor, nn

from regretless.deciding.decider import Decider
from regretless.deciding.decision import Decision, Found
from regretless.deciding.decision_log import DecisionLog
from regretless.deciding.decision_record import Record, decision_key
from regretless.milp import Floats
from regretless.runs import held_out
from regretless.runs.run_folder import read_two_stage
from regretless.tables import saved_problem
from regretless.tables.cells import row_name
from regretless.tables.constraints import constraint_numbers
from regretless.tensors import hash_of
from regretless.training import predict
from regretless.types import Status

HASH = "weights.sha256"
LOG_BATCH = 16  # decisions of one commit
INTERVAL = 5.0  # seconds between two commits where decisions take long


@dataclass(frozen=True, eq=False)
class LogRequest:
    """An instance to decide for: its name, its features in the order of training, and its constraints by name."""

    instance: str
    features: Floats
    constraints: Mapping[str, float]


def log_files(decider: Decider, folder: Path | str) -> dict[str, bytes]:
    """The files that an audit needs, and a hash of the weights: the model as it is used, and what training saw.

    Two runs may differ in their weights only. Without the hash they would be one run in the log.
    """
    assert decider.run.saved is not None
    with tempfile.TemporaryDirectory() as place:
        saved_problem.save_problem(place, decider.run.saved.state())
        files = {path.name: path.read_bytes() for path in Path(place).iterdir()}
    files[HASH] = hash_of(decider.model.state_dict().values()).encode()
    if (Path(folder) / held_out.FILE).is_file():
        files[held_out.FILE] = (Path(folder) / held_out.FILE).read_bytes()
    return files


def record_of(
    run: str,
    instance: str,
    seen: Tensor,
    constraints: Mapping[str, float],
    answer: Decision,
    baseline: nn.Module | None,
) -> Record:
    """What the log keeps of a decision: also the costs that two-stage would have used."""
    two_stage = None if baseline is None else predict(baseline, seen[None])[0].to(torch.float64).numpy()
    return Record(
        run, instance, seen.to(torch.float64).numpy(), np.array(list(answer.predicted.values())),
        np.array(list(answer.decision.values())), answer.objective, str(answer.status), answer.found, constraints,
        answer.gap, two_stage,
    )  # fmt: skip


def settled(there: Mapping[str, Record]) -> dict[str, Record]:
    """The records of a log that need no other decision.

    One without a feasible decision is decided again, with the time that there is now, unless the engine has found the
    model infeasible.
    """
    return {key: one for key, one in there.items() if one.found != "infeasible" or one.status == Status.INFEASIBLE}


def decide_and_log(
    decider: Decider,
    log: DecisionLog | None,
    run: str,
    requests: Sequence[LogRequest],
    *,
    baseline: nn.Module | None,
    deadline: float | None = None,
    workers: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> list[Record]:
    """Decide and log, sixteen decisions per commit, or fewer where they take seconds; an error loses none.

    Args:
        decider: of the run.
        log: where to append; ``None`` decides only.
        run: the run's name in the log, from ``DecisionLog.add_run``.
        requests: the instances.
        baseline: predicts the costs that two-stage would have used.
        deadline: seconds per decision; ``None`` waits for the engine.
        workers: decisions that are made at the same time.
        report: called after every commit with the numbers of requests that are in the log, and of those that were new.

    Returns:
        The records of all requests, in order; for a request that was logged before, the logged one.
    """

    def decided(request: LogRequest) -> Record:
        seen = decider.seen(request.features)
        answer = decider.decide(request.features, request.constraints, deadline=deadline)
        return record_of(run, request.instance, seen, request.constraints, answer, baseline)

    records: list[Record] = []
    new = 0
    threads = ThreadPoolExecutor(workers)
    try:
        for start in range(0, len(requests), LOG_BATCH):
            part = requests[start : start + LOG_BATCH]
            seen = [decider.seen(request.features).to(torch.float64).numpy() for request in part]
            keys = [decision_key(run, one.instance, x, one.constraints) for one, x in zip(part, seen, strict=True)]
            wanted = dict(zip(reversed(keys), reversed(part), strict=True))  # the first of equal ones
            there = {} if log is None else settled(log.find(keys))
            answers = threads.map(decided, [wanted[key] for key in dict.fromkeys(keys) if key not in there])
            made: dict[str, Record] = {}
            with _Commits(log) as commits:
                for key in dict.fromkeys(keys):
                    # One that another replaced since counts again; one of another process in the meantime is right.
                    made[key] = there[key] if key in there else next(answers)
                    if commits.add(made[key]) and report is not None:
                        report(start + len(made), new + commits.new)
            new += commits.new
            if log is not None:
                made = log.find(keys)
            records += [made[key] for key in keys]
            if report is not None:
                report(len(records), new)
    finally:  # after an error, such as an interruption, without waiting for decisions that have begun
        threads.shutdown(wait=False, cancel_futures=True)
    return records


class _Commits:
    """Commits records when they are all there, every few seconds while they are not, and what there is at an error."""

    def __init__(self, log: DecisionLog | None) -> None:
        self.log, self.new = log, 0
        self._left: list[Record] = []
        self._last = time.monotonic()

    def __enter__(self) -> _Commits:
        return self

    def __exit__(self, *error: object) -> None:
        self._commit()

    def add(self, record: Record) -> bool:
        """Take one more record; returns whether it and all before it were committed."""
        self._left.append(record)
        due = time.monotonic() - self._last >= INTERVAL
        if due:
            self._commit()
        return due

    def _commit(self) -> None:
        left, self._left, self._last = self._left, [], time.monotonic()
        if left:
            self.new += len(left) if self.log is None else self.log.append(left)


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
