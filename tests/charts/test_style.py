from __future__ import annotations

import warnings

import pytest

from regretless.charts.style import COLORS, CSS_NAMES, chart_style, series_styles
from regretless.report.groups import METHODS


def test_a_family_shares_its_color_and_its_members_differ_otherwise() -> None:
    spo, cached, other = series_styles([("spo", ""), ("spo-cache", ""), ("map-dc", "")]).values()
    assert spo.color == cached.color != other.color
    assert (spo.dash, spo.marker) != (cached.dash, cached.marker)


def test_all_methods_of_the_paper_look_different() -> None:
    assert len(set(series_styles((method, "") for method in METHODS).values())) == len(METHODS)


def test_colors_are_reused_when_they_run_out_with_another_dash() -> None:
    found = list(series_styles((f"m{index}", "") for index in range(2 * len(COLORS))).values())
    assert len(set(found)) == 2 * len(COLORS)
    assert max(style.color for style in found) == len(COLORS) - 1


def test_every_color_has_its_own_name_in_style_sheets() -> None:
    assert len(set(CSS_NAMES.values())) == len(CSS_NAMES) == len(COLORS) + 4


def test_settings_of_the_caller_come_back() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = {key: value for key, value in matplotlib.rcParams.items() if key != "backend"}
    with chart_style(), warnings.catch_warnings(record=True) as said:
        assert matplotlib.rcParams["svg.fonttype"] == "none"
        warnings.warn("Glyph 128512 missing", UserWarning, stacklevel=1)
    assert {key: matplotlib.rcParams[key] for key in before} == before
    assert said == []
