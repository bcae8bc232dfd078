from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys
import threading
from abc import ABC
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from regretless.milp import MILP
from regretless.oracle_identity import MOST_VALUES, Identity, oracle_identity

WEIGHTS = np.array([4.0, 2.0, 3.0])


def least(costs: Any) -> Any:
    return costs == costs.min()


def greatest(costs: Any) -> Any:
    return costs == costs.max()


def uses_a_global(costs: Any) -> Any:
    return helper(costs) @ WEIGHTS


def helper(costs: Any) -> Any:
    return costs + 1.0


def countdown(n: int) -> Any:
    return countdown(n - 1) if n else 0


def closure(value: Any) -> Any:
    return lambda costs: (value, costs)


class Chooser:
    """An oracle with settings."""

    def __init__(self, capacity: float, lock: Any = None) -> None:
        self.capacity, self.lock = capacity, lock

    @property
    def double(self) -> float:
        return 2 * self.capacity

    def solve(self, costs: Any) -> Any:
        return costs <= self.double


@dataclass
class Settings(ABC):
    """A data class of a user."""

    capacity: float
    names: list[str] = field(default_factory=list)


def same(one: Any, other: Any) -> bool:
    return oracle_identity(one) == oracle_identity(other)


VALUES = [
    0, 0.0, -0.0, True, None, "0", b"0", (0,), [0], {0}, frozenset({1}), {"a": 0}, {"b": 0}, range(3), OrderedDict(a=1),
    np.zeros(2), np.zeros(3), np.zeros(2, dtype=np.float32), np.float32(0.0), np.array(["a", None], dtype=object),
    torch.zeros(2), torch.zeros(2, dtype=torch.bfloat16), torch.tensor(1.0), pd.DataFrame({"a": [1]}),
    pd.DataFrame({"a": [2]}), np.random.default_rng(0), np.random.default_rng(1), Path("a"), least, greatest, Chooser,
    Chooser(1.0), Chooser(2.0), Chooser(1.0).solve, Settings(1.0), Settings(2.0), Settings,
    MILP([[1.0]]), MILP([[2.0]]), np, np.add, np.subtract, len,
    functools.partial(least, 1), functools.partial(least, 2), functools.lru_cache(least), slice(1), [[]], [[], []],
]  # fmt: skip


def test_different_values_of_a_closure_make_different_oracles() -> None:
    found = [oracle_identity(closure(value)) for value in VALUES]
    assert all(one.unknown == "" for one in found)
    assert len({one.digest for one in found}) == len(found)
    assert [oracle_identity(closure(value)) for value in VALUES] == found


def test_equal_values_make_equal_oracles() -> None:
    assert same(closure(np.arange(3.0)), closure(np.arange(3.0)))
    assert same(closure({"a": 1, "b": {2, 3}}), closure({"b": {3, 2}, "a": 1}))
    assert same(closure(Chooser(1.0)), closure(Chooser(1.0)))
    twice = [1.0, 2.0]
    assert same(closure([twice, twice]), closure([[1.0, 2.0], [1.0, 2.0]]))


def test_functions_are_told_apart_by_their_code_and_defaults() -> None:
    def written(text: str) -> Any:
        space: dict[str, Any] = {"__name__": "a_script"}
        exec(text, space)
        return space["f"]

    texts = [
        "def f(c): return c.min()", "def f(c): return c.max()", "def f(c, k=1): return c.min()", "def f(c): return 2",
        "def f(c, k=2): return c.min()", "def f(c, *, k=2): return c.min()", "def f(c): return 1", "def g(c): 1\nf = g",
        "def f(c):\n try: return c\n except ValueError: return 1", "def f(c):\n try: return c\n finally: g()",
        "W = 1\ndef f(c): return c * W", "W = 2\ndef f(c): return c * W", "def f(c): return [x + 1 for x in c]",
        "def f(c): return [x + 2 for x in c]", "def h(c): return 1\ndef f(c): return h(c)",
        "def h(c): return 2\ndef f(c): return h(c)", "def f(c): return c in {1, 'a', 'b'}",
    ]  # fmt: skip
    found = [oracle_identity(written(text)).digest for text in texts]
    assert len(set(found)) == len(texts)
    assert same(written("def f(c): return 1"), written("\n# moved\n\ndef f(c):\n    return 1  # and said why"))


def test_a_global_that_the_code_reads_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = oracle_identity(uses_a_global)
    monkeypatch.setitem(globals(), "WEIGHTS", WEIGHTS + 1.0)
    changed = oracle_identity(uses_a_global)
    monkeypatch.undo()
    monkeypatch.setitem(globals(), "helper", least)
    assert len({before, changed, oracle_identity(uses_a_global)}) == 3
    assert oracle_identity(countdown).unknown == "", "a function that calls itself"


def test_a_function_of_a_users_module_counts_by_its_code_and_one_of_a_package_by_its_name() -> None:
    def using(module: ModuleType, call: str) -> FunctionType:
        space = {"m": module}
        exec(f"def f(c): return {call}", space)
        found: Any = space["f"]
        return found

    modules, packages = [], []
    for function in (least, greatest, least):
        modules.append(ModuleType("solver_of_a_user"))
        packages.append(ModuleType("package_of_a_user"))
        modules[-1].__dict__.update(solve=function, m=packages[-1])  # modules may import each other
        packages[-1].__dict__["inner"] = modules[-1]
    for own, call in ((modules, "m.solve(c)"), (packages, "m.inner.solve(c)")):
        one, other, again = (using(module, call) for module in own)
        assert same(one, again)
        assert not same(one, other)
    assert oracle_identity(np.linalg.norm).unknown == oracle_identity(np.argmin).unknown == ""
    assert not same(np.argmin, np.argmax)


def test_a_relative_import_of_a_function_imports_no_other_module_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings_nearby.py").write_text("K = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    code = "def {0}(costs):\n    from {1}settings_nearby import K\n    return costs * K\n"
    functions: dict[str, Any] = {}
    for name, dots in (("relative", "."), ("absolute", "")):
        exec(code.format(name, dots), functions)
        oracle_identity(functions[name])
        assert ("settings_nearby" in sys.modules) == (dots == "")
    del sys.modules["settings_nearby"]


def test_a_users_module_that_a_function_imports_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def first(costs: Any) -> Any:
        import numpy as np
        from settings_of_a_user import LARGEST  # type: ignore[import-not-found]

        return np.argsort(costs)[:LARGEST]

    missing = oracle_identity(first)
    (tmp_path / "settings_of_a_user.py").write_text("LARGEST = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = oracle_identity(first)
    monkeypatch.setattr(sys.modules["settings_of_a_user"], "LARGEST", 2)
    assert len({missing, before, oracle_identity(first)}) == 3
    assert before.unknown == ""
    del sys.modules["settings_of_a_user"]


RELATIVE = """
def name(costs):
    from .tools import LARGEST
    return costs[:LARGEST]

def module(costs):
    from . import tools
    return costs[:tools.LARGEST]

def above(costs):
    from .inner.deep import LARGEST
    return costs[:LARGEST]

def absolute(costs):
    from package_of_a_user import tools
    return costs[:tools.LARGEST]
"""


@pytest.mark.parametrize("function", ["name", "module", "above", "absolute"])
def test_a_module_beside_that_of_a_function_counts(
    function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package_of_a_user"
    (package / "inner").mkdir(parents=True)
    for path, text in {"__init__.py": "", "oracle.py": RELATIVE, "tools.py": "LARGEST = 1\n"}.items():
        (package / path).write_text(text)
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "deep.py").write_text("from ..tools import LARGEST\n")
    monkeypatch.syspath_prepend(tmp_path)
    solve = getattr(importlib.import_module("package_of_a_user.oracle"), function)
    before = oracle_identity(solve)
    solve([1, 2])
    assert oracle_identity(solve) == before, "a call imports the module, which changes nothing"
    changed = "package_of_a_user.inner.deep" if function == "above" else "package_of_a_user.tools"
    monkeypatch.setattr(sys.modules[changed], "LARGEST", 2)
    assert oracle_identity(solve) != before
    assert before.unknown == ""
    for name in [name for name in sys.modules if name.startswith("package_of_a_user")]:
        del sys.modules[name]


def test_a_relative_import_that_leaves_the_package_is_no_reason_to_fail() -> None:
    functions: dict[str, Any] = {"__package__": "alone"}
    exec("def solve(costs):\n    from ...far import K\n    return K\n", functions)
    assert oracle_identity(functions["solve"]).unknown == ""


def test_an_import_in_a_function_with_many_names_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "limits_of_a_user.py").write_text("LARGEST = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    names = "".join(f"    costs.name_{k}\n" for k in range(300))  # more than fit into one instruction
    functions: dict[str, Any] = {}
    exec(f"def solve(costs):\n{names}    from limits_of_a_user import LARGEST\n    return LARGEST\n", functions)
    before = oracle_identity(functions["solve"])
    assert before.unknown == ""
    monkeypatch.setattr(sys.modules["limits_of_a_user"], "LARGEST", 2)
    assert oracle_identity(functions["solve"]) != before
    del sys.modules["limits_of_a_user"]


def test_objects_are_told_apart_by_class_and_state() -> None:
    class Other(Chooser):
        def solve(self, costs: Any) -> Any:
            return costs >= self.double

    assert same(Chooser(1.0), Chooser(1.0))
    found = [Chooser(1.0), Chooser(2.0), Other(1.0), Chooser(1.0).solve, Other(1.0).solve]
    assert len({oracle_identity(one).digest for one in found}) == len(found)


def test_what_has_no_hash_is_named() -> None:
    assert oracle_identity(closure(threading.Lock())).unknown == "lock"
    assert oracle_identity(Chooser(1.0, threading.Lock())).unknown == "lock"
    assert oracle_identity(closure(x for x in ())).unknown == "generator"
    assert oracle_identity(np.frompyfunc(least, 1, 1)).unknown == "ufunc"
    assert oracle_identity(closure([0.5] * MOST_VALUES + [[]])).unknown == "list"
    assert not same(Chooser(1.0, threading.Lock()), Chooser(2.0, threading.Lock())), "the rest still counts"
    itself: list[Any] = []
    itself.append(itself)
    assert oracle_identity(closure(itself)).unknown == ""
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert oracle_identity(closure(deep)).unknown == "list"


def test_a_stated_fingerprint_stands_for_the_oracle() -> None:
    def with_a_lock(said: str, lock: Any) -> Any:
        def oracle(costs: Any) -> Any:
            return lock, costs

        oracle.fingerprint = said  # type: ignore[attr-defined]
        return oracle

    one, again, other = (with_a_lock(said, threading.Lock()) for said in ("1", "1", "2"))
    assert same(one, again)
    assert not same(one, other)
    assert oracle_identity(one).unknown == ""


SCRIPT = """
import numpy as np
from regretless.oracle_identity import oracle_identity

NAMES, WEIGHTS = {"some", "names", "in", "a", "set"}, np.arange(4.0)

class Chooser:
    def __init__(self, capacity):
        self.capacity = capacity
    def solve(self, costs):
        return costs <= self.capacity

def factory(capacity):
    def oracle(costs, *, names=frozenset("abc")):
        return (costs @ WEIGHTS <= capacity) * len(NAMES) * ("x" in {"x", "y", "z"}) * Chooser(capacity).solve(costs)
    return oracle

if __name__ in ("__main__", "copy_of_a_script"):
    print(oracle_identity(factory(4)), oracle_identity(Chooser(3)))
"""


@pytest.mark.slow
def test_other_processes_and_names_of_the_script_give_the_same_hash(tmp_path: Path) -> None:
    for name in ("script", "copy_of_a_script"):
        (tmp_path / f"{name}.py").write_text(SCRIPT)
    # Both start at once: most of their time is that of their imports.
    started = [
        subprocess.Popen(
            [sys.executable, *command], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        for command, seed in ((["script.py"], "1"), (["-c", "import copy_of_a_script"], "2"))
    ]  # fmt: skip
    texts = [process.communicate(timeout=300)[0] for process in started]
    assert "Identity" in texts[0]
    assert texts[0] == texts[1]


def test_an_identity_is_plain_data() -> None:
    assert len(oracle_identity(least).digest) == 32
    assert Identity("a") == Identity("a", "")
