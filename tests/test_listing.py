from __future__ import annotations

import pytest

from regretless.listing import listed


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, ""), (2, "v0, v1"), (5, "v0, v1, v2, v3, v4"), (1005, "v0, v1, v2, v3, v4 and 1000 more")],
)
def test_at_most_five_names_are_shown(count: int, text: str) -> None:
    assert listed([f"v{i}" for i in range(count)]) == text
