from __future__ import annotations

from pathlib import Path

import pytest

from regretless.tables.text_encoding import encoding_of, not_decoded


@pytest.mark.parametrize(("content", "encoding"), [(b"", "utf-8-sig"), (b"\xff\xfea\0", "utf-16"), (b"a", "utf-8-sig")])
def test_a_byte_order_mark_tells_utf_16(content: bytes, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    assert encoding_of(tmp_path / "t.csv") == encoding


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_first_line_that_is_not_decoded_is_named(mark: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(mark + "ä\nb\n".encode() + b"c\xe4\n")
    assert not_decoded(tmp_path / "t.csv").startswith("line 3: the byte 0xe4 is not UTF-8 (")
