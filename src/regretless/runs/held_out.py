"""What a run decided per instance of its held-out data, beside the best decisions and those of two-stage."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regretless import metrics
from regretless.benchmark_problem import BenchmarkProblem
from regretless.errors import FileError
from regretless.storage import MALFORMED, load_state, save_state
from regretless.training.evaluation import InstanceResults

FILE, KIND = "held_out.safetensors", "held_out"
MOST_FEATURES = 1000  # training instances whose features are kept, to compare later ones with


@dataclass(frozen=True, eq=False)
class HeldOutView:
    """Decisions on held-out data, per instance, for the variables with predicted costs.

    Attributes:
        on: which data: ``test``, ``validation`` or ``train``.
        names: of the n instances; ``None`` where the data has none.
        cost_names: of the d costs; ``None`` where the problem has none.
        sense: of the objective.
        optimal: ``(n,)`` objectives of the best decisions.
        regrets, two_stage_regrets: ``(n,)``.
        best, decided, two_stage: ``(n, d)`` decisions: the best one, that of the model and that of two-stage.
        features: ``(m, k)`` features of training instances, of all or of 1,000 spread over them; features per variable
            are averaged.
    """

    on: str
    names: tuple[str, ...] | None
    cost_names: tuple[str, ...] | None
    sense: str
    optimal: Tensor
    regrets: Tensor
    two_stage_regrets: Tensor
    best: Tensor
    decided: Tensor
    two_stage: Tensor
    features: Tensor

    def __len__(self) -> int:
        return len(self.regrets)


def write_held_out(
    folder: Path, loaded: BenchmarkProblem, decided: InstanceResults, two_stage: InstanceResults
) -> None:
    """Write the view of a run on ``loaded.test``."""
    problem, data, d = loaded.problem, loaded.test, loaded.problem.dimension
    state: dict[str, Any] = {
        "on": loaded.evaluated_on,
        "names": None if loaded.test_names is None else list(loaded.test_names),
        "cost_names": None if problem.cost_names is None else list(problem.cost_names),
        "sense": problem.sense,
        "optimal": metrics.optimal_values(problem, data.costs, data.solutions, data.instance),
        "regrets": decided.regrets,
        "two_stage_regrets": two_stage.regrets,
        "best": data.solutions[:, :d].contiguous(),
        "decided": decided.solutions[:, :d].contiguous(),
        "two_stage": two_stage.solutions[:, :d].contiguous(),
        "features": _spread(loaded.train.features),
    }
    save_state(folder / FILE, state, kind=KIND)


def read_held_out(folder: Path | str) -> HeldOutView | None:
    """Read the view of a run; ``None`` where it has none.

    Raises:
        FileError: the file is damaged.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        return None
    state = load_state(path, kind=KIND)
    try:
        names = {key: None if state[key] is None else tuple(state[key]) for key in ("names", "cost_names")}
        view = HeldOutView(**{**state, **names})
        sizes = {len(getattr(view, name)) for name in ("optimal", "two_stage_regrets", "best", "decided", "two_stage")}
        if sizes != {len(view)}:
            raise ValueError("its parts have different numbers of instances")
    except MALFORMED as error:
        raise FileError(f"{path}: field 'state' holds no decisions on held-out data: {error}") from error
    return view


def _spread(features: Tensor) -> Tensor:
    """At most ``MOST_FEATURES`` rows ``(m, k)``, evenly spread."""
    step = max(1, -(-len(features) // MOST_FEATURES))
    return per_instance(features[::step].to(torch.float64)).contiguous()


def per_instance(features: Tensor) -> Tensor:
    """Features of instances as they are, those of variables as their means over the variables."""
    return features.flatten(1, -2).mean(dim=1) if features.ndim > 2 and features.shape[-1] else features
