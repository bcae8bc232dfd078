"""Files with tensors and plain data, written atomically and without pickle.

One file holds the tensors of a nested state (safetensors) and, in its header, the rest of it as JSON together with a
format name, a version and a checksum over all of it. It is written to a temporary name beside its place, flushed and
renamed. Equal states give equal bytes.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import secrets
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regretless.errors import FileError, InputError
from regretless.optional import need

# What the content of a file may raise when it is not what was written; readers turn it into a FileError.
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
_TENSOR = "__tensor__"
# One key only: safetensors writes several in an order that changes from run to run.
_HEADER = "regretless"
TEMPORARY = f".*.{'[0-9a-f]' * 8}.tmp"  # pattern of the names of files that are being written
BUSY_SECONDS = 2.0  # for another program of Windows to close a file


def write_bytes(path: Path | str, content: bytes | memoryview) -> None:
    """Write a file atomically: temporary name in the same folder, flush to disk, rename."""
    write_parts(path, [content])


def write_parts(path: Path | str, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file atomically, part by part; an error of ``parts`` leaves what was there before unchanged."""
    path = Path(path)
    # Cut: with a name of the largest length, 255 bytes, a longer temporary one could not be made.
    temporary = path.with_name(f".{path.name[:50]}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = temporary.open("xb")
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}; is the folder there and writable?") from error
    try:
        with file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        _replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FileError(
            f"cannot write {path}: {error.strerror or error}; what was there before is unchanged"
        ) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _replace(temporary: Path, path: Path) -> None:
    """Rename; Windows replaces no file that is open elsewhere, as in a virus scanner, until it is closed."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            os.replace(temporary, path)
            return
        except PermissionError:
            if sys.platform == "win32" and time.monotonic() < deadline:
                time.sleep(0.02)
                continue
            raise


def write_text(path: Path | str, text: str) -> None:
    """Write a text file atomically."""
    write_bytes(path, text.encode("utf-8"))


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as the text of a CSV file with a header; what a row does not have is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_json(path: Path | str, value: Any) -> None:
    """Write plain data as ``strict`` JSON, atomically."""
    write_text(path, json.dumps(strict(value), indent=2, sort_keys=True, allow_nan=False) + "\n")


def strict(value: Any) -> Any:
    """Plain data for readers of strict JSON: NaN and infinity become ``None``."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [strict(item) for item in value]
    return value


def read_json(path: Path | str) -> Any:
    """Read JSON; a damaged file is an error that names it. NaN and infinity are read, as version 0.1 wrote them."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"cannot read {path} as JSON: {error}") from error


def save_state(path: Path | str, state: Any, *, kind: str, version: int = 1) -> None:
    """Write a nested state (dicts, lists, tuples, numbers, strings, ``None``, tensors) to one file.

    Args:
        path: of the file.
        state: what to keep; dictionary keys are strings or integers.
        kind: the format's name, checked on reading.
        version: the format's version, checked on reading.

    Raises:
        InputError: the state holds something else.
        FileError: the file cannot be written; what was there before is unchanged.
    """
    tensors: dict[str, Tensor] = {}
    try:
        split = _split(state, tensors)
    except RecursionError as error:
        raise InputError("a state must be a tree, got one that holds itself or is nested too deeply") from error
    header: dict[str, Any] = {"format": f"regretless.{kind}", "version": version, "state": split}
    header["sha256"] = _checksum(header, tensors)
    save = need("safetensors.torch", pip="safetensors", why="write caches and checkpoints").save
    write_bytes(path, save(tensors, metadata={_HEADER: json.dumps(header, sort_keys=True)}))


def load_state(path: Path | str, *, kind: str, version: int = 1) -> Any:
    """Read what ``save_state`` wrote.

    Raises:
        FileError: the file is missing, damaged, foreign, or of a newer version; the message names the file and the
            field.
    """
    load = need("safetensors.torch", pip="safetensors", why="read caches and checkpoints").load
    path = Path(path)
    try:
        # Read, not mapped: a file that changes later must not change what was loaded from it.
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        size = int.from_bytes(content[:8], "little")
        tensors: dict[str, Tensor] = load(content)
        fields = json.loads(content[8 : 8 + size]).get("__metadata__", {})
        header = json.loads(fields.get(_HEADER, "{}"))
        expected = _checksum(header, tensors)
    except Exception as error:  # damaged bytes can make the readers raise anything
        raise FileError(f"{path} is damaged or not a regretless file: {error}") from error
    if header.get("format") != f"regretless.{kind}":
        raise FileError(f"{path}: field 'format' must be 'regretless.{kind}', got {header.get('format')!r}")
    if type(header.get("version")) is not int:
        raise FileError(f"{path}: field 'version' must be an integer, got {header.get('version')!r}")
    if header["version"] > version:
        raise FileError(
            f"{path}: field 'version' is {header['version']}, this library reads up to {version}; upgrade regretless"
        )
    if header.get("sha256") != expected:
        raise FileError(f"{path}: field 'sha256' does not match the content; the file is damaged")
    try:
        return _join(header["state"], tensors)
    except Exception as error:
        raise FileError(f"{path}: field 'state' cannot be read: {error}") from error


def _checksum(header: dict[str, Any], tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(json.dumps([header.get(field) for field in ("format", "version", "state")]).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name}:{tensor.dtype}:{tuple(tensor.shape)}".encode())
        digest.update(tensor.view(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b"")
    return digest.hexdigest()


def _split(value: Any, tensors: dict[str, Tensor]) -> Any:
    """Replace tensors by references; mark integer keys and tuples, which JSON does not have."""
    if isinstance(value, Tensor):
        name = str(len(tensors))
        # ``contiguous`` would leave the strides of a view with one number, whose bytes torch refuses to show.
        tensors[name] = value.detach().cpu().clone(memory_format=torch.contiguous_format)
        return {_TENSOR: name}
    if isinstance(value, dict):
        odd = [key for key in value if not isinstance(key, str | int)]
        if odd:
            raise InputError(f"keys of a state are strings or integers, got {odd[0]!r}")
        return {"d": [[key, _split(item, tensors)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        return {"l" if isinstance(value, list) else "t": [_split(item, tensors) for item in value]}
    if isinstance(value, np.integer | np.floating | np.bool_):  # a user's setting, such as a seed drawn by NumPy
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InputError(f"a state holds numbers, strings, lists, dictionaries and tensors, got {type(value).__name__}")


def _join(value: Any, tensors: dict[str, Tensor]) -> Any:
    if not isinstance(value, dict):
        return value
    if _TENSOR in value:
        return tensors[value[_TENSOR]]
    if "d" in value:
        return {key: _join(item, tensors) for key, item in value["d"]}
    if "t" in value:
        return tuple(_join(item, tensors) for item in value["t"])
    return [_join(item, tensors) for item in value["l"]]
