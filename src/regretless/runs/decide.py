"""Use a trained run: read features, predict costs, and solve for the decisions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import get_args

import torch
from torch import Tensor, nn

from regretless.begun_solves import BegunSolves
from regretless.data import Dataset
from regretless.errors import InputError, SolveError
from regretless.family import Family, member
from regretless.milp import MILP
from regretless.modeling import read
from regretless.problem import Problem
from regretless.runs.new_rows import Rows
from regretless.runs.run_folder import read_spec, with_weights
from regretless.runs.training_run import load_trained
from regretless.solve_batches import solve_batches
from regretless.solvers.checked_solve import check_finite
from regretless.tables import Costs, Features, read_costs, read_features
from regretless.tables.constraints import read_constraints
from regretless.tables.costs import row_order
from regretless.tables.encoded_column import Unseen
from regretless.tables.npz_file import finite, read_arrays
from regretless.tables.saved_data import has_saved_data
from regretless.tables.saved_problem import SavedProblem, has_saved_problem, load_saved_problem
from regretless.tables.table import ordered, suffix_of
from regretless.tensors import ids as integer_ids
from regretless.training import predict
from regretless.types import Decisions

SOLVE_BATCH = 64


@dataclass(frozen=True, eq=False)
class LoadedRun:
    """A trained model with the problem that it predicts for.

    Attributes:
        problem: the exact oracle.
        model: maps features to costs.
        cost_names: of the predicted costs.
        variable_names: of the decision.
        example: ``(0, ...)`` features with the shape and type that the model takes.
        blank: makes a model of the same kind with other weights.
        saved: the problem of a run on a model file; ``None`` for problems by name.
    """

    problem: Problem
    model: nn.Module
    cost_names: tuple[str, ...]
    variable_names: tuple[str, ...]
    example: Tensor
    blank: Callable[[], nn.Module]
    saved: SavedProblem | None = None

    @property
    def needs_constraints(self) -> bool:
        """Whether constraints differed between the instances of training."""
        return self.saved is not None and self.saved.family

    def read(self, path: Path | str, constraints: Path | str | None = None) -> tuple[Features, Tensor | None]:
        """Read features for this model, matched by name, and the ids of the instances, for families.

        Args:
            path: the features.
            constraints: right-hand sides, bounds or known costs per instance, for runs on model files; instances that
                the family does not have yet join it. Without it the model of the run is that of every instance.
        """
        if self.saved is None:
            if constraints is not None:
                raise InputError("--constraints is for runs on model files; a named problem has its own constraints")
            return self._read_arrays(Path(path))
        seen = _fitting(
            read_features(self.saved.table(path), self.cost_names, self.saved.encoding), self.saved, Path(path)
        )
        return seen, self._members(seen, Path(path), constraints)

    def _members(self, seen: Features, path: Path, constraints: Path | str | None) -> Tensor | None:
        assert self.saved is not None
        if not isinstance(self.problem.model, Family):
            if constraints is not None:
                raise InputError(f"the run was trained without constraints that differ: it cannot use {constraints}")
            return None
        count = len(seen.values)
        if constraints is None:
            return torch.full((count,), self.problem.family.add()[0])
        varied = read_constraints(self.saved.table(constraints), self.saved.milp, id=self.saved.id)
        ids = varied.join(self.problem.family, seen.instance, count, names=(str(constraints), str(path)))
        return torch.tensor(ids)

    def rows(self, features: Path | str, costs: Path | str, constraints: Path | str | None = None) -> Rows:
        """Read features, true costs and perhaps constraints; nothing is solved.

        Raises:
            FileError, InputError: a file is wrong, or the run was trained with constraints and these rows have none, so
                that the optima of the model as it is written are not theirs.
        """
        if constraints is None and self.needs_constraints:
            raise InputError(
                f"the run was trained with constraints per instance: give those of {features}, too, with --constraints"
            )
        seen, ids = self.read(features, constraints)
        true = read_costs(costs, self.cost_names) if self.saved is None else self.saved.costs(costs)
        if self.saved is None and ids is not None:  # ids of a family's members may repeat: rows are in the same order
            true = Costs(true.values, None)
        counts, names = (len(seen.values), len(true.values)), (str(features), str(costs))
        order = row_order(seen.instance, true.instance, counts=counts, names=names)
        instance = None if ids is None else ids[order]
        true_costs = torch.as_tensor(true.values).to(torch.float64)
        return Rows(self._tensor(seen)[order], true_costs, instance, true.instance)

    def labelled(self, rows: Rows, store: Path | str | None = None, begun: BegunSolves | None = None) -> Dataset:
        """Solve the true optima of rows, or find them in a folder that stores them or among the solves of a job.

        Raises:
            SolveError: a row has no solution, and the run was not trained with ``on_failure`` ``cache`` or ``skip``.
        """
        try:
            return Dataset.solve(
                self.problem, rows.features, rows.costs, instance=rows.instance, store=store, begun=begun,
                names=rows.names,
            )  # fmt: skip
        except SolveError as error:
            row = error.row or 0
            name = f"row {row} (counted from 0)" if rows.names is None else f"instance {rows.names[row]!r}"
            said = str(error).partition(" Set on_failure")[0]
            said = re.sub(r"instance \d+ of the batch( \(family member \d+\))?", name, said)
            remedy = "leave it out, or use a run that was trained with --on-failure skip"
            raise SolveError(f"{said.rstrip(' .')}: {remedy}") from error

    def decide(
        self, features: Features, ids: Tensor | None = None, *, progress: bool | None = None
    ) -> tuple[Tensor, Decisions]:
        """Predict costs ``(n, d)`` and solve them exactly; ``progress`` shows a bar, by default on a terminal."""
        predicted = predict(self.model, self._tensor(features)).to(torch.float64)
        check_finite(predicted)
        parts = solve_batches(self.problem, len(predicted), size=SOLVE_BATCH, label="decisions", progress=progress)
        with self.problem.counted_as("decisions"):
            solved = [self.problem.solve(predicted[part], None if ids is None else ids[part]) for part in parts]
        return predicted, _joined(solved)

    def _read_arrays(self, path: Path) -> tuple[Features, Tensor | None]:
        """Read features of a problem by name: an NPZ file with the shape that its model takes."""
        if suffix_of(path) != ".npz":
            raise InputError(f"{path}: features of a problem by name must be an NPZ file with an array 'features'")
        arrays = read_arrays(path)
        if "features" not in arrays:
            raise InputError(f"{path} must hold an array called 'features', got {', '.join(arrays) or 'none'}")
        values = finite(path, "features", arrays["features"])
        if values.shape[1:] != self.example.shape[1:] or not values.size:
            shape = ", ".join(str(side) for side in self.example.shape[1:])
            raise InputError(f"{path}: 'features' must have shape (n, {shape}), got {values.shape}")
        given = None if "instance" not in arrays else finite(path, "instance", arrays["instance"])
        if given is not None and given.shape != values.shape[:1]:
            shape = f"({len(values)},), one id per row of 'features'"
            raise InputError(f"{path}: 'instance' must have shape {shape}, got {given.shape}")
        return Features(values, None, None), integer_ids(given)

    def _tensor(self, features: Features) -> Tensor:
        return torch.as_tensor(features.values).to(self.example.dtype)


def decider(
    folder: Path | str,
    *,
    engine: str | None = None,
    workers: int | None = 1,
    executor: str = "threads",
    time_limit: float | None = None,
    gap: float | None = None,
    model: Path | str | None = None,
    family: bool = False,
    unseen: Unseen | None = None,
    problem: Problem | None = None,
) -> LoadedRun:
    """Load a finished run.

    Args:
        folder: of the run.
        engine: in place of the one it was trained with, for runs on model files.
        workers: instances that are solved at the same time.
        executor: who solves them: ``threads``, ``processes`` or ``ray[:ADDRESS]``.
        time_limit: seconds per solve, for runs on model files.
        gap: relative distance to the optimum at which a solve may end, for runs on model files.
        model: another model file with the same cost variables and sense, in place of the run's own.
        unseen: in place of the choice of training, what to do with levels of a category that were never seen.
        problem: the run's own problem, where it is loaded already.
        family: whether constraints will differ between instances, also where they did not in training.

    Raises:
        FileError: there is no finished run in the folder, or the model file cannot be read.
        InputError: the model has other cost variables or another sense.
    """
    folder = Path(folder)
    spec = read_spec(folder)
    if unseen is not None and unseen not in get_args(Unseen):
        raise InputError(f"unseen must be 'refuse' or 'other', got {unseen!r}")
    if has_saved_problem(folder) or has_saved_data(folder):
        saved = load_saved_problem(folder)
        saved = replace(saved, family=saved.family or family)
        if unseen is not None and saved.encoding is not None:
            saved = replace(saved, encoding=replace(saved.encoding, unseen=unseen))
        if gap is not None:
            saved = replace(saved, gap=gap)
        if model is not None:
            saved = replace(saved, milp=_another_model(model, saved))
        if problem is None:
            problem = saved.problem(engine=engine, workers=workers, executor=executor, time_limit=time_limit)
            problem.name = folder.name
        problem.on_failure = spec.options.get("on_failure", "raise")
        net = with_weights(saved.blank(), folder)
        names = _names(saved.milp.names, saved.milp.n)
        return LoadedRun(problem, net, saved.cost_names, names, torch.zeros(0, *saved.shape), saved.blank, saved)
    if engine is not None or time_limit is not None or gap is not None:
        raise InputError("--engine, --time-limit and --gap are for runs on model files; a named problem has an oracle")
    if model is not None or family:
        raise InputError("--model and --constraints are for runs on model files; a named problem has its own model")
    _, loaded, net = load_trained(folder, workers=workers, executor=executor)
    problem, example = loaded.problem, loaded.test.features[:0]
    milp = None if problem.model is None else member(problem.model)
    names = _names(None, problem.dimension) if milp is None else _names(milp.names, milp.n)
    return LoadedRun(problem, net, cost_names_of(problem), names, example, lambda: loaded.model(0))


def cost_names_of(problem: Problem) -> tuple[str, ...]:
    """Names of the predicted costs of a named problem: those of its variables, or ``c0``, ``c1`` and so on."""
    milp = None if problem.model is None else member(problem.model)
    if milp is not None and milp.cost_map is None:  # every variable has its cost
        return _names(milp.names, milp.n)
    return tuple(f"c{j}" for j in range(problem.dimension))


def _another_model(path: Path | str, saved: SavedProblem) -> MILP:
    """Read a model that takes the place of the run's own."""
    try:
        milp, sense, _ = read(Path(path), saved.cost_names, keep_rows=True)
    except InputError as error:
        raise InputError(f"{path} must have the cost variables of the run: {error}") from error
    if sense != saved.sense:
        raise InputError(f"the sense of {path} must be {saved.sense!r} as in the run, got {sense!r}")
    found: MILP = milp
    return found


def _joined(parts: list[Decisions]) -> Decisions:
    """Join batches of decisions."""
    starts = list(accumulate((len(part.status) for part in parts), initial=0))[: len(parts)]
    return Decisions(
        solution=torch.cat([part.solution for part in parts]),
        decision=torch.cat([part.decision for part in parts]),
        objective=torch.cat([part.objective for part in parts]),
        status=[status for part in parts for status in part.status],
        gap=torch.cat([part.gap for part in parts]),
        message={
            start + row: text for start, part in zip(starts, parts, strict=True) for row, text in part.message.items()
        },
    )


def _names(names: tuple[str, ...] | None, n: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n)) if names is None else names


def _fitting(features: Features, saved: SavedProblem, path: Path) -> Features:
    """Put features into the order of the training data."""
    shape = tuple(features.values.shape[1:])
    if len(shape) != len(saved.shape):
        kinds = {1: "one row per instance", 2: "one row per variable and instance (columns 'instance' and 'variable')"}
        raise InputError(f"{path}: the run was trained with {kinds[len(saved.shape)]}, got {kinds[len(shape)]}")
    if features.names is not None and saved.feature_names is not None:
        values = ordered(path, features.names, features.values, saved.feature_names, "feature")
        return Features(values, saved.feature_names, features.instance)
    if shape[-1] != saved.shape[-1]:
        raise InputError(f"{path}: expected {saved.shape[-1]} features as in training, got {shape[-1]}")
    return features
