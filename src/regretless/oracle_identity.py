"""What tells one oracle from another: a hash of its code and of the values that it uses."""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

ATOMS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
# Instructions that read a global variable.
READS = ("LOAD_GLOBAL", "LOAD_NAME")
# Larger structures of Python objects (not arrays, which are one value each) take seconds, or do not end.
MOST_VALUES = 100_000
# Code under these folders is known by its name; a new release of a package does not make another oracle.
INSTALLED = ("site-packages", "dist-packages", "<frozen", sysconfig.get_path("stdlib"), str(Path(__file__).parent))


@dataclass(frozen=True)
class Identity:
    """What an oracle is.

    Attributes:
        digest: hash, the same in every process for the same code, values and version of Python.
        unknown: type of a value that has no hash, so that different oracles may have one digest; empty where all have.
    """

    digest: str
    unknown: str = ""


def oracle_identity(oracle: Any) -> Identity:
    """Hash the code of a function or object, and the values that it uses, as they are now.

    These are defaults, variables of an enclosing function, global variables that the code reads, modules that it
    imports, attributes of objects, and functions and classes of the user among them. Installed packages are known by
    their names. A string attribute ``fingerprint`` of a function or object stands for all of it.

    >>> def bag(capacity):
    ...     return lambda costs: costs.cumsum() <= capacity
    >>> oracle_identity(bag(4)) == oracle_identity(bag(4)), oracle_identity(bag(4)) == oracle_identity(bag(8))
    (True, False)
    """
    reader = _Reader()
    return Identity(reader.digest(oracle).hex()[:32], reader.unknown)


class _Reader:
    """Hashes values of any kind; ``unknown`` names the first type that has no hash."""

    def __init__(self) -> None:
        self.unknown = ""
        self._values = 0
        self._known: dict[int, tuple[Any, bytes]] = {}  # with the values, so that no id is used twice
        self._open: list[int] = []

    def digest(self, value: Any) -> bytes:
        """Hash one value and all that it holds."""
        self._values += 1
        if type(value) in ATOMS:
            return _hash(type(value).__name__, repr(value))
        if id(value) in self._known:
            return self._known[id(value)][1]
        if id(value) in self._open:  # it holds itself, as a function that calls itself
            return _hash("again", len(self._open) - self._open.index(id(value)))
        self._open.append(id(value))
        try:
            found = self._read(value) if self._values < MOST_VALUES else None
        except Exception:  # whatever the methods of a user's object raise
            found = None
        self._open.pop()
        if found is None:
            self.unknown = self.unknown or type(value).__qualname__
            found = _hash("unknown", _name(type(value)))
        self._known[id(value)] = value, found
        return found

    def _all(self, kind: str, *values: Any) -> bytes:
        return _hash(kind, *(self.digest(value) for value in values))

    def _read(self, value: Any) -> bytes | None:
        if isinstance(value, type):
            return self._class(value)
        stated = getattr(value, "fingerprint", None)
        if isinstance(stated, str):
            return _hash("stated", _name(type(value)), stated)
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, MethodType):
            return self._all("method", value.__func__, value.__self__)
        if isinstance(value, ModuleType):
            return _hash("module", value.__name__)
        if isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
            kept = self.digest(array.tolist()) if array.dtype.hasobject else array.tobytes()
            return _hash("array", array.dtype, array.shape, kept)
        if isinstance(value, Tensor):
            flat = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            return _hash("tensor", value.dtype, tuple(value.shape), flat.numpy().tobytes())
        if type(value) in (list, tuple):
            return self._all(type(value).__name__, *value)
        if type(value) in (set, frozenset):  # in an order that does not change from process to process
            return _hash("set", *sorted(map(self.digest, value)))
        if type(value) is dict:
            return _hash("dict", *sorted(self._all("item", *pair) for pair in value.items()))
        if isinstance(value, property):
            return self._all("property", value.fget, value.fset)
        inner = value.func if isinstance(value, functools.cached_property) else getattr(value, "__wrapped__", None)
        return self._object(value) if inner is None else self._all(_name(type(value)), inner)

    def _function(self, function: FunctionType) -> bytes:
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        data = self._all("data", function.__defaults__, function.__kwdefaults__), *cells
        if _is_installed(function.__code__.co_filename):
            return _hash("installed", function.__module__, function.__qualname__, *data)
        return _hash("function", function.__qualname__, *data, self._code(function.__code__, function.__globals__))

    def _cell(self, cell: Any) -> bytes:
        try:
            return self.digest(cell.cell_contents)
        except ValueError:  # a variable without a value yet
            return _hash("empty")

    def _code(self, code: CodeType, variables: dict[str, Any]) -> bytes:
        """Hash instructions, constants, names, and the global variables that are read."""
        parts: list[object] = [code.co_code, code.co_exceptiontable, code.co_names, code.co_flags]
        parts += [code.co_argcount, code.co_kwonlyargcount]
        for constant in code.co_consts:
            parts.append(self._code(constant, variables) if isinstance(constant, CodeType) else self.digest(constant))
        # EXTENDED_ARG belongs to the argument of the next instruction, which ``dis`` puts together.
        steps = [(s.opname, s.argval) for s in dis.get_instructions(code) if s.opname != "EXTENDED_ARG"]
        values = {name: variables[name] for kind, name in steps if kind in READS and name in variables}
        imported = {name: _own_module(name, variables.get("__package__")) for name in _imports(steps)}
        values |= {name: module for name, module in imported.items() if module is not None}
        for name in sorted(values):
            parts += [name, *self._used(values[name], code.co_names)]
        return _hash("code", *parts)

    def _used(self, value: Any, names: Sequence[str]) -> list[bytes]:
        """Hash a value and, of a module of the user, the attributes with these names; also those of its modules."""
        parts = [self.digest(value)]
        if isinstance(value, ModuleType) and not _is_installed_module(value.__name__):
            for name in (name for name in names if name in vars(value)):
                parts += self._used(vars(value)[name], [other for other in names if other != name])
        return parts

    def _class(self, kind: type) -> bytes:
        """Hash a class by name and, where it is the user's, by its methods and values."""
        parts: list[object] = [_name(kind)]
        for base in kind.__mro__:
            if not _is_installed_module(base.__module__):
                parts += [self._all(name, value) for name, value in sorted(vars(base).items()) if _is_own(name, value)]
        return _hash("class", *parts)

    def _object(self, value: Any) -> bytes | None:
        """Hash an object by what a copy of it is made from, as ``pickle`` does; ``None`` where it cannot be copied."""
        own = copyreg.dispatch_table.get(type(value))
        made = value.__reduce_ex__(4) if own is None else own(value)
        if isinstance(made, str):  # the name of a global object
            return _hash("global", getattr(value, "__module__", ""), made) if made.isidentifier() else None
        function, arguments, *rest = made
        state, items, pairs = (*rest, None, None, None)[:3]
        return self._all("object", function, arguments, state, list(items or ()), list(pairs or ()))


def _hash(*parts: object) -> bytes:
    """Hash of parts, each with its length before it."""
    total = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        total.update(f"{len(content)}:".encode() + content)
    return total.digest()


def _name(kind: type) -> str:
    """Qualified name of a class; a script has no module name of its own, because a worker process gives it another."""
    return f"{kind.__module__}.{kind.__qualname__}" if _is_installed_module(kind.__module__) else kind.__qualname__


def _is_own(name: str, value: object) -> bool:
    """Whether an attribute of a class is the user's; Python adds some, and changes them when objects are copied."""
    return isinstance(value, FunctionType) or not (name == "_abc_impl" or (name[:2] == name[-2:] == "__"))


def _imports(steps: Sequence[tuple[str, Any]]) -> list[str]:
    """Names of the modules that code imports, relative ones with their dots.

    ``tools.read`` of ``from tools import read`` is among them: before the first call, a package may not have it.
    """
    found, start = list[str](), ""
    for (_, dots), _, (kind, name) in zip(steps, steps[1:], steps[2:], strict=False):
        if kind == "IMPORT_NAME":  # the number of dots is loaded two steps before
            start = "." * dots + name
            found.append(start)
        elif kind == "IMPORT_FROM":
            found.append(f"{start}{name}" if start.endswith(".") else f"{start}.{name}")
    return found


def _own_module(name: str, package: str | None) -> ModuleType | None:
    """The user's module that a function of a package imports; ``None`` for one that is installed, or not there."""
    try:
        name = resolve_name(name, package)
        spec = find_spec(name.partition(".")[0])
        own = spec is not None and (spec.origin or "").endswith(".py") and not _is_installed(spec.origin or "")
        return import_module(name) if own else None
    except (Exception, SystemExit):  # whatever a module of the user raises
        return None


def _is_installed(path: str) -> bool:
    return any(part in path for part in INSTALLED)


def _is_installed_module(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return name in sys.builtin_module_names or _is_installed(file)
