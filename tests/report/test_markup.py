from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from regretless.report.markup import Markup, data_block, escape, join, tag


def test_text_and_attributes_are_escaped() -> None:
    assert tag("p", "<b>", title='"x"') == '<p title="&quot;x&quot;">&lt;b&gt;</p>'


def test_markup_is_not_escaped_again() -> None:
    assert tag("p", tag("b", "x")) == "<p><b>x</b></p>"


def test_false_and_missing_attributes_are_left_out_and_true_stands_alone() -> None:
    assert tag("details", open=True, class_=None, hidden=False) == "<details open></details>"


def test_void_elements_have_no_end() -> None:
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_separator_is_escaped() -> None:
    assert join(["a", "b"], " < ") == "a &lt; b"


def test_control_characters_are_replaced() -> None:
    assert escape("a\x00b\ud800") == "a\ufffdb\ufffd"


@given(st.text())
def test_escaped_text_holds_no_tag_and_no_quote(text: str) -> None:
    escaped = escape(text)
    assert isinstance(escaped, Markup)
    assert not set(escaped) & set("<>\"'")


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_embedded_data_comes_back_and_cannot_end_its_element(value: object) -> None:
    block = data_block("x", value)
    inside = block.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == value
