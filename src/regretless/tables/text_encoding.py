"""The encoding of a text file: UTF-8, or UTF-16 where its first bytes say so; never another one by guess.

Windows-1252 and its relatives decode almost any bytes, so that a wrong guess would show only as other words in one of
two files.
"""

from __future__ import annotations

import codecs
from pathlib import Path

SAVE_AS = "save it as UTF-8 (in Excel: 'CSV UTF-8')"


def encoding_of(path: Path) -> str:
    """The encoding of a file, by its byte order mark: Excel's 'Unicode text' is UTF-16."""
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


def not_decoded(path: Path) -> str:
    """The first line of a file that is not in its encoding, and why, for messages."""
    encoding = encoding_of(path)
    try:
        path.read_bytes().decode(encoding)
    except UnicodeDecodeError as error:
        content, name = error.object, encoding.removesuffix("-sig")
        line = content[: error.start].decode(name, errors="ignore").count("\n") + 1
        return f"line {line}: the byte 0x{content[error.start]:02x} is not {name.upper()} ({error.reason}): {SAVE_AS}"
    return f"the file changed while it was read: {SAVE_AS}"
