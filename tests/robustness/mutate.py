"""Spoiled copies of sound inputs: bytes, and nested states whose file is whole but whose content is not."""

from __future__ import annotations

import copy
import io
import random
import zipfile
from typing import Any

import torch

WORDS = (
    b"nan", b"inf", b"-1", b"0", b"1e400", b"1e-400", b"99999999999999999999", b"", b" ", b"\n", b"\x00", b"\xff\xfe",
    b"../../x", b"/tmp/x", b"<script>", b"'", b'"', b"[", b"{", b"]]", b"=", b",", b";", b"\t", b"1_000", b"0x10",
    "é".encode(), b"null", b"true", b"-", b"#", b"$(id)", b"%s%n", b"A" * 3000,
)  # fmt: skip
VALUES = (
    None, -1, 0, 2**70, 1e400, float("nan"), "", "../../x", "<script>", [], {}, [[]], True, (1, 2), {"a": {}}, "é" * 50,
)  # fmt: skip


def spoiled(content: bytes, chance: random.Random) -> bytes:
    """One to four random edits of ``content``: bits, cuts, copies, swaps, and words that parsers stumble over."""
    data = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4))):
        size = len(data)
        a, b = sorted((chance.randrange(size + 1), chance.randrange(size + 1)))
        b = min(b, a + chance.choice((1, 4, 16, 200, size)))
        kind = chance.randrange(7)
        if kind == 0 and size:
            data[chance.randrange(size)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del data[a:b]
        elif kind == 2:
            data[a:a] = data[a:b]
        elif kind == 3:
            data[a:a] = chance.choice(WORDS)
        elif kind == 4:
            data[a : a + chance.randrange(6)] = chance.choice(WORDS)
        elif kind == 5:
            del data[a:]
        else:  # a field of text for another
            parts = bytes(data).split()
            if len(parts) > 1:
                one, other = chance.choice(parts), chance.choice((*WORDS, *parts))
                data = bytearray(bytes(data).replace(one, other, chance.choice((1, 1, -1))))
    return bytes(data[:200_000])


def spoiled_archive(content: bytes, chance: random.Random) -> bytes:
    """A zip that is whole, with one member spoiled: the headers of arrays, not only checksums, are put to the test."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(buffer, "w") as target:
        names = source.namelist()
        victim = chance.choice(names)
        for name in names:
            data = source.read(name)
            if name == victim:
                head = chance.random() < 0.6  # the first 128 bytes are what numpy interprets
                data = spoiled(data[:128], chance) + data[128:] if head else spoiled(data, chance)
            target.writestr(chance.choice((name, name, name, "../" + name, "x.npy")) if name == victim else name, data)
    return buffer.getvalue()


def spoiled_state(state: Any, chance: random.Random) -> Any:
    """A copy of a nested state with one to three places changed: fields gone, of another type, tensors reshaped."""
    state = copy.deepcopy(state)
    for _ in range(chance.choice((1, 1, 2, 3))):
        state = _change(state, chance, depth=chance.randrange(5))
    return state


def _change(value: Any, chance: random.Random, depth: int) -> Any:
    if isinstance(value, dict) and value and depth:
        key = chance.choice(list(value))
        if chance.random() < 0.2:
            del value[key]
        else:
            value[key] = _change(value[key], chance, depth - 1)
        return value
    if isinstance(value, list) and value and depth:
        place = chance.randrange(len(value))
        value[place] = _change(value[place], chance, depth - 1)
        return value
    if isinstance(value, torch.Tensor) and chance.random() < 0.7:
        return chance.choice(
            (
                value.flatten(), value.reshape(-1)[:0], value[None], value.to(torch.float64), value.to(torch.int32),
                torch.full_like(value.to(torch.float64), torch.nan), value.to(torch.int64) * 0 - 7, torch.tensor(3.0),
            )
        )  # fmt: skip
    return copy.deepcopy(chance.choice(VALUES))  # a value that were shared could come to hold itself
