from __future__ import annotations

from pathlib import Path

import numpy as np

from regretless.cli.columns_read import columns_line
from regretless.tables.encoded_column import Column

from .files import CommandLine, Files, write_csv


def test_kinds_are_counted_and_columns_named() -> None:
    columns = (Column("zone", "category"), Column("kind", "category"), *(Column(f"n{i}", "number") for i in range(7)))
    assert columns_line(columns) == "features: 2 categories (zone, kind), 7 numbers (n0, n1, n2, n3, n4 and 2 more)"


def test_training_says_how_it_read_each_column_but_not_in_json(files: Files, cli: CommandLine) -> None:
    rows = [[i % 5, "north" if i % 2 else "south"] for i in range(40)]
    write_csv(files.x, ["wind", "zone"], rows)
    words = {"method": "two-stage", "p_solve": None, "epochs": 1}
    assert "\nfeatures: 1 number (wind), 1 category (zone)\n" in cli.ok(*files.words(**words)).out
    assert "two_stage_regret" in cli.ok(*files.words("again", **words), "--json").json


def test_arrays_have_no_columns_to_name(files: Files, cli: CommandLine, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", features=files.features)
    words = {"method": "two-stage", "p_solve": None, "epochs": 1, "features": tmp_path / "x.npz"}
    assert "features:" not in cli.ok(*files.words(**words)).out
