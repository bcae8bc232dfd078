from __future__ import annotations

import numpy as np
import pytest

from regretless.errors import InputError
from regretless.problems.shortest_path import grid_edges, shortest_path_milp


def test_edges_stand_in_the_order_of_pyepo():
    right_then_down = [[0, 1], [1, 2], [0, 3], [1, 4], [2, 5], [3, 4], [4, 5]]
    assert grid_edges(2, 3).tolist() == right_then_down
    assert len(grid_edges(5, 5)) == 40
    assert grid_edges(3, 1).tolist() == [[0, 1], [1, 2]]


def test_paths_are_feasible_and_broken_ones_are_not():
    milp = shortest_path_milp(2, 2)  # edges 0-1, 0-2, 1-3, 2-3
    assert milp.check([[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 0]]).tolist() == [True, True, False, False]
    assert not np.any(milp.integer)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 1), (2, 2.5)])
def test_grids_without_edges_are_refused(rows, columns):
    with pytest.raises(InputError, match=r"at least 2 nodes|must be an integer"):
        grid_edges(rows, columns)
