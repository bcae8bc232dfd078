from __future__ import annotations

import pytest

from regretless.errors import InputError
from regretless.type_checks import check_type


def test_an_object_of_the_type_passes():
    check_type("loss", 1.5, float)


def test_another_type_and_a_class_are_named_with_what_to_do():
    with pytest.raises(InputError, match=r"^loss must be a float, got str: write a number$"):
        check_type("loss", "1.5", float, hint="write a number")
    with pytest.raises(InputError, match=r"^loss must be a float, got the class float$"):
        check_type("loss", float, float)
