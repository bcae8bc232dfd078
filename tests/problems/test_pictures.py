from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.pictures import CHOSEN, LEFT_OUT, ROUTES, draw_amounts, draw_edges

figure = pytest.importorskip("matplotlib.figure")
PLACES, EDGES = [(0, 0), (1, 0), (1, 1)], [(0, 1), (0, 2), (1, 2)]


def axes():
    return figure.Figure().subplots()


def test_chosen_edges_are_drawn_in_the_color_of_their_route_and_by_amount():
    on = axes()
    draw_edges(on, PLACES, EDGES, [1.0, 0.0, 0.5], route=[1, 0, 2], title="routes")
    drawn = {(line.get_color(), line.get_linewidth()) for line in on.lines}
    assert drawn == {(LEFT_OUT, 0.6), (ROUTES[1], 2.2), (ROUTES[2], 1.1)}
    assert on.get_title(loc="left") == "routes"


def test_edges_that_are_not_chosen_may_be_left_out():
    on = axes()
    draw_edges(on, PLACES, EDGES, [1.0, 0.0, 0.0], background=False)
    assert [line.get_color() for line in on.lines] == [CHOSEN]


def test_bars_are_dark_where_items_are_chosen():
    on = axes()
    draw_amounts(on, [3.0, -1.0, 2.0], [0.0, 0.0, 0.7])
    assert [bar.get_height() for bar in on.patches] == [3.0, -1.0, 2.0, 2.0]
    assert on.patches[-1].get_alpha() == 1.0
    draw_amounts(axes(), np.ones(3), np.zeros(3))  # nothing chosen


def test_lengths_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="one amount per edge"):
        draw_edges(axes(), PLACES, EDGES, [1.0])
    with pytest.raises(InputError, match="vectors of one length"):
        draw_amounts(axes(), [1.0], [1.0, 2.0])
