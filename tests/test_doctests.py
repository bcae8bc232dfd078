"""The examples in docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import regretless

MODULES = [m.name for m in pkgutil.walk_packages(regretless.__path__, "regretless.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", ["regretless", *MODULES])
def test_docstring_examples_are_true(name):
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testmod(module, optionflags=flags)
    assert result.failed == 0
