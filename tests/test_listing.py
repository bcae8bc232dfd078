from __future__ import annotations

import pytest

from regretless.listing import first_repeated, listed, meant, missing_and_unknown, numbered, probable


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, ""), (2, "v0, v1"), (5, "v0, v1, v2, v3, v4"), (1005, "v0, v1, v2, v3, v4 and 1000 more")],
)
def test_at_most_five_names_are_shown(count: int, text: str) -> None:
    assert listed([f"v{i}" for i in range(count)]) == text


class Counted(str):
    """A name that counts how often it is looked up."""

    looked_up: int = 0

    def __hash__(self) -> int:
        Counted.looked_up += 1
        return super().__hash__()


def test_names_are_compared_in_linear_time() -> None:
    have, wanted = [Counted(f"v{i}") for i in range(1000)], [Counted(f"v{i}") for i in range(1, 1001)]
    Counted.looked_up = 0
    assert missing_and_unknown(have, wanted) == (["v1000"], ["v0"])
    assert first_repeated(have) is None
    assert Counted.looked_up <= 6 * 1000


@pytest.mark.parametrize(
    ("have", "said"),
    [
        (["Price", "wind"], "'Price' is probably 'price'"),
        ([" price", "WIND "], "' price' is probably 'price', 'WIND ' is probably 'wind'"),
        (["price", "wind", "Price"], ""),  # nothing is missing
        (["cost", "wind"], ""),
    ],
)
def test_a_name_in_other_case_or_with_spaces_is_the_probable_one(have: list[str], said: str) -> None:
    assert probable(have, ["price", "wind"]) == said


def test_the_first_repeated_name_is_found() -> None:
    assert first_repeated(["a", "b", "c", "b", "a"]) == "b"


def test_repeated_names_get_numbers_that_are_free() -> None:
    assert numbered(["a", "a (2)", "a", "a"]) == ("a", "a (2)", "a (3)", "a (4)")
    assert numbered([]) == ()


def test_the_first_name_that_is_written_nearly_alike_is_meant() -> None:
    assert meant(" UNIT  price", ["wind", "unit price", "Unit Price"]) == " ('unit price' is probably meant)"
    assert meant("unit", ["unit price"]) == ""
    assert meant("unit-price", ["unit_price"]) == " ('unit_price' is probably meant)"


def test_a_sign_is_no_hyphen() -> None:
    assert meant("-1", ["1"]) == ""
    assert probable(["x_-1"], ["x_1"]) == ""
