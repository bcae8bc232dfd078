"""Run the code in README and docs as tests; skip tests of packages that are not installed."""

from collections.abc import Generator
from typing import Any

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

from regretless.errors import MissingDependencyError

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
).pytest()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Some platforms lack an optional package, as the library's error then says; one that is installed must work."""
    try:
        return (yield)
    except MissingDependencyError as error:
        if isinstance(error.__cause__, ModuleNotFoundError):
            pytest.skip(str(error))
        raise
