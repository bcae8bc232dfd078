"""Load the problem of a user: a model file with features and costs from files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.data import Dataset
from regretless.errors import FileError, InputError, SolveError
from regretless.label_memory import LabelMemory, row_keys
from regretless.labels import some_solved
from regretless.modeling import read
from regretless.modeling.model_files import SUFFIXES
from regretless.problem import Problem
from regretless.progress import track
from regretless.solvers.found_decisions import FoundDecisions
from regretless.tables import Costs, Features, matched, read_costs, read_features
from regretless.tables.constraints import read_constraints
from regretless.tables.costs import row_order
from regretless.tables.doubtful_data import warn_of_cost_feature, warn_of_order, warn_of_two_units
from regretless.tables.encoded_column import Missing, Unseen
from regretless.tables.encoding import Encoding
from regretless.tables.exchanged_files import refuse_exchanged
from regretless.tables.features import feature_table
from regretless.tables.read_table import first_without_ignored, is_arrays
from regretless.tables.saved_problem import SavedProblem
from regretless.training.models import Kind
from regretless.types import OnFailure, Status

BATCH_SIZE = 32
Parts = tuple[Dataset, Dataset | None, Dataset | None]  # training, validation and test data
# How the library names a row of a batch; a user knows it by its name.
_OF_BATCH = re.compile(r"(no solution for )?instance \d+ of the batch( \(family member \d+\))?:? ?")


def is_model_file(name: str) -> bool:
    """Whether the name of a problem is the path of a model file."""
    return name.lower().endswith(SUFFIXES) and not name.startswith("energy:")


def load_model_file(
    name: str,
    *,
    features: str | None = None,
    costs: str | None = None,
    constraints: str | None = None,
    id: str = "instance",
    categories: Sequence[str] = (),
    ignore: Sequence[str] = (),
    missing: Missing = "refuse",
    unseen: Unseen = "refuse",
    cost_variables: str | Sequence[str] | None = None,
    validation: float = 0.0,
    test: float = 0.0,
    model: Kind = "linear",
    hidden: int = 32,
    intercepts: bool = False,
    split: str = "chronological",
    seed: int = 0,
    engine: str = "highs",
    workers: int | None = 1,
    executor: str = "threads",
    time_limit: float | None = None,
    gap: float = 0.0,
    on_failure: OnFailure = "raise",
    store: str | None = None,
) -> BenchmarkProblem:
    """Load an ``.mps`` or ``.lp`` file (``.gz`` too) with features and costs from CSV, Parquet or NPZ files.

    Args:
        name: path of the model file.
        features: path of the features, per instance or per variable.
        costs: path of the true costs, one column per cost variable.
        constraints: path of right-hand sides, bounds or known costs that differ between instances.
        id: column that names the rows of all tables.
        categories: columns of the features that are categories whatever they hold.
        ignore: columns of any table to leave out, such as comments; later tables of the run may have them, too.
        missing: ``refuse`` empty cells of the features or ``fill`` them.
        unseen: ``refuse`` levels that were never seen in training or let them count as none of the ``other`` ones.
        cost_variables: names or patterns of the variables that the costs belong to; ``None`` for those with a nonzero
            coefficient in the objective.
        validation, test: shares of the instances that are held out.
        model: ``linear``, ``quadratic``, ``splines`` or ``mlp``, with standardized features.
        hidden: units of the hidden layer of the perceptron.
        intercepts: whether every variable has a constant of its own, with features per variable.
        split: ``chronological`` (training rows first, test rows last) or ``random`` (with ``seed``).
        seed: seed of the random split.
        engine: the engine that solves the model.
        workers: instances that are solved at the same time.
        executor: who solves them: ``threads``, ``processes`` or ``ray[:ADDRESS]``.
        time_limit: seconds per solve.
        gap: relative distance to the optimum at which a solve may end.
        on_failure: with ``cache`` or ``skip`` instances without an optimum are left out, with a warning.
        store: folder that stores the true optima.

    Returns:
        The problem. If no share is held out for testing, ``test`` is the validation or the training data, and
        ``evaluated_on`` says which.

    Raises:
        FileError, InputError, MissingDependencyError: the message names file, line and column if they are known.
        SolveError: the model is infeasible or unbounded.
    """
    if features is None or costs is None:
        raise InputError(f"{name} is a model file: it needs --features and --costs, files with training data")
    # The options come first: they are the fastest to check.
    _check_shares(validation, test, split)
    milp, sense, cost_names = read(Path(name), cost_variables, keep_rows=True)
    if ignore and is_arrays(features):
        raise InputError(f"--ignore is for tables, and {features} has no columns: leave it out")
    tables = first_without_ignored((features, costs, constraints), ignore, id=id)
    refuse_exchanged(tables[0], tables[1], cost_names)
    true = read_costs(tables[1], cost_names, id=id, variables=milp.names or ())
    warn_of_two_units(costs, true.values, true.instance)
    if split == "chronological":
        warn_of_order(costs, true.instance, validation + test)
    planned = cut(_numbered(len(true.values)), validation, test, seed if split == "random" else None)
    seen, encoding = _features(
        tables[0], cost_names, true, (features, costs), planned[0].features.flatten().tolist(), id=id,
        categories=categories, missing=missing, unseen=unseen,
    )  # fmt: skip
    if encoding is not None:
        encoding = replace(encoding, ignore=tuple(dict.fromkeys(ignore)))
    warn_of_cost_feature(features, seen.values, seen.names, true.values, cost_names)
    paths = {"model": name, "features": features, "costs": costs, "constraints": constraints}
    files = {role: digest(path) for role, path in paths.items() if path is not None}
    shape, family = tuple(seen.values.shape[1:]), constraints is not None
    kept = SavedProblem(
        milp, sense, cost_names, seen.names, shape, model, hidden, engine, time_limit, files, family, encoding,
        intercepts, gap,
    )  # fmt: skip
    kept.blank()  # raises for an unknown model or a wrong size before anything is solved
    problem = kept.problem(workers=workers, executor=executor)
    problem.name, problem.on_failure = name, on_failure
    problem.found = FoundDecisions(milp.n)  # a decider falls back on them
    ids = None
    if constraints is not None:
        varied = read_constraints(tables[2], milp, id=id)
        ids = varied.join(problem.family, true.instance, len(true.values), names=(constraints, costs))
    where, known = _Where(name, costs, constraints, true.instance), LabelMemory()
    if ids is None or on_failure == "raise":  # other constraints may have a solution
        _refuse_unsolvable(problem, where, true, ids, known, store)
    try:
        data = Dataset.solve(
            problem, seen.values, true.values, instance=ids, store=store, memory=known, names=seen.instance
        )
    except SolveError as error:
        said = _OF_BATCH.sub("", str(error).partition(" Set on_failure")[0])
        raise where.error(error.row or 0, said) from error
    if not len(data):
        raise SolveError(f"{name} has no solution for any instance of {constraints or costs}: nothing can be trained")
    return assembled(name, kept, problem, cut(data, validation, test, seed if split == "random" else None))


def assembled(name: str, kept: SavedProblem, problem: Problem, parts: Parts) -> BenchmarkProblem:
    """A problem with training, validation and test data, ready to train on."""
    train, held_out, tested = parts
    on = "test" if tested is not None else "validation" if held_out is not None else "train"
    figures_on = next(part for part in (tested, held_out, train) if part is not None)
    return BenchmarkProblem(
        name=name,
        problem=problem,
        train=train,
        test=figures_on,
        validation=held_out,
        model=partial(kept.build, train.features, train.costs),
        batch_size=BATCH_SIZE,
        evaluated_on=on,
        test_names=figures_on.names,
        kept=kept.state(),
    )


def digest(path: Path | str) -> str:
    """SHA-256 of a file."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error


def _numbered(n: int) -> Dataset:
    """Positions in place of data, to see how they are cut; raises for a part without instances."""
    positions = torch.arange(n)[:, None]
    return Dataset(positions, positions, positions)


def _features(
    given: Any, cost_names: Sequence[str], true: Costs, names: tuple[str, str], train: list[int], **settings: Any
) -> tuple[Features, Encoding | None]:
    """Features in the order of the costs, and the encoding that was learned from the training instances."""
    if is_arrays(given):
        return matched(read_features(given, cost_names), true, names=names), None
    table = feature_table(given, cost_names, id=settings.pop("id"))
    counts = len(table.rows), len(true.values)
    order = row_order(table.instance, true.instance, counts=counts, names=names)
    encoding = table.learn([order[i] for i in train], **settings)
    return matched(table.encoded(encoding), true, names=names), encoding


def _check_shares(validation: float, test: float, split: str) -> None:
    if not (0 <= validation < 1 and 0 <= test < 1 and validation + test < 1):
        raise InputError(
            f"validation and test must be shares that leave some training data, got {validation} and {test}"
        )
    if split not in ("chronological", "random"):
        raise InputError(f"the split of a model file's data must be 'chronological' or 'random', got {split!r}")


@dataclass(frozen=True)
class _Where:
    """Names of the files and of the instances, for messages."""

    model: str
    costs: str
    constraints: str | None
    instance: tuple[str, ...] | None

    def error(self, row: int, said: str) -> SolveError:
        """The error for an instance without a solution: its constraints may leave none, its costs cannot."""
        which = f"instance {row} (counted from 0)" if self.instance is None else f"{self.instance[row]!r}"
        said = said.strip().removesuffix(".")
        if self.constraints is None or not said.startswith(Status.INFEASIBLE):
            return SolveError(f"{self.model} cannot be solved at the costs of {which} in {self.costs}: {said}")
        remedy = "correct the row, or leave it out with --on-failure skip"
        return SolveError(f"{self.model} is {said} with the constraints of {which} in {self.constraints}: {remedy}")


def _refuse_unsolvable(
    problem: Problem, where: _Where, true: Costs, ids: list[int] | None, known: LabelMemory, store: str | None
) -> None:
    """Report in one line what would fail for every instance; a first label becomes a ``known`` one."""
    if some_solved(problem, problem.costs(true.values), None if ids is None else torch.tensor(ids), store):
        return
    costs, members = problem.costs(true.values[:1]), None if ids is None else torch.tensor(ids[:1])
    for _ in track(range(1), total=1, label="first instance"):
        with problem.counted_as("labels"):
            first = problem.solve(costs, members)
    status, message = first.status[0], first.message.get(0, "")
    if status not in (Status.INFEASIBLE, Status.UNBOUNDED, Status.ERROR):
        if (keys := row_keys(problem, costs, members)) is not None:
            known.put(keys[0], first.solution[0], status)
        return
    if ids is not None:
        raise where.error(0, f"{status}. {message}")
    said = f" ({message})" if message and message.lower() != status else ""
    raise SolveError(f"{where.model} is {status} at the costs of the first instance of {where.costs}{said}")


def cut(data: Dataset, validation: float, test: float, seed: int | None) -> Parts:
    """Cut rows into parts."""
    shares = [1 - validation - test, *(share for share in (validation, test) if share)]
    if len(shares) == 1:
        return data[:], None, None
    parts = data.split(*shares, seed=seed)
    return parts[0], parts[1] if validation else None, parts[-1] if test else None
