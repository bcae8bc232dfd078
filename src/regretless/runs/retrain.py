"""Go on from a finished run with more data: its weights, its cache and its labels are used again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import FileError, InputError
from regretless.runs import run_folder as files
from regretless.runs.decide import decider
from regretless.runs.known_files import found_before
from regretless.runs.spec import Spec
from regretless.runs.spec_check import check_spec
from regretless.runs.training_run import run
from regretless.tables.saved_data import has_saved_data, joined, load_saved_data
from regretless.tables.user_problem import assembled, cut


def go_on(
    spec: Spec, folder: Path | str, *, workers: int = 1, executor: str = "threads", progress: bool | None = None
) -> dict[str, Any]:
    """Do a run that goes on from another, and keep it in ``folder``; the other run stays as it is.

    Args:
        spec: of ``retrain_spec``.
        folder: where to keep it.
        workers: instances that are solved at the same time.
        executor: who solves them: ``threads``, ``processes`` or ``ray[:ADDRESS]``.
        progress: show bars; by default on a terminal.

    Returns:
        The figures, as ``run``.
    """
    folder = Path(folder)
    if folder.resolve() == Path(spec.retrain).resolve():
        raise InputError(f"{folder} is the run to go on from, which stays as it is: choose another folder")
    files.refuse_another(folder, spec)
    check_spec(spec, workers=workers, executor=executor)
    return run(spec, folder, loaded=load_more(spec, workers=workers, executor=executor), progress=progress)


def retrain_spec(folder: Path | str, options: dict[str, Any], **changed: Any) -> Spec:
    """The specification of a run that goes on from the one in ``folder``.

    Args:
        folder: of a finished run on a model file.
        options: ``features``, ``costs`` and perhaps ``constraints``: files with the new rows.
        changed: fields of the specification that differ, such as ``epochs``.

    Raises:
        FileError: there is no finished run on a model file in the folder.
    """
    folder = Path(folder)
    old = files.read_spec(folder)
    if not has_saved_data(folder):
        raise FileError(f"{folder} has no data to go on from: only runs on model files can be retrained")
    kept = {name: value for name, value in old.options.items() if name != "constraints"}
    fields = old.as_dict() | changed | {"options": kept | options, "start": "", "retrain": str(folder)}
    return Spec.from_dict(fields)


def load_more(spec: Spec, *, workers: int = 1, executor: str = "threads") -> BenchmarkProblem:
    """Old and new data of a run that goes on from another; only the new rows are solved.

    All rows, the new ones last, are cut into training, validation and test data by the shares of the first run: with a
    chronological split the newest rows are tested on.
    """
    folder, options = Path(spec.retrain), spec.options
    old = load_saved_data(folder, workers=workers, executor=executor)
    ready = decider(folder, workers=workers, problem=old.problem)
    old.problem.found = found_before(folder, len(ready.variable_names))
    new = ready.labelled(options["features"], options["costs"], options.get("constraints"))
    kept = ready.saved
    assert kept is not None
    parts = [old.train, old.validation, old.test if old.evaluated_on == "test" else None]
    every = joined([*(part for part in parts if part is not None), new])
    seed = options.get("seed", 0) if options.get("split") == "random" else None
    shares = options.get("validation", 0.0), options.get("test", 0.0)
    return assembled(spec.problem, kept, old.problem, cut(every, *shares, seed))
