"""Runs on a Ray cluster: one run is one task, and everything it writes comes back to the process that started it.

Nodes need the installed package and nothing else. Problems are loaded here, with their data and true optima, and sent
to each node once. A run works in a temporary folder of its node; its files are returned and written here, the figures
that mark it as done last.
"""

from __future__ import annotations

import contextlib
import pickle
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regretless.begun_solves import beside
from regretless.errors import InputError, SolveError
from regretless.problems import BenchmarkProblem
from regretless.runs import run_folder as files
from regretless.runs.spec import STARTS, Spec
from regretless.runs.training_run import load_problem, run, single_threaded
from regretless.solvers import ray_cluster
from regretless.storage import write_bytes

WAIT_SECONDS = 1.0
MOST_FAILED_STARTS = 5  # one after another


class RayRuns:
    """What the workers of a grid share: the connection to the cluster, and every problem, loaded and sent once.

    Args:
        specs: the runs.
        results: folder of results, on this machine.
        workers: runs at the same time, each with one CPU of the cluster.
        address: of the cluster; see ``ray_cluster.connect``.

    Raises:
        InputError: no cluster answers, or a run starts from a folder, which is not sent.
    """

    def __init__(self, specs: Sequence[Spec], results: Path, *, workers: int, address: str = "") -> None:
        for spec in specs:
            if spec.start not in STARTS:
                raise InputError(f"runs on Ray cannot start from the folder of a run, got start={spec.start!r}")
        self.ray, self.results = ray_cluster.connect(address, cpus=workers), results
        self.nodes: dict[int, str] = {}
        self._actor = self.ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(RunActor)
        self.failed_starts = 0
        self._problems: dict[str, Any] = {}
        self._lock = threading.Lock()

    def worker(self) -> RayWorker:
        """Start one more worker."""
        return RayWorker(self, self._actor.remote())

    def problem(self, spec: Spec) -> tuple[str, Any]:
        """The problem of a run in the cluster, with a key; loaded and sent when it is first needed."""
        key = spec.problem_key
        with self._lock:
            if key not in self._problems:
                loaded = load_problem(spec, store=self.results / "labels")
                self._problems[key] = self.ray.put(self.ray.cloudpickle.dumps(loaded))
        return key, self._problems[key]

    @property
    def count(self) -> int:
        """Number of nodes that have a worker."""
        return len(set(self.nodes.values()))


class RayWorker:
    """The driver's side of one worker; see ``worker_pool.RunWorker``."""

    def __init__(self, shared: RayRuns, actor: Any) -> None:
        self.shared, self.actor, self.alive = shared, actor, True
        self._node = actor.node.remote()

    def ready(self) -> bool:
        """Wait a second at most for the actor to start; a cluster that is full starts it later."""
        if id(self) not in self.shared.nodes:
            done, _ = self.shared.ray.wait([self._node], timeout=WAIT_SECONDS)
            if not done:
                return False
            try:
                self.shared.nodes[id(self)] = self.shared.ray.get(self._node)
                self.shared.failed_starts = 0
            except self.shared.ray.exceptions.RayError as error:
                self.alive = False
                self.shared.failed_starts += 1
                if self.shared.failed_starts >= MOST_FAILED_STARTS:
                    raise SolveError(
                        f"{MOST_FAILED_STARTS} Ray workers in a row did not start; does every node have regretless? "
                        f"The last one said: {error}"
                    ) from error
        return self.alive

    def do(self, spec: Spec) -> dict[str, Any]:
        """Do one run and keep its files; ``lost`` says that the worker has ended and the run can be done again."""
        try:
            key, problem = self.shared.problem(spec)
            answer, written = self.shared.ray.get(self.actor.do.remote(spec.as_dict(), key, problem))
        except Exception as error:  # of the task, or the problem cannot be loaded: the rest of the grid continues
            errors = self.shared.ray.exceptions
            self.alive = isinstance(error, errors.RayTaskError) or not isinstance(error, errors.RayError)
            answer, written = (files.failure(error) if self.alive else {"status": "lost"}), {}
        if answer["status"] == "done":
            _write(files.run_path(self.shared.results, spec), written)
        # Nodes are counted here: after its last run a worker no longer counts.
        return {"seconds": 0.0, **answer, "nodes": self.shared.count}

    def stop(self) -> None:
        """End the actor; its run starts anew with the next command."""
        with contextlib.suppress(Exception):  # it has ended already
            self.shared.ray.kill(self.actor)

    def close(self) -> None:
        """End the actor after its last run."""
        self.shared.nodes.pop(id(self), None)
        self.stop()


class RunActor:
    """Does runs (in a worker of the cluster) and keeps the problems that it was sent."""

    def __init__(self) -> None:
        single_threaded()
        self.loaded: dict[str, BenchmarkProblem] = {}

    def node(self) -> str:
        """The node that the actor runs on."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def do(self, spec: dict[str, Any], key: str, problem: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Do one run; return how it ended, and the files that it wrote."""
        start = time.monotonic()
        try:
            if key not in self.loaded:
                self.loaded[key] = pickle.loads(problem)
            with tempfile.TemporaryDirectory(prefix="regretless-") as folder:
                run(Spec.from_dict(spec), Path(folder), loaded=self.loaded[key], progress=False)
                kept = [path for path in Path(folder).iterdir() if not path.name.startswith(".")]
                written = {path.name: path.read_bytes() for path in kept}
            return {"status": "done", "seconds": time.monotonic() - start}, written
        except Exception as error:  # the rest of the grid continues
            return files.failure(error) | {"seconds": time.monotonic() - start}, {}


def _write(folder: Path, written: dict[str, bytes]) -> None:
    """Write the files of a finished run; the figures mark it as done and come last."""
    for name in sorted(written, key=lambda name: name == files.METRICS):
        write_bytes(folder / name, written[name])
    checkpoint = folder / files.CHECKPOINT
    for left in (checkpoint, beside(checkpoint)):  # by an earlier attempt
        left.unlink(missing_ok=True)
