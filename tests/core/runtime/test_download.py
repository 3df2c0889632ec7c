"""Files from the network: fetched once, whole or not at all, and unpacked."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from core import Tensor
from core.errors import RunError
from core.runtime.disk import download
from core.runtime.disk.download import fetch

DATA = bytes(range(256)) * 5000


class Pages(BaseHTTPRequestHandler):
    """What the tests fetch."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        pages = {"/plain": DATA, "/packed.gz": gzip.compress(DATA), "/empty": b"", "/cut": DATA}
        found = pages.get(self.path)
        self.send_response(404 if found is None else 200)
        if found is not None:
            self.send_header("Content-Length", str(len(found)))
        self.end_headers()
        self.wfile.write((found or b"")[: 100 if self.path == "/cut" else None])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[tuple[str, list[str]]]:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    Pages.asked = []
    with HTTPServer(("127.0.0.1", 0), Pages) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}", Pages.asked
        made.shutdown()
        thread.join()


def test_fetched_once(server: tuple[str, list[str]]) -> None:
    base, asked = server
    for _ in range(2):
        assert fetch(f"{base}/plain").read_bytes() == DATA
        assert fetch(f"{base}/packed.gz", gunzip=True).read_bytes() == DATA
    assert gzip.decompress(fetch(f"{base}/packed.gz").read_bytes()) == DATA  # as it is
    assert asked == ["/plain", "/packed.gz", "/packed.gz"]
    assert fetch(f"{base}/empty").read_bytes() == b""


def test_a_tensor_of_it_stays_in_the_file(server: tuple[str, list[str]]) -> None:
    found = Tensor.from_url(f"{server[0]}/packed.gz", gunzip=True)
    assert found.device.startswith("DISK:")
    assert bytes(found[:300].data()) == DATA[:300]
    assert Tensor.from_url(f"{server[0]}/plain", device="CPU").device == "CPU"


@pytest.mark.parametrize(("address", "gunzip", "said"), [
    ("/none", False, "404"), ("/cut", False, "100 bytes of"), ("/plain", True, "gzip"),
])  # fmt: skip
def test_what_cannot_be_fetched(
    server: tuple[str, list[str]], tmp_path: Path, address: str, gunzip: bool, said: str
) -> None:
    for _ in range(2):
        with pytest.raises(RunError, match=f"(?i){address}: .*{said}"):
            fetch(server[0] + address, gunzip)
    assert len(server[1]) == 2
    assert list((tmp_path / "uopviz" / "downloads").iterdir()) == []


def test_limits_and_other_addresses(
    server: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fetch(str(tmp_path / "here")) == tmp_path / "here"
    (tmp_path / "here").write_bytes(b"abc")
    assert fetch((tmp_path / "here").as_uri()).read_bytes() == b"abc"
    for wrong in ("ftp://127.0.0.1/x", "javascript:x", "data:,x"):
        with pytest.raises(RunError, match="no address"):
            fetch(wrong)
    with pytest.raises(RunError, match=r"127\.0\.0\.1:1/x: "):
        fetch("http://127.0.0.1:1/x")
    monkeypatch.setattr(download, "LIMIT", 1000)
    with pytest.raises(RunError, match="more than 1000 bytes"):
        fetch(f"{server[0]}/packed.gz", gunzip=True)
