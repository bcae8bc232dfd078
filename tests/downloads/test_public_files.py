from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from regretless.downloads.fetch import files_of
from regretless.downloads.public_files import DATASETS, FILES


def test_every_file_belongs_to_one_data_set_and_every_problem_finds_its_files() -> None:
    owned = [file for row in DATASETS.values() for file in row.files]
    assert sorted(owned) == sorted(FILES)
    assert len(files_of("matching-25")) == 8
    assert files_of("knapsack-60") == ("Data.npz",)
    assert all(len(entry.sha256) == 64 and entry.url.startswith("https://") for entry in FILES.values())


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_the_table_describes_the_published_file(name: str) -> None:
    content = (Path(os.environ["REGRETLESS_DATA"]) / name).read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (FILES[name].bytes, FILES[name].sha256)
