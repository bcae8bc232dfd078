"""The library runs with numpy, scipy and torch alone, as on a GPU machine with no solver."""

from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# What torch itself requires may be there; everything else that is not in the standard library is refused.
BLOCKER = """
import sys
from importlib.abc import MetaPathFinder

ALLOWED = {
    "numpy", "scipy", "torch", "torchgen", "functorch", "regretless",
    "filelock", "typing_extensions", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "fsspec", "setuptools",
    "libtorchsplit",
} | set(sys.stdlib_module_names)

START = set(sys.modules)  # start-up files of the environment may have loaded their own

def foreign(name):
    top = name.partition(".")[0]
    return top not in ALLOWED and not top.startswith(("_", "sitecustomize", "usercustomize"))

class Refuse(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if foreign(name):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, Refuse())
"""

# One process does it all: starting torch is most of the time.
SCRIPT = """
import importlib, json, random, tempfile
from pathlib import Path

report = {}
EXTRAS = ("highspy", "safetensors", "typer", "rich", "sklearn", "pandas", "matplotlib", "numba", "optuna", "ortools")
report["blocked"] = [name for name in EXTRAS if foreign(name)]

import numpy, torch

def state():
    generators = torch.random.get_rng_state().tolist(), numpy.random.get_state()[1].tolist(), random.getstate()
    return generators, torch.get_num_threads(), torch.get_default_dtype()

before = state()
import regretless as rl
report["side effect"] = state() != before
report["attributes"] = ["top-k" in rl.problems.names(), rl.training.fit.__name__]

root = Path(rl.__file__).parent
names = [".".join(("regretless", *path.relative_to(root).with_suffix("").parts)) for path in root.rglob("*.py")]
names = [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]
report["modules"] = names = [name for name in names if not name.startswith("regretless.cli")]
report["failed"] = {}
for name in names:
    try:
        importlib.import_module(name)
    except ImportError as error:
        report["failed"][name] = str(error)
# compiled modules make some without a file
report["foreign"] = [
    name for name, module in sys.modules.items()
    if foreign(name) and name not in START and getattr(module, "__spec__", None) is not None
]

def cheapest(costs):
    return costs == costs.min()

problem = rl.Problem(oracle=cheapest, dimension=3)
data = rl.Dataset.solve(problem, torch.randn(12, 2), torch.rand(12, 3))
report["solved"] = data.solutions.sum().item()
deep = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3))
for model, method in [(deep, "spo"), (torch.nn.Linear(2, 3), "auto")]:
    rl.train(problem, data, model, method=method, epochs=1, progress=False)
report["sympy"] = "sympy" in sys.modules

from regretless.storage import save_state
model = rl.Problem(rl.MILP([[3.0, 4.0, 5.0]], row_upper=7.0), sense="max", workers=2)
calls = {
    "solve": lambda: model.solve([[4.0, 5.0, 6.0]] * 3),
    "labels": lambda: rl.Dataset.solve(model, torch.zeros(2, 1), torch.ones(2, 3)),
    "save": lambda: save_state(Path(tempfile.gettempdir()) / "never written", {}, kind="test"),
}
for name, call in calls.items():
    try:
        call()
    except rl.errors.MissingDependencyError as error:
        report[name] = str(error)
print(json.dumps(report))
"""


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """What happens where only numpy, scipy and torch can be imported."""
    command = [sys.executable, "-c", BLOCKER + SCRIPT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_every_module_but_the_command_line_can_be_imported(report: dict[str, Any]) -> None:
    assert len(report["blocked"]) == 10
    assert {"regretless.problem", "regretless.solvers.highs", "regretless.storage"} <= set(report["modules"])
    # The estimator is a scikit-learn class, so it needs scikit-learn to exist at all, and says so.
    assert set(report["failed"]) <= {"regretless.estimator"}
    assert "pip install 'scikit-learn'" in report["failed"]["regretless.estimator"]
    assert report["foreign"] == []


def test_a_function_needs_nothing_else(report: dict[str, Any]) -> None:
    assert report["solved"] == 12.0


def test_training_does_not_wait_for_sympy(report: dict[str, Any]) -> None:
    # Some calls of torch import it, for half a second: ``backward`` with a gradient, and ``to_empty``.
    assert report["sympy"] is False


def test_a_missing_solver_is_raised_with_its_pip_line_wherever_it_is_needed(report: dict[str, Any]) -> None:
    for door in ("solve", "labels"):
        assert "the package 'highspy' is needed to solve models with HiGHS" in report[door]
        assert report[door].endswith("install it with: pip install 'highspy<1.15'")


def test_missing_file_support_is_raised_with_its_pip_line(report: dict[str, Any]) -> None:
    assert "the package 'safetensors' is needed to write caches and checkpoints" in report["save"]
    assert report["save"].endswith("install it with: pip install 'safetensors'")


def test_importing_changes_no_generator_and_no_setting(report: dict[str, Any]) -> None:
    assert report["side effect"] is False


def test_every_public_name_is_found_and_listed() -> None:
    import regretless as rl

    assert set(rl.__all__) <= set(dir(rl))
    assert all(getattr(rl, name).__name__.rpartition(".")[2] == name for name in rl.__all__)
    for missing in ("Cache", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"no attribute '{missing}'"):
            getattr(rl, missing)


def test_modules_are_found_without_an_import_of_their_own(report: dict[str, Any]) -> None:
    assert report["attributes"] == [True, "fit"]


# What a user's own type check must see: names, types of results, and mistakes.
TYPED = """
from typing import assert_type

import numpy as np
import torch

import regretless as rl

problem = rl.Problem(rl.MILP([[1.0, 2.0]], row_upper=2.0), sense="max")
data = rl.Dataset(np.zeros((2, 1)), [[1.0, 2.0]] * 2, [[0.0, 1.0]] * 2)
assert_type(data.features, torch.Tensor)
assert_type(rl.SPOPlus(problem)(data.costs, data.costs, data.solutions), torch.Tensor)
assert_type(rl.problems.names(), list[str])
rl.SPOplus
rl.ImplicitMLE(problem, sigm=1.0)
"""


@pytest.mark.slow
def test_a_type_checker_knows_every_name_and_finds_a_wrong_one(tmp_path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    import regretless

    assert regretless.__file__ is not None
    script = tmp_path / "typed.py"
    script.write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(script)]
    environment = os.environ | {"PYTHONPATH": str(Path(regretless.__file__).parents[1])}
    report = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment).stdout
    errors = [line.partition("error: ")[2] for line in report.splitlines() if "error: " in line]
    assert [error.partition("  [")[0] for error in errors] == [
        'Module has no attribute "SPOplus"; maybe "SPOPlus"?',
        'Unexpected keyword argument "sigm" for "ImplicitMLE"; did you mean "sigma"?',
    ]


def test_type_checkers_do_not_see_the_function_that_takes_every_name() -> None:
    import regretless

    assert regretless.__file__ is not None
    tree = ast.parse(Path(regretless.__file__).read_text(encoding="utf-8"))
    assert "__getattr__" not in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


def test_losses_name_all_of_their_settings() -> None:
    import regretless as rl

    losses = [getattr(rl, name) for name in rl.__all__]
    losses = [loss for loss in losses if isinstance(loss, type) and issubclass(loss, rl.Loss)]
    for loss in losses:
        assert not [one for one in inspect.signature(loss).parameters.values() if one.kind is one.VAR_KEYWORD], loss
