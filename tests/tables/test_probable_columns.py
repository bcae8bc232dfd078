from __future__ import annotations

from regretless.tables.cells import Cells
from regretless.tables.probable_columns import id_column, variable_column


def cells(**columns: list[object]) -> Cells:
    return Cells("c.csv", columns, ("",) * len(next(iter(columns.values()))))


def test_the_column_that_may_name_rows_has_different_cells_that_are_no_fractions() -> None:
    assert id_column(cells(region=["EU", "EU"], price=["1.5", "2.5"], day=["1", "2"], other=["a", "b"])) == "day"
    assert id_column(cells(price=["1.5", "2.0"], note=["late", None])) is None


def test_with_one_row_per_variable_an_instance_is_named_once_per_variable() -> None:
    table = cells(region=["EU"] * 4, price=["1", "2", "3", "4"], item=["x", "y", "x", "y"], day=["1", "1", "2", "2"])
    assert variable_column(table, ["x", "y", "z"]) == "item"
    assert variable_column(table, ["x"]) is None
    assert id_column(table, "item") == "day"


def test_a_column_with_lists_names_nothing() -> None:
    table = cells(tags=[["new"], ["old"]], item=["x", "y"], day=["1", "2"])
    assert variable_column(table, ["x", "y"]) == "item"
    assert id_column(table) == "item"
    table = cells(pairs=[(1, [2]), (3, [4])], item=["x", "y"])
    assert variable_column(table, ["x", "y"]) == id_column(table) == "item"
