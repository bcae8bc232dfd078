"""A user's problem, saved in the folder of a run, so that the run no longer needs the original files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import nn

from regretless.errors import FileError
from regretless.family import Family
from regretless.milp import MILP
from regretless.problem import Problem
from regretless.storage import MALFORMED, load_state, read_json, save_state, write_json
from regretless.tables.costs import Costs, read_costs
from regretless.tables.encoding import Encoding
from regretless.tables.read_table import without_ignored
from regretless.training.models import Kind, make_model
from regretless.training.scaling import with_cost_scale
from regretless.types import Sense

FILE, KIND, ENCODING = "problem.safetensors", "problem", "encoding.json"
# No model has such a size, but a damaged number may, and would fill the memory.
LARGEST = 10_000_000
VECTORS = ("row_lower", "row_upper", "lower", "upper", "integer", "fixed_cost")


@dataclass(frozen=True, eq=False)
class SavedProblem:
    """Everything that decisions need besides the weights.

    Attributes:
        milp: the model as it is written.
        sense: sense of its objective.
        cost_names: names of the variables whose costs are predicted, in order.
        feature_names: names of the k features; ``None`` if their file had none.
        shape: shape of the features of one instance: ``(k,)``, or ``(d, k)`` for features per variable.
        model: ``linear``, ``quadratic``, ``splines`` or ``mlp``.
        hidden: units of the hidden layer of the perceptron.
        engine: name of the engine.
        time_limit: seconds per solve.
        files: SHA-256 of the original files, by role: model, features, costs, constraints.
        family: whether constraints differ between instances; the model itself is then member 0.
        encoding: from the columns of the training data to features; ``None`` if they were arrays.
        intercepts: whether every variable has a constant of its own, with features per variable.
        gap: relative distance to the optimum at which a solve may end.
    """

    milp: MILP
    sense: Sense
    cost_names: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    shape: tuple[int, ...]
    model: Kind = "linear"
    hidden: int = 32
    engine: str = "highs"
    time_limit: float | None = None
    files: dict[str, str] | None = None
    family: bool = False
    encoding: Encoding | None = None
    intercepts: bool = False
    gap: float = 0.0

    @property
    def id(self) -> str:
        """Column that names the rows of tables."""
        return "instance" if self.encoding is None else self.encoding.id

    def table(self, path: Any) -> Any:
        """A table (a file, a data frame of true costs, or ``None``) without the columns that training ignored."""
        return without_ignored(path, () if self.encoding is None else self.encoding.ignore)

    def costs(self, path: Any) -> Costs:
        """Read true costs from a file or a data frame, as training reads them."""
        return read_costs(self.table(path), self.cost_names, id=self.id, variables=self.milp.names or ())

    @property
    def options(self) -> dict[str, Any]:
        """Settings of the engine."""
        return {"gap": self.gap} if self.gap else {}

    def problem(self, *, engine: str | None = None, time_limit: float | None = None, **how: Any) -> Problem:
        """Build the exact oracle, with ``workers`` and ``executor``; arguments override the saved settings."""
        model = Family.vary(self.milp) if self.family else self.milp
        return self.problem_of(model, engine=engine, time_limit=time_limit, **how)

    def problem_of(
        self, model: MILP | Family, *, engine: str | None = None, time_limit: float | None = None, **how: Any
    ) -> Problem:
        """The exact oracle of a model with the same variables; see ``problem``."""
        limit = self.time_limit if time_limit is None else time_limit
        return Problem(model, sense=self.sense, engine=engine or self.engine, time_limit=limit, **self.options, **how)

    def build(self, features: torch.Tensor, costs: torch.Tensor, seed: int) -> nn.Module:
        """Make a new model, scaled by training features ``(n, *shape)`` and costs ``(n, d)``."""
        how: dict[str, Any] = {"kind": self.model, "hidden": self.hidden, "intercepts": self.intercepts}
        inner = make_model(features, self.milp.dimension, seed=seed, **how)
        return with_cost_scale(inner, costs, shared=len(self.shape) == 2)

    def blank(self) -> nn.Module:
        """Make a model to load weights into; the weights include the scales."""
        return self.build(torch.zeros(2, *self.shape), torch.zeros(2, self.milp.dimension), 0)

    def state(self) -> dict[str, Any]:
        """Plain data and tensors, for ``regretless.storage``."""
        milp = self.milp
        return {
            "A": _matrix(milp.written("A")),
            "cost_map": None if milp.cost_map is None else _matrix(milp.cost_map),
            "vectors": {name: torch.as_tensor(np.asarray(milp.written(name), dtype=np.float64)) for name in VECTORS},
            "constant": milp.constant,
            "names": None if milp.names is None else list(milp.names),
            "row_names": None if milp.row_names is None else list(milp.row_names),
            "sense": self.sense,
            "cost_names": list(self.cost_names),
            "feature_names": None if self.feature_names is None else list(self.feature_names),
            "shape": list(self.shape),
            "model": {"kind": self.model, "hidden": self.hidden, "intercepts": self.intercepts},
            "engine": {"name": self.engine, "time_limit": self.time_limit, "gap": self.gap},
            "files": self.files,
            "family": self.family,
            "encoding": None if self.encoding is None else self.encoding.as_dict(),
        }


def save_problem(folder: Path | str, state: dict[str, Any]) -> None:
    """Write what ``SavedProblem.state`` returned; the encoding of the features is a JSON file of its own."""
    encoding = state["encoding"]
    if encoding is not None:
        write_json(Path(folder) / ENCODING, encoding)
    save_state(Path(folder) / FILE, state | {"encoding": encoding is not None}, kind=KIND)


def has_saved_problem(folder: Path | str) -> bool:
    """Whether a run has a saved problem."""
    return (Path(folder) / FILE).is_file()


def load_saved_problem(folder: Path | str) -> SavedProblem:
    """Read the saved problem of a run.

    Raises:
        FileError: the file is missing, damaged or foreign.
    """
    path, encoding = Path(folder) / FILE, Path(folder) / ENCODING
    state = load_state(path, kind=KIND)
    try:
        milp = MILP(
            _unpacked(state["A"]),
            **{name: state["vectors"][name].numpy() for name in VECTORS},
            cost_map=None if state["cost_map"] is None else _unpacked(state["cost_map"]),
            constant=state["constant"],
            names=None if state["names"] is None else tuple(state["names"]),
            row_names=None if state.get("row_names") is None else tuple(state["row_names"]),
        )
        names = state["feature_names"]
        sizes = [*state["shape"], state["model"]["hidden"]]
        if not 2 <= len(sizes) <= 3 or not all(type(size) is int and 0 < size < LARGEST for size in sizes):
            raise ValueError(f"sizes of features and model must be positive integers, got {sizes}")
        return SavedProblem(
            milp,
            state["sense"],
            tuple(state["cost_names"]),
            None if names is None else tuple(names),
            tuple(state["shape"]),
            state["model"]["kind"],
            state["model"]["hidden"],
            state["engine"]["name"],
            state["engine"]["time_limit"],
            state["files"],
            bool(state.get("family", False)),
            Encoding.from_dict(read_json(encoding), str(encoding)) if state.get("encoding") else None,
            bool(state["model"].get("intercepts", False)),
            float(state["engine"].get("gap", 0.0)),
        )
    except MALFORMED as error:
        raise FileError(f"{path}: field 'state' holds no problem: {error}") from error


def _matrix(matrix: Any) -> dict[str, Any]:
    parts = {"indptr": np.int64, "indices": np.int64, "data": np.float64}
    tensors = {name: torch.as_tensor(np.asarray(getattr(matrix, name), dtype=kind)) for name, kind in parts.items()}
    return {"shape": [int(side) for side in matrix.shape], **tensors}


def _unpacked(state: dict[str, Any]) -> Any:
    parts = tuple(state[name].numpy() for name in ("data", "indices", "indptr"))
    return sparse.csr_array(parts, shape=tuple(state["shape"]))
