from __future__ import annotations

import pytest

from regretless.errors import MissingDependencyError
from regretless.optional import need


def test_an_installed_package_is_returned() -> None:
    import json.decoder

    assert need("json.decoder", pip="json", why="read") is json.decoder


def test_a_missing_package_is_named_with_its_use_and_its_pip_line() -> None:
    with pytest.raises(MissingDependencyError) as caught:
        need("no_such_package.part", pip="no-such-package<2", why="draw figures")
    message = str(caught.value)
    assert "the package 'no_such_package' is needed to draw figures" in message
    assert message.endswith("install it with: pip install 'no-such-package<2'")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_a_package_that_breaks_on_import_says_why(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    (Path(str(tmp_path)) / "broken_package.py").write_text("raise ImportError('libhighs.so.1: wrong version')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"libhighs\.so\.1: wrong version"):
        need("broken_package", pip="broken", why="solve")


def test_ctrl_c_in_an_import_is_not_a_missing_package(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    text = "try:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt as stop:\n    raise ImportError('no') from stop"
    (Path(str(tmp_path)) / "interrupted_package.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        need("interrupted_package", pip="interrupted", why="run")
