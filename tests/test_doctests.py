"""The examples in docstrings are true."""

import doctest
import importlib
import linecache
from pathlib import Path

import pytest

import regretless

ROOT = Path(regretless.__file__).parent
WITH_EXAMPLES = [path.relative_to(ROOT.parent) for path in ROOT.rglob("*.py") if ">>> " in path.read_text("utf-8")]


@pytest.mark.parametrize("path", sorted(WITH_EXAMPLES), ids=str)
def test_docstring_examples_are_true(path):
    linecache.clearcache()  # or doctest looks up every file that was ever shown
    module = importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testmod(module, optionflags=flags)
    assert result.failed == 0
    assert result.attempted > 0
