"""The connection to Ray: a cluster that runs already, or a small one that is started on this machine."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from regretless.errors import InputError
from regretless.optional import need_ray

# Models and costs are small; Ray would reserve a third of the memory.
STORE_BYTES = 128 * 2**20
REACH_SECONDS = 5.0


def connect(address: str = "", *, cpus: int = 1) -> Any:
    """Return the package ``ray``, connected to a cluster.

    A connection that this process has already is used as it is.

    Args:
        address: ``host:port`` of a cluster, ``auto`` for the one on this machine, or empty for that of the environment
            variable ``RAY_ADDRESS``. Without any of them, Ray is started on this machine and ends with the process.
        cpus: the least number of CPUs of a Ray that is started here.

    Raises:
        MissingDependencyError: Ray is not installed.
        InputError: no cluster answers at the address, or this process is connected to another one.
    """
    ray = need_ray()
    if ray.is_initialized():
        here = ray.get_runtime_context().gcs_address
        if address not in ("", "auto", here):
            raise InputError(f"this process is connected to the Ray cluster at {here}, not to {address}")
        return ray
    address = address or os.environ.get("RAY_ADDRESS", "")
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    with _own_termination():
        if not address:
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            cpus = max(cpus, os.cpu_count() or 1)
            ray.init(
                address="local", num_cpus=cpus, object_store_memory=STORE_BYTES, include_dashboard=False, **quiet
            )  # fmt: skip
            return ray
        try:
            _refuse_silent(address)
            ray.init(address=address, **quiet)
        except (OSError, RuntimeError, ValueError) as error:  # a ConnectionError is an OSError
            raise InputError(
                f"no Ray cluster answers at {address!r} ({error}): start one with 'ray start --head', or leave out the "
                "address to start Ray on this machine"
            ) from error
    return ray


def reachable() -> dict[str, Any] | None:
    """Nodes and CPUs of the running cluster that ``connect`` would use, or ``None``; for ``regretless doctor``."""
    try:
        ray = connect(os.environ.get("RAY_ADDRESS") or "auto")
    except InputError:
        return None
    return {"address": ray.get_runtime_context().gcs_address, "nodes": nodes(ray), "cpus": cpus(ray)}


def nodes(ray: Any) -> int:
    """Number of nodes that are alive."""
    return sum(bool(node["Alive"]) for node in ray.nodes())


def cpus(ray: Any, *, free: bool = False) -> int:
    """Number of CPUs of the cluster, or of those that nothing holds."""
    return int((ray.available_resources() if free else ray.cluster_resources()).get("CPU", 0))


def _refuse_silent(address: str) -> None:
    """Raise an ``OSError`` where nothing listens; Ray itself would try for a minute or more."""
    if address == "auto":
        # Where Ray keeps the address of the cluster on this machine; a cluster that was killed leaves it there.
        folder = os.environ.get("RAY_TMPDIR") or os.environ.get("TMPDIR") or "/tmp"
        kept = Path(folder, "ray", "ray_current_cluster")
        address = kept.read_text(encoding="utf-8").strip() if kept.is_file() else ""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "/" not in host:
        socket.create_connection((host, int(port)), timeout=REACH_SECONDS).close()


@contextlib.contextmanager
def _own_termination() -> Iterator[None]:
    """Keep this process's handler of SIGTERM: Ray sets its own, and training would end without a checkpoint."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        # None stands for a handler that was not set from Python.
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def main() -> None:
    """Print the reachable cluster as JSON: in a process of its own, since a cluster that hangs must not hang more."""
    print(json.dumps(reachable()))


if __name__ == "__main__":
    main()
