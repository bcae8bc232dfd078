"""``regretless doctor``."""

from __future__ import annotations

import importlib.util
import json as json_text
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import torch

from regretless import __version__
from regretless.cli.show import print_json, print_table
from regretless.cli.spec_options import Json
from regretless.downloads import fetch as files
from regretless.optional import version_of
from regretless.solvers.inventory import inventory

CLUSTER_SECONDS = 60.0  # for a cluster to answer
OPTIONAL = {
    "highspy": "highspy<1.15", "safetensors": "safetensors", "pyscipopt": "pyscipopt", "ortools": "ortools",
    "gurobipy": "gurobipy", "cpmpy": "cpmpy", "pyomo": "pyomo", "cvxpy": "cvxpy", "linopy": "linopy",
    "sklearn": "scikit-learn", "pandas": "pandas", "pyarrow": "pyarrow",
    "python_calamine": "python-calamine", "matplotlib": "matplotlib", "optuna": "optuna", "cma": "cma", "ray": "ray",
}  # fmt: skip


def doctor(json: Json = False) -> None:
    """Show versions, engines, data and known conflicts."""
    found = examine()
    if json:
        print_json(found)
        return
    print_table("regretless doctor", ("what", "version"), list(found["versions"].items()))
    print_table("engines", ("engine", "solves", "version", "license"), [_row(engine) for engine in found["engines"]])
    for engine in found["engines"]:
        said = "; ".join(text for text in (engine["problem"], engine["limits"]) if text)
        if said:
            print(f"{engine['name']}: {said}")
    print_table("data", ("data set", "present"), [(k, "yes" if v else "no") for k, v in found["data"].items()])
    print(_cluster_line(found["ray_cluster"]))
    for line in found["conflicts"] or ["no known conflict"]:
        print(line)


def examine() -> dict[str, Any]:
    """Collect what ``doctor`` prints; every engine solves a tiny model."""
    versions = {"regretless": __version__, "python": platform.python_version(), "torch": torch.__version__}
    versions["cuda"] = "available" if torch.cuda.is_available() else "not available"
    versions |= {package: _version(package, pip) for package, pip in OPTIONAL.items()}
    return {
        "versions": versions,
        "engines": [asdict(engine) for engine in inventory(probe=True)],
        "data": {row.name: row.present for row in files.status()},
        "data_folder": os.environ.get("REGRETLESS_DATA", ""),
        "ray_cluster": _ray_cluster(),
        "conflicts": _conflicts(versions),
    }


def _ray_cluster() -> dict[str, Any] | None:
    """The running Ray cluster that can be reached from here, found by another process: a cluster may hang."""
    if importlib.util.find_spec("ray") is None:
        return None
    command = [sys.executable, "-m", "regretless.solvers.ray_cluster"]
    try:
        said = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=CLUSTER_SECONDS)
        found = json_text.loads(said.stdout.splitlines()[-1])
        return None if found is None else dict(found)
    except (subprocess.TimeoutExpired, ValueError, IndexError):
        return None


def _cluster_line(cluster: dict[str, Any] | None) -> str:
    if cluster is None:
        return "Ray cluster: none is reachable; --executor ray starts Ray on this machine"
    return f"Ray cluster: {cluster['address']}, {cluster['nodes']} nodes, {cluster['cpus']} CPUs"


def _row(engine: dict[str, Any]) -> tuple[str, ...]:
    works = {True: "yes", False: "no", None: "-"}[engine["works"]]
    return engine["name"], works, engine["version"] or "missing", engine["license"]


def _version(package: str, pip: str) -> str:
    if importlib.util.find_spec(package) is None:
        return f"missing (pip install '{pip}')"
    return version_of(pip.partition("<")[0]) or "installed"


def _conflicts(versions: dict[str, str]) -> list[str]:
    highs = versions["highspy"].split(".")
    if highs[0].isdigit() and tuple(map(int, highs[:2])) >= (1, 15) and not versions["ortools"].startswith("missing"):
        return [
            "conflict: highspy 1.15 or newer and OR-Tools ship one library under one name, and the second import "
            "fails; install highspy below 1.15"
        ]
    return []
