from __future__ import annotations

import hashlib
import os
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from regretless.downloads import fetch as files
from regretless.downloads.fetch import DATASETS, FILES, DatasetRow, PublicFile, files_of
from regretless.errors import FileError, InputError


def test_every_file_belongs_to_one_data_set_and_every_problem_finds_its_files() -> None:
    owned = [file for row in DATASETS.values() for file in row.files]
    assert sorted(owned) == sorted(FILES)
    assert len(files_of("matching-25")) == 8
    assert files_of("knapsack-60") == ("Data.npz",)
    assert all(len(entry.sha256) == 64 and entry.url.startswith("https://") for entry in FILES.values())


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_the_table_describes_the_published_file(name: str) -> None:
    content = (Path(os.environ["REGRETLESS_DATA"]) / name).read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (FILES[name].bytes, FILES[name].sha256)


CONTENT = bytes(range(256)) * 1024  # four chunks
SHA = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    hits = 0

    def do_GET(self) -> None:
        type(self).hits += 1
        if self.path == "/missing":
            self.send_error(404, "Not Found")
            return
        self.send_response(200)
        body = {
            "/complete": CONTENT,
            "/cut": CONTENT[:1000],
            "/quietly-cut": CONTENT[:-1],
            "/corrupt": CONTENT[:-1] + b"?",
            "/long": CONTENT * 3,
            "/web-page": b"<html>sign in</html>",
        }[self.path]
        length = len(CONTENT) if self.path == "/cut" else len(body)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path / "data"))
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    Handler.hits = 0
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def offer(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setitem(files.FILES, "sample.bin", PublicFile(url, SHA, len(CONTENT)))


def left_behind(tmp_path: Path) -> list[str]:
    return [str(p) for p in tmp_path.rglob("*") if p.is_file()]


def test_a_complete_file_is_fetched_verified_and_found(server: str, monkeypatch: Any, tmp_path: Path) -> None:
    offer(monkeypatch, server + "/complete")
    path = files.fetch("sample.bin")
    assert path == tmp_path / "data" / "sample.bin" == files.locate("sample.bin")
    assert path.read_bytes() == CONTENT
    assert left_behind(tmp_path) == [str(path)]


def test_a_good_file_is_not_fetched_again(server: str, monkeypatch: Any) -> None:
    offer(monkeypatch, server + "/complete")
    files.fetch("sample.bin")
    files.fetch("sample.bin")
    assert Handler.hits == 1


def test_a_damaged_copy_is_refused_and_replaced_by_fetch(server: str, monkeypatch: Any, tmp_path: Path) -> None:
    offer(monkeypatch, server + "/complete")
    path = tmp_path / "data" / "sample.bin"
    path.parent.mkdir()
    path.write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(FileError, match=rf"sample.bin.*with SHA-256 {SHA}, got .* [0-9a-f]{{64}}.*regretless data"):
        files.locate("sample.bin")
    assert files.fetch("sample.bin").read_bytes() == CONTENT


@pytest.mark.parametrize("route", ["/cut", "/quietly-cut", "/web-page"])
def test_an_incomplete_download_is_refused_and_leaves_nothing(
    server: str, monkeypatch: Any, tmp_path: Path, route: str
) -> None:
    offer(monkeypatch, server + route)
    with pytest.raises(FileError, match=r"sample.bin.*(incomplete|IncompleteRead)"):
        files.fetch("sample.bin")
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("route", ["/corrupt", "/long"])
def test_a_download_with_another_checksum_is_refused_and_leaves_nothing(
    server: str, monkeypatch: Any, tmp_path: Path, route: str
) -> None:
    offer(monkeypatch, server + route)
    with pytest.raises(FileError, match=f"expected SHA-256 {SHA}"):
        files.fetch("sample.bin")
    assert left_behind(tmp_path) == []


def test_an_address_that_is_gone_is_named(server: str, monkeypatch: Any, tmp_path: Path) -> None:
    offer(monkeypatch, server + "/missing")
    with pytest.raises(FileError, match=r"sample.bin: .*/missing answered 404"):
        files.fetch("sample.bin")
    assert left_behind(tmp_path) == []


def test_no_network_gives_a_clear_error(server: str, monkeypatch: Any, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    offer(monkeypatch, f"http://127.0.0.1:{port}/complete")
    with pytest.raises(FileError, match=r"cannot fetch sample.bin.*is there a network.*REGRETLESS_DATA"):
        files.fetch("sample.bin")
    assert left_behind(tmp_path) == []


def test_a_server_that_does_not_answer_is_not_waited_for(server: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(files, "TIMEOUT", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        offer(monkeypatch, f"http://127.0.0.1:{silent.getsockname()[1]}/complete")
        with pytest.raises(FileError, match=r"cannot fetch sample.bin.*timed out"):
            files.fetch("sample.bin")


def test_a_folder_that_cannot_be_written_is_named(server: str, monkeypatch: Any, tmp_path: Path) -> None:
    offer(monkeypatch, server + "/complete")
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(FileError, match="cannot write"):
        files.fetch("sample.bin")


def test_a_missing_file_is_named_with_the_command_to_fetch_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path))
    with pytest.raises(FileError, match=r"ind.cora.x is not in .* \(.*REGRETLESS_DATA\).*regretless data fetch cora"):
        files.locate("ind.cora.x")


def test_the_cache_folder_is_used_without_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("REGRETLESS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert files.folder() == tmp_path / "regretless" / "data"
    with pytest.raises(FileError, match=r"Data.npz is not in \S*; download it with: regretless data fetch semo"):
        files.locate("Data.npz")


def test_a_file_that_changed_after_its_download_is_refused(server: str, monkeypatch: Any) -> None:
    offer(monkeypatch, server + "/complete")
    path = files.fetch("sample.bin")
    path.write_bytes(CONTENT + b"more")
    with pytest.raises(FileError, match="wrong content"):
        files.locate("sample.bin")


def test_a_name_is_that_of_a_data_set_a_problem_or_a_file() -> None:
    assert files.files_of("semo") == files.files_of("Data.npz") == ("Data.npz",)
    assert "prices2013.dat" in files.files_of("energy-1")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="no public file 'x'"):
        files.locate("x")
    with pytest.raises(InputError, match="no public file 'x'"):
        files.fetch("x")
    with pytest.raises(InputError, match="no data set, problem or file 'x'"):
        files.files_of("x")


def test_status_reports_what_is_present(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGRETLESS_DATA", str(tmp_path))
    rows = files.status()
    assert [row.name for row in rows] == list(files.datasets())
    assert not any(row.present for row in rows)
    assert {row.where for row in rows} == {tmp_path}
    assert next(row.bytes for row in rows if row.name == "semo") == 3031300
    offer(monkeypatch, "https://nowhere")
    monkeypatch.setitem(files.DATASETS, "sample", DatasetRow(("sample.bin",), "", "", ()))
    (tmp_path / "sample.bin").write_bytes(CONTENT)
    assert [row.name for row in files.status() if row.present] == ["sample"]
