from __future__ import annotations

import signal
import socket
from pathlib import Path

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


def test_the_handler_of_termination_stays_the_own_one() -> None:
    def own(number: int, frame: object) -> None: ...

    before = signal.signal(signal.SIGTERM, own)
    try:
        with ray_cluster._own_termination():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
