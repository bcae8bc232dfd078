from __future__ import annotations

import pytest

from regretless import errors


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.InputError, ValueError),
        (errors.SolveError, RuntimeError),
        (errors.FileError, OSError),
        (errors.MissingDependencyError, ImportError),
        (errors.TrainingError, RuntimeError),
    ],
)
def test_every_error_is_ours_and_the_builtin_that_users_would_catch(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, errors.RegretlessError)
    assert issubclass(error, builtin)
    assert str(error("what was expected")) == "what was expected"


def test_a_warning_is_no_error() -> None:
    assert issubclass(errors.RegretlessWarning, UserWarning)
    assert not issubclass(errors.RegretlessWarning, errors.RegretlessError)
