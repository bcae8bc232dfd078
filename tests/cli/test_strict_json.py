"""Every JSON that the library writes for other programs is JSON: it has no NaN and no infinity."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from .files import ITEMS, CommandLine, Files

# Nothing is bought where all costs are positive: an optimal value of zero has no relative regret.
MODEL = f"""minimize
 cost: {" + ".join(ITEMS)}
subject to
 most: {" + ".join(ITEMS)} <= 3
binary
 {" ".join(ITEMS)}
end
"""


def refuse(word: str) -> Any:
    raise AssertionError(f"{word} is not JSON")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["auto", "map-dc", "two-stage"])
def test_runs_and_commands_have_null_for_figures_without_a_value(files: Files, cli: CommandLine, method: str) -> None:
    files.model.write_text(MODEL)
    options = {"p-solve": None, "validation": None, "test": 0.5} if method == "auto" else {"p-solve": None}
    words = files.words(method=method, epochs=1 if method != "two-stage" else None, **options)
    said = [cli.ok(*words, "--json").out, cli.ok("evaluate", files.folder / "run", "--json").out]
    written = [path.read_text() for path in (files.folder / "run").glob("*.json")]
    found = [json.loads(text, parse_constant=refuse) for text in (*said, *written)]
    assert found[0]["relative_regret"] is None, "the test needs a figure without a value"
    again = cli.ok(*words, "--json", "--resume").out
    assert json.loads(again, parse_constant=refuse) == found[0]


def test_the_check_itself_sees_nan() -> None:
    with pytest.raises(AssertionError, match="NaN is not JSON"):
        json.loads(json.dumps({"a": math.nan}), parse_constant=refuse)
