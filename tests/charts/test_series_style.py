from __future__ import annotations

from regretless.report.order import METHODS
from regretless.report.series_style import COLOURS, looks


def test_a_family_shares_its_colour_and_its_members_differ_otherwise() -> None:
    found = looks([("spo", ""), ("spo-cache", ""), ("map-dc", "")])
    spo, cached, other = found.values()
    assert spo.colour == cached.colour != other.colour
    assert (spo.dash, spo.marker) != (cached.dash, cached.marker)


def test_all_methods_of_the_paper_look_different() -> None:
    assert len(set(looks((method, "") for method in METHODS).values())) == len(METHODS)


def test_colours_are_reused_when_they_run_out_with_another_dash() -> None:
    found = list(looks((f"m{index}", "") for index in range(2 * COLOURS)).values())
    assert len(set(found)) == 2 * COLOURS
    assert max(look.colour for look in found) == COLOURS - 1
