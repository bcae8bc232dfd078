"""Public data files: their addresses and checksums, where they lie, and how they are fetched.

A file is looked for in the folder named by the environment variable ``REGRETLESS_DATA``, or, where that is not set, in
``regretless/data`` under the user's cache folder. No byte of it is used before its SHA-256 has been verified.
"""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from regretless.downloads.public_files import DATASETS, FILES, DatasetRow, PublicFile
from regretless.errors import FileError, InputError
from regretless.progress import track
from regretless.storage import write_bytes

VARIABLE = "REGRETLESS_DATA"
CHUNK = 1 << 16
TIMEOUT = 30.0


@dataclass(frozen=True)
class StatusRow:
    """How a data set stands: ``present`` means that every file is there with the right checksum."""

    name: str
    files: tuple[str, ...]
    present: bool
    bytes: int
    where: Path


_verified: dict[Path, tuple[int, int]] = {}


def datasets() -> dict[str, DatasetRow]:
    """The table of data sets, by name."""
    return dict(DATASETS)


def files_of(name: str) -> tuple[str, ...]:
    """Names of the files behind a data set, a problem or a single file.

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
        raise InputError(f"there is no data set, problem or file {name!r}; known are {known}")
    return found


def folder() -> Path:
    """Where the files lie: ``REGRETLESS_DATA``, or ``regretless/data`` under the user's cache folder."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser()
    if os.environ.get("XDG_CACHE_HOME"):
        base = Path(os.environ["XDG_CACHE_HOME"])
    elif sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        base = Path(os.environ["LOCALAPPDATA"])
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return base / "regretless" / "data"


def locate(name: str) -> Path:
    """Return the path of a public file whose checksum has been verified (once a process).

    Args:
        name: a file of the table, for example ``"Data.npz"``.

    Raises:
        InputError: the table has no such file.
        FileError: the file is not there, or its content is not the published one.
    """
    expected = _entry(name)
    path = folder() / name
    if not path.is_file():
        origin = f" (the folder named by {VARIABLE})" if os.environ.get(VARIABLE) else ""
        raise FileError(f"{name} is not in {path.parent}{origin}; get it with: regretless data fetch {_dataset(name)}")
    stat = path.stat()
    stamp = (stat.st_size, stat.st_mtime_ns)
    if _verified.get(path) != stamp:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileError(f"cannot read {path}: {error.strerror or error}") from error
        fault = _fault(content, expected)
        if fault:
            raise FileError(f"{path} {fault}; delete it and run: regretless data fetch {_dataset(name)}")
        _verified[path] = stamp
    return path


def fetch(name: str, *, progress: bool | None = None) -> Path:
    """Download one public file, verify it, and put it in the data folder; a good file that is there is kept.

    The file appears under its name only when it is whole and its checksum is right; otherwise nothing is left behind.

    Args:
        name: a file of the table.
        progress: show a bar; by default on a terminal.

    Raises:
        InputError: the table has no such file.
        FileError: the address cannot be reached, or what came is cut short or not the published content.
    """
    expected = _entry(name)
    try:
        return locate(name)
    except FileError:
        pass  # not there, or damaged: a new copy takes its place
    content = _download(name, expected, progress)
    fault = _fault(content, expected)
    if fault:
        raise FileError(f"{name} from {expected.url} {fault}; nothing was kept, try again later")
    write_bytes(folder() / name, content)
    return locate(name)


def status() -> list[StatusRow]:
    """One row a data set: its files, whether they are all there and right, their size, and where they belong."""
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
        raise InputError(f"there is no public file {name!r}; known are {', '.join(FILES)}")
    return FILES[name]


def _dataset(file: str) -> str:
    return next((name for name, row in DATASETS.items() if file in row.files), file)


def _fault(content: bytes, expected: PublicFile) -> str:
    """What is wrong with the content; empty when nothing is."""
    if len(content) < expected.bytes:
        return f"is cut short: expected {expected.bytes} bytes, got {len(content)}"
    got = hashlib.sha256(content).hexdigest()
    return "" if got == expected.sha256 else f"has the wrong content: expected SHA-256 {expected.sha256}, got {got}"


def _download(name: str, expected: PublicFile, progress: bool | None) -> bytes:
    request = urllib.request.Request(expected.url, headers={"User-Agent": "regretless"})
    chunks: list[bytes] = []
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            # One chunk more than expected is read at most: a wrong answer must not fill the memory.
            total = -(-expected.bytes // CHUNK)
            chunks += track(_chunks(response, total + 1), total=total, label=f"fetching {name}", show=progress)
    except urllib.error.HTTPError as error:
        raise FileError(f"cannot fetch {name}: {expected.url} answered {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:  # URLError, refused, reset and timed-out connections are OSErrors
        reason = getattr(error, "reason", None) or error
        raise FileError(
            f"cannot fetch {name} from {expected.url}: {reason}; is there a network? Without one, copy the file "
            f"to a folder and set {VARIABLE} to it"
        ) from error
    return b"".join(chunks)


def _chunks(response: object, most: int) -> Iterator[bytes]:
    for _ in range(most):
        chunk: bytes = response.read(CHUNK)  # type: ignore[attr-defined]
        if not chunk:
            return
        yield chunk
