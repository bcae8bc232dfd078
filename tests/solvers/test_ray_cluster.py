from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from regretless.errors import InputError
from regretless.solvers import ray_cluster

pytest.importorskip("ray", reason="Ray is not installed")


def test_an_address_where_nothing_listens_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(InputError, match=rf"no Ray cluster answers at '127.0.0.1:{port}'.*ray start --head"):
        ray_cluster.connect(f"127.0.0.1:{port}")


def test_where_no_cluster_answers_none_is_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert ray_cluster.reachable() is None


def test_a_cluster_of_this_machine_that_is_gone_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "ray_current_cluster").write_text("127.0.0.1:1")
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("ray.init", lambda *_, **__: pytest.fail("Ray would try for a minute"))
    assert ray_cluster.reachable() is None
    monkeypatch.setenv("RAY_ADDRESS", "")  # as in a shell that has emptied it
    assert ray_cluster.reachable() is None


def test_without_an_address_ray_starts_on_this_machine_with_enough_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, Any]] = []
    monkeypatch.setattr("ray.init", lambda **given: started.append(given))
    for name in ("RAY_ADDRESS", "RAY_USAGE_STATS_ENABLED"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    ray_cluster.connect(cpus=1000)
    ray_cluster.connect(cpus=0)
    assert [(one["address"], one["num_cpus"]) for one in started] == [("local", 1000), ("local", os.cpu_count())]
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_a_connection_that_is_there_is_used_and_no_other_one_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: True)
    monkeypatch.setattr("ray.get_runtime_context", lambda: SimpleNamespace(gcs_address="here:1"))
    monkeypatch.setattr("ray.init", lambda *_, **__: pytest.fail("connected a second time"))
    for address in ("", "auto", "here:1"):
        ray_cluster.connect(address)
    with pytest.raises(InputError, match="connected to the Ray cluster at here:1, not to there:2"):
        ray_cluster.connect("there:2")


def test_nodes_that_are_alive_and_cpus_that_are_free_are_counted() -> None:
    ray = SimpleNamespace(
        nodes=lambda: [{"Alive": True}, {"Alive": False}, {"Alive": True}],
        cluster_resources=lambda: {"CPU": 8.0, "memory": 1e9},
        available_resources=lambda: {"memory": 1e9},
    )
    assert (ray_cluster.nodes(ray), ray_cluster.cpus(ray), ray_cluster.cpus(ray, free=True)) == (2, 8, 0)


def test_the_handler_of_termination_stays_the_own_one() -> None:
    def own(number: int, frame: object) -> None: ...

    before = signal.signal(signal.SIGTERM, own)
    try:
        with ray_cluster._own_termination():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
