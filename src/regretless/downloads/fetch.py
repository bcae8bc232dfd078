"""Download public data files with pooch, verify them, and find them again.

The files are kept in the folder that the environment variable ``REGRETLESS_DATA`` names, or, if it is not set, in
``regretless/data`` under the user's cache folder. No byte of a file is used before its SHA-256 has been verified.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

from regretless.errors import FileError, InputError
from regretless.optional import need
from regretless.progress import track

VARIABLE = "REGRETLESS_DATA"
CHUNK = 1 << 16
TIMEOUT = 30.0


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


@dataclass(frozen=True)
class StatusRow:
    """The state of a data set: ``present`` means that every file is there with the right checksum."""

    name: str
    files: tuple[str, ...]
    present: bool
    bytes: int
    where: Path


def datasets() -> dict[str, DatasetRow]:
    """The table of data sets, by name."""
    return dict(DATASETS)


def files_of(name: str) -> tuple[str, ...]:
    """Names of the files of a data set, of a problem, or of a single file.

    >>> files_of("energy-2")
    ('prices2013.dat', 'energy-1.txt', 'energy-2.txt', 'energy-3.txt')

    Raises:
        InputError: no data set, problem or file has this name.
    """
    if name in FILES:
        return (name,)
    if name in DATASETS:
        return DATASETS[name].files
    found = tuple(file for row in DATASETS.values() if name in row.problems for file in row.files)
    if not found:
        known = ", ".join([*DATASETS, *dict.fromkeys(p for row in DATASETS.values() for p in row.problems), *FILES])
        raise InputError(f"there is no data set, problem or file {name!r}; known names are {known}")
    return found


def folder() -> Path:
    """The folder of the files: ``REGRETLESS_DATA``, or ``regretless/data`` under the user's cache folder."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser()
    pooch = need("pooch", pip="pooch", why="find the user's cache folder")
    return Path(pooch.os_cache("regretless")) / "data"


def locate(name: str) -> Path:
    """Return the path of a public file after verifying its checksum.

    Args:
        name: a file of the table, for example ``"Data.npz"``.

    Raises:
        InputError: the table has no such file.
        FileError: the file is missing, or its content is not the published one.
    """
    expected = _entry(name)
    path = folder() / name
    command = f"regretless data fetch {next((key for key, row in DATASETS.items() if name in row.files), name)}"
    if not path.is_file():
        origin = f" (the folder named by {VARIABLE})" if os.environ.get(VARIABLE) else ""
        raise FileError(f"{name} is not in {path.parent}{origin}; download it with: {command}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    got = hashlib.sha256(content).hexdigest()
    if got != expected.sha256:
        raise FileError(
            f"{path} has the wrong content: expected {expected.bytes} bytes with SHA-256 {expected.sha256}, got "
            f"{len(content)} bytes with {got}; delete it and run: {command}"
        )
    return path


def check_files(problem: str) -> None:
    """Raise the ``FileError`` of ``locate`` if a named problem needs a public file that is not there."""
    for row in DATASETS.values():
        if problem in row.problems:
            for name in row.files:
                locate(name)


def fetch(name: str, *, progress: bool | None = None) -> Path:
    """Download one public file into the data folder; a file that is there with the right checksum is kept.

    The file appears under its name only after its checksum has been verified; otherwise nothing is left behind.

    Args:
        name: a file of the table.
        progress: show a progress bar; by default on a terminal.

    Raises:
        InputError: the table has no such file.
        FileError: the download failed or is not the published content, or the folder cannot be written.
    """
    expected = _entry(name)
    try:
        return locate(name)
    except FileError:
        pass  # missing or damaged: a new copy replaces it
    pooch = need("pooch", pip="pooch", why="download public data")
    requests = need("requests", pip="requests", why="download public data")
    pooch.get_logger().setLevel("ERROR")

    def download(url: str, output: str, _: Any) -> None:
        total = -(-expected.bytes // CHUNK)
        with requests.get(url, stream=True, timeout=TIMEOUT) as response, Path(output).open("wb") as file:
            response.raise_for_status()
            # At most one chunk more than expected: a wrong response must not fill the disk.
            chunks = islice(response.iter_content(CHUNK), total + 1)
            for chunk in track(chunks, total=total, label=f"fetching {name}", show=progress):
                file.write(chunk)

    try:
        pooch.retrieve(expected.url, f"sha256:{expected.sha256}", name, folder(), downloader=download)
    except requests.HTTPError as error:
        said = f"{error.response.status_code} {error.response.reason}"
        raise FileError(f"cannot fetch {name}: {expected.url} answered {said}") from error
    except requests.RequestException as error:
        raise FileError(
            f"cannot fetch {name} from {expected.url}: {error}; is there a network? Without one, copy the file to a "
            f"folder and set {VARIABLE} to it"
        ) from error
    except OSError as error:
        raise FileError(f"cannot write {folder() / name}: {error}") from error
    except ValueError as error:
        raise FileError(
            f"{name} from {expected.url} is incomplete or has the wrong content: expected SHA-256 {expected.sha256}; "
            "nothing was kept, try again later"
        ) from error
    return locate(name)


def status() -> list[StatusRow]:
    """One row per data set: its files, whether all of them are present and intact, their size, and their folder."""
    return [
        StatusRow(name, row.files, all(map(_is_good, row.files)), sum(FILES[f].bytes for f in row.files), folder())
        for name, row in DATASETS.items()
    ]


def _is_good(name: str) -> bool:
    try:
        locate(name)
    except FileError:
        return False
    return True


def _entry(name: str) -> PublicFile:
    if name not in FILES:
        raise InputError(f"there is no public file {name!r}; known files are {', '.join(FILES)}")
    return FILES[name]
