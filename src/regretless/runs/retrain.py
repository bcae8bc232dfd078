"""Go on from a finished run with more data: its weights, its cache and its labels are used again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from regretless.benchmark_problem import BenchmarkProblem
from regretless.data import Dataset
from regretless.errors import FileError, InputError
from regretless.runs import run_folder as files
from regretless.runs.decide import decider
from regretless.runs.known_files import found_before
from regretless.runs.new_rows import training_rows, unknown
from regretless.runs.spec import Spec
from regretless.runs.training_run import run
from regretless.tables.doubtful_data import warn_of_order, warn_of_scale
from regretless.tables.saved_data import FILE as DATA
from regretless.tables.saved_data import has_saved_data, joined, load_saved_data
from regretless.tables.saved_problem import has_saved_problem
from regretless.tables.user_problem import Parts, assembled, cut


def go_on(
    spec: Spec, folder: Path | str, *, workers: int | None = 1, executor: str = "threads", progress: bool | None = None
) -> dict[str, Any]:
    """Do a run that goes on from another, with a specification of ``retrain_spec``; the other run stays as it is.

    Arguments and figures are those of ``run``.
    """
    folder = Path(folder)
    if folder.resolve() == Path(spec.retrain).resolve():
        raise InputError(f"{folder} is the run to go on from, which stays as it is: choose another folder")
    return run(spec, folder, load=load_more, workers=workers, executor=executor, progress=progress)


def retrain_spec(folder: Path | str, options: dict[str, Any], **changed: Any) -> Spec:
    """The specification of a run that goes on from the one in ``folder``.

    Args:
        folder: of a finished run on a model file.
        options: ``features``, ``costs`` and perhaps ``constraints``: files with the new rows; and perhaps ``unseen``.
        changed: fields of the specification that differ, such as ``epochs``.

    Raises:
        FileError: there is no finished run on a model file in the folder.
    """
    folder = Path(folder)
    old = files.read_spec(folder)
    if not has_saved_data(folder):
        own = f"it needs {DATA}" if has_saved_problem(folder) else "only runs on model files can be retrained"
        raise FileError(f"{folder} has no data to go on from: {own}")
    kept = {name: value for name, value in old.options.items() if name != "constraints"}
    fields = old.as_dict() | changed | {"options": kept | options, "start": "", "retrain": str(folder)}
    return Spec.from_dict(fields)


def load_more(
    spec: Spec, *, workers: int | None = 1, executor: str = "threads", store: Path | str | None = None
) -> BenchmarkProblem:
    """Old and new data of a run that goes on from another; only the new rows are solved.

    Rows that the run has already are left out, with a warning. With a chronological split all rows, the new ones last,
    are cut again by the shares of the first run. With a random split the parts stay as they are, and the new rows are
    spread over them. Either way no row that the weights were trained on is validated or tested on. ``store`` is a
    folder that keeps the optima of the new rows.

    Raises:
        InputError: the run has all rows already.
    """
    folder, options = Path(spec.retrain), spec.options
    old = load_saved_data(folder, workers=workers, executor=executor)
    ready = decider(folder, workers=workers, problem=old.problem, unseen=options.get("unseen"))
    old.problem.found = found_before(folder, len(ready.variable_names))
    parts = old.train, old.validation, old.test if old.evaluated_on == "test" else None
    known = joined([part for part in parts if part is not None])
    rows = ready.rows(options["features"], options["costs"], options.get("constraints"))
    fresh = unknown(rows, known, source=options["features"], run=spec.retrain)
    warn_of_scale(fresh.costs.numpy(), known.costs.numpy(), source=options["costs"], run=spec.retrain)
    new = ready.labelled(fresh, store)
    kept = ready.saved
    assert kept is not None
    shares = options.get("validation", 0.0), options.get("test", 0.0)
    drawn = options.get("split") == "random"
    if drawn:
        grown = _spread(parts, new, shares, options.get("seed", 0))
    else:
        everything = joined([known, new])
        warn_of_order(f"{spec.retrain} and {options['costs']}", everything.names, sum(shares))
        grown = cut(everything, *shares, None)
    if kept.encoding is not None:
        kept = replace(kept, encoding=kept.encoding.ranged(grown[0].features.numpy()))
    counts = training_rows(len(grown[0]), len(old.train), len(known), released=not drawn)
    return replace(assembled(spec.problem, kept, old.problem, grown), counts=counts)


def _spread(parts: Parts, new: Dataset, shares: tuple[float, float], seed: int) -> Parts:
    """Add new rows to training, validation and test data, so that the shares of all rows come close to the given ones.

    Rows are drawn by the seed, first those for the held-out parts; parts may get none where there are few rows.
    """
    order = torch.randperm(len(new), generator=torch.Generator().manual_seed(seed)).tolist()
    total = len(new) + sum(len(part) for part in parts if part is not None)
    grown: list[Dataset | None] = []
    for part, share in zip(parts[1:], shares, strict=True):
        count = 0 if part is None else max(0, round(share * total) - len(part))
        taken, order = sorted(order[:count]), order[count:]
        grown.append(joined([part, new[taken]]) if part is not None and taken else part)
    train = joined([parts[0], new[sorted(order)]]) if order else parts[0]
    return train, grown[0], grown[1]
