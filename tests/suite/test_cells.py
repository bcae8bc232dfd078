from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.problems.problem_table import check_options, loader
from regretless.suite.cells import GRIDS, Cell, cells_of


@pytest.mark.parametrize("grid", sorted(GRIDS))
def test_every_cell_names_options_that_its_problem_has(grid: str) -> None:
    for cell in cells_of(grid):
        check_options(cell.problem, loader(cell.problem), cell.load_options(0))


@pytest.mark.parametrize("grid", sorted(GRIDS))
def test_names_of_cells_are_unique(grid: str) -> None:
    names = [cell.name for cell in cells_of(grid)]
    assert len(set(names)) == len(names)


def test_both_grids_have_the_same_problems() -> None:
    short, full = ({cell.problem for cell in cells_of(grid)} for grid in ("short", "full"))
    assert short == full


def test_the_seed_of_a_run_is_the_seed_of_its_data() -> None:
    assert Cell("top-k", 50, options={"items": 5}).load_options(3) == {"train": 50, "seed": 3, "items": 5}
    assert Cell("shortest-path", 50, 4).load_options(0) == {"deg": 4, "train": 50, "seed": 0}


@pytest.mark.parametrize(
    ("grid", "problems", "message"),
    [
        ("medium", None, "grid must be one of short, full, got 'medium'"),
        ("short", ["knapsack-60"], "problems of the suite are shortest-path.*got knapsack-60"),
        ("short", [], "got none"),
    ],
)
def test_unknown_words_are_refused(grid: str, problems: list[str] | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        cells_of(grid, problems)
