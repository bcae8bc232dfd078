"""A small run on a model file, trained once for all tests."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.runs import Spec, run

ITEMS, WEIGHTS = [f"x_{i}" for i in range(5)], [3, 4, 2, 5, 1]
MODEL = f"""maximize
 value: {" + ".join(ITEMS)} - 2 rent + 10
subject to
 weight: {" + ".join(f"{w} {name}" for w, name in zip(WEIGHTS, ITEMS, strict=True))} - 4 rent <= 6
 count: {" + ".join(ITEMS)} <= 4
binary
 {" ".join(ITEMS)} rent
end
"""
TRAINED, LATER = 40, 20


@dataclass(frozen=True)
class TrainedRun:
    """Folder of a run, with features and costs of later days."""

    folder: Path
    days: tuple[str, ...]
    features: np.ndarray
    costs: np.ndarray

    @property
    def run(self) -> Path:
        return self.folder / "run"

    def write_later(self, folder: Path, *, features: str = "new.csv", costs: str = "real.csv") -> tuple[Path, Path]:
        """Write the files of the later days."""
        x = write_csv(folder / features, ["instance", "a", "b", "c"], zip(self.days, *self.features.T, strict=True))
        c = write_csv(folder / costs, ["instance", *ITEMS], zip(self.days, *self.costs.T, strict=True))
        return x, c


def write_csv(path: Path, header: list[str], rows: Any) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedRun:
    folder, generator = tmp_path_factory.mktemp("deciding"), np.random.default_rng(0)
    n = TRAINED + LATER
    features = generator.normal(size=(n, 3))
    costs = 6 + 3 * features @ generator.normal(size=(3, 5)) + 0.5 * generator.normal(size=(n, 5))
    days = [(date(2024, 1, 1) + timedelta(days=i)).isoformat() for i in range(n)]
    (folder / "model.lp").write_text(MODEL)
    old = TrainedRun(folder, tuple(days[:TRAINED]), features[:TRAINED], costs[:TRAINED])
    x, c = old.write_later(folder, features="x.csv", costs="c.csv")
    options = {"features": str(x), "costs": str(c), "cost_variables": ["x_*"], "test": 0.25}
    run(Spec(str(folder / "model.lp"), "map-dc", epochs=3, options=options), folder / "run", progress=False)
    return TrainedRun(folder, tuple(days[TRAINED:]), features[TRAINED:], costs[TRAINED:])
