"""A small model of the user's own with data in files, and the real command line."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regretless.cli import main

ITEMS = [f"x_{i}" for i in range(5)]
WEIGHTS = [3, 4, 2, 5, 1]
MODEL = f"""maximize
 value: {" + ".join(f"{i + 1} {name}" for i, name in enumerate(ITEMS))} - 2 rent + 10
subject to
 weight: {" + ".join(f"{w} {name}" for w, name in zip(WEIGHTS, ITEMS, strict=True))} - 4 rent <= 6
binary
 {" ".join(ITEMS)} rent
end
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line that a failed command leaves."""
        assert self.code in (1, 2), (self.code, self.out, self.err)
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: ")
        assert "Traceback" not in self.err + self.out
        return lines[0]


class CommandLine:
    """``regretless`` in this process: what it prints and how it ends."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *words: object) -> Result:
        self.capsys.readouterr()
        code: object = 0
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            code = end.code
        printed = self.capsys.readouterr()
        assert isinstance(code, int | None)
        return Result(code or 0, printed.out, printed.err)

    def ok(self, *words: object) -> Result:
        result = self(*words)
        assert result.code == 0, result.out + result.err
        return result


@dataclass(frozen=True)
class Files:
    folder: Path
    features: np.ndarray
    costs: np.ndarray

    @property
    def model(self) -> Path:
        return self.folder / "knapsack.lp"

    @property
    def x(self) -> Path:
        return self.folder / "x.csv"

    @property
    def c(self) -> Path:
        return self.folder / "c.csv"

    def words(self, out: str | Path = "run", **changed: object) -> list[object]:
        """A short train command; ``None`` leaves a word out."""
        options: dict[str, object] = {
            "cost-variables": "x_*", "features": self.x, "costs": self.c, "method": "map-dc", "p-solve": 0.2,
            "seed": 0, "epochs": 1, "validation": 0.2, "test": 0.2, "out": self.folder / out,
        }  # fmt: skip
        options |= {name.replace("_", "-"): value for name, value in changed.items()}
        pairs = [(f"--{name}", value) for name, value in options.items() if value is not None]
        return ["train", self.model, *(word for pair in pairs for word in pair)]


def write_csv(path: Path, header: list[str], rows: Any) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def make_files(folder: Path, n: int = 40) -> Files:
    generator = np.random.default_rng(0)
    features = generator.normal(size=(n, 3))
    costs = 6 + features @ generator.normal(size=(3, 5)) + 0.1 * generator.normal(size=(n, 5))
    files = Files(folder, features, costs)
    files.model.write_text(MODEL)
    write_csv(files.x, ["a", "b", "c"], features.tolist())
    write_csv(files.c, ITEMS[::-1], costs[:, ::-1].tolist())
    return files
