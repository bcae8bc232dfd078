"""HTML that is escaped unless it was built here: a name out of a file can never become a tag."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable
from typing import Any

VOID = frozenset({"meta", "link", "img", "br", "col"})
# XML 1.0 and HTML have no way to write these at all.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already. Only this module and files of this package make one."""

    __slots__ = ()


def escape(value: object) -> Markup:
    """Escape text for the content of an element and for an attribute; ``Markup`` stays as it is.

    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(_CONTROL.sub("\ufffd", str(value)), quote=True))


def join(parts: Iterable[object], between: str = "") -> Markup:
    """Put parts behind each other, each one escaped unless it is ``Markup``."""
    return Markup(escape(between).join(escape(part) for part in parts))


def tag(name: str, /, *content: object, **attributes: object) -> Markup:
    """Build an element.

    Attributes that are ``None`` or ``False`` are left out, ``True`` stands alone; a final underscore is dropped and
    the others become hyphens, so that ``class_`` and ``aria_label`` can be written.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    text = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Markup(f"<{name}{text}>")
    return Markup(f"<{name}{text}>{join(content)}</{name}>")


def data_block(identity: str, value: Any) -> Markup:
    """Embed plain data as JSON that no content of it can break out of."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{escape(identity)}">{text}</script>')


def _attribute(key: str, value: object) -> str:
    if value is None or value is False:
        return ""
    # viewBox and its like keep their capitals; only Python's own restrictions are undone.
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(value)}"'
