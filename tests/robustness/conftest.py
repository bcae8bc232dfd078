from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .killing import Nursery, nursery


@pytest.fixture(scope="session")
def victims() -> Iterator[Nursery]:
    if not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    with nursery() as made:
        yield made
