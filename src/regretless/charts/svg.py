"""A chart as SVG: a file of its own, or an element inside a page, whose style sheet then chooses the colors."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from regretless.charts.chart_data import Chart
from regretless.charts.style import CSS_NAMES, chart_style
from regretless.charts.text import printable

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
# The area around a marker that shows its text: large enough for a finger.
HIT = {"r": "9", "class": "hit", "fill": "none", "pointer-events": "all"}
_LONG = re.compile(r"-?\d+\.\d{3,}")
_SERIES = re.compile(r"(line|band|bar|points|quiet|restored|label)-(?:\d+-)?(\d+)")


def svg_file(chart: Chart) -> str:
    """Write a chart as the text of an SVG file; browsers show the texts of its points."""
    ElementTree.register_namespace("", SVG[1:-1])
    ElementTree.register_namespace("xlink", XLINK[1:-1])
    return ElementTree.tostring(_tree(chart), encoding="unicode") + "\n"


def png_file(chart: Chart) -> bytes:
    """Write a chart as the bytes of a PNG file."""
    content = io.BytesIO()
    with chart_style():
        chart.figure.savefig(content, format="png", dpi=150, metadata={"Software": None})
    return content.getvalue()


def inline_svg(chart: Chart, *, name: str, title: str = "") -> str:
    """Write a chart as an element of an HTML page with a strict content security policy.

    The element has no style of its own: every color is a custom property such as ``var(--series-1)``. Each part of a
    series is a group of the class ``series`` with the key of the series in ``data-series``.

    Args:
        chart: what was drawn.
        name: beginning of all ids in the element; no two charts of a page may share it.
        title: read aloud in place of the picture; without it the picture is hidden from screen readers.
    """
    root = _tree(chart)
    used = dict.fromkeys(use.get(f"{XLINK}href", "")[1:] for use in root.iter(f"{SVG}use"))
    ids = {identity: f"{name}-{position}" for position, identity in enumerate(used)}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}clipPath", f"{SVG}style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.removeprefix(SVG)
        element.text, element.tail = element.text if element.tag in ("text", "title") else None, None
        _plain_attributes(element)
        identity = element.attrib.pop("id", "")
        if identity in ids:
            element.set("id", ids[identity])
        if f"{XLINK}href" in element.attrib:
            element.set("href", f"#{ids[element.attrib.pop(f'{XLINK}href')[1:]]}")
        if found := _SERIES.fullmatch(identity):
            element.attrib |= {"class": f"series {found[1]}", "data-series": found[2]}
    about = {"role": "img", "aria-label": printable(title)} if title else {"aria-hidden": "true"}
    root.attrib = {"viewBox": root.get("viewBox", "")} | about
    return ElementTree.tostring(root, encoding="unicode")


def _tree(chart: Chart) -> Element:
    content = io.StringIO()
    with chart_style():
        # No date and no version in the file: equal numbers give equal bytes.
        chart.figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(printable(content.getvalue()))
    for element in list(root.iter()):
        for key in element.attrib.keys() & {"d", "x", "y", "transform"}:
            short = _LONG.sub(lambda found: f"{float(found[0]):.2f}", element.attrib[key])
            element.set(key, " ".join(short.split()))
    for element in list(root.iter()):
        if texts := chart.hover.get(element.get("id", "")):
            _add_texts(element, texts)
    return root


def _add_texts(group: Element, texts: Sequence[str]) -> None:
    """Wrap each marker of a group in a group with its text; a group without markers has one text."""
    places = [(parent, child) for parent in group.iter() for child in parent if child.tag == f"{SVG}use"]
    for (parent, marker), text in zip(places, texts, strict=False):
        point = Element(f"{SVG}g", {"class": "point"})
        ElementTree.SubElement(point, f"{SVG}title").text = printable(text)
        ElementTree.SubElement(point, f"{SVG}circle", HIT | {"cx": marker.get("x", ""), "cy": marker.get("y", "")})
        point.append(marker)
        parent[list(parent).index(marker)] = point
    if not places:
        group.insert(0, Element(f"{SVG}title"))
        group[0].text = printable(texts[0])


def _plain_attributes(element: Element) -> None:
    """Turn a style attribute into attributes of its own, and colors into custom properties of the page."""
    for rule in filter(None, element.attrib.pop("style", "").split(";")):
        key, value = (part.strip() for part in rule.split(":", 1))
        if key == "font":  # such as: 9px 'DejaVu Sans', sans-serif
            key, value = "font-size", value.split()[0]
        if key != "font-family":  # the page has its own
            element.set(key, f"var(--{CSS_NAMES[value]})" if value in CSS_NAMES else value)
    element.attrib.pop("clip-path", None)
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
