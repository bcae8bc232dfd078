"""The table of public files (``public_files.toml``): addresses, checksums, and the data sets they belong to."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class PublicFile:
    """A public file: its address, the SHA-256 of its content, and its length in bytes."""

    url: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class DatasetRow:
    """A data set: its files, what they are, whom to cite, and the problems that need it."""

    files: tuple[str, ...]
    what: str
    cite: str
    problems: tuple[str, ...]


FILES: dict[str, PublicFile] = {}
DATASETS: dict[str, DatasetRow] = {}

for _name, _row in tomllib.loads((files(__package__) / "public_files.toml").read_text(encoding="utf-8")).items():
    for _file in _row["files"]:
        _url = _row["source"] + _file.get("path", _file["name"])
        FILES[_file["name"]] = PublicFile(_url, _file["sha256"], _file["bytes"])
    _names = tuple(_file["name"] for _file in _row["files"])
    DATASETS[_name] = DatasetRow(_names, _row["what"], _row["cite"], tuple(_row["problems"]))
