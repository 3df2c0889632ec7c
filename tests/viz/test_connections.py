"""Connections to the server: refused before any route, slow, idle, or very many."""

from __future__ import annotations

import json
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from core.errors import ServerError
from viz.server import channel
from viz.server.listen import listen
from viz.server.security import HEADER
from viz.server.serve import MAX_HEADER, Server
from viz.store import Store


def received(sock: socket.socket) -> bytes:
    """All that the server says until it closes the connection."""
    sock.settimeout(20)
    parts: list[bytes] = []
    while part := sock.recv(1 << 16):
        parts.append(part)
    return b"".join(parts)


@pytest.fixture
def served(store: Store, dist: Path) -> Iterator[Server]:
    server = Server(store).start()
    yield server
    server.close()


CHUNK = b"fffffff\r\n" + b"x" * (1 << 21)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nA: b\r\n c\x00\r\n\r\n", b"400"),
        ((b"GET / HTTP/1.1\r\nX: " + b"a" * MAX_HEADER)[:MAX_HEADER], b"431"),
        (b"POST /api/open HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", b"413"),
        (b"POST /api/open HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%b" % CHUNK, b""),
    ],
)  # fmt: skip
def test_what_is_refused_before_any_route_is_protected_too(
    served: Server, sent: bytes, status: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as sock:
        with suppress(OSError):
            sock.sendall(sent)
        try:
            head, _, body = received(sock).partition(b"\r\n\r\n")
        except ConnectionError:
            assert not status
            return
    assert re.match(rb"HTTP/1\.[01] " + status, head)
    assert b"default-src 'none'" in head
    assert b"x-frame-options: deny" in head.lower()
    assert b"uopviz" not in body


def test_who_asks_slowly_or_not_at_all_is_shown_out(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "ASKING", 0.5)
    monkeypatch.setattr(channel, "IDLE", 0.5)
    silent, slow, dripping = (
        socket.create_connection(("127.0.0.1", served.port)) for _ in range(3)
    )
    with silent, slow, dripping:
        slow.sendall(b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nx")
        until = time.monotonic() + 20
        dripping.setblocking(False)
        ended = False
        while not ended and time.monotonic() < until:
            with suppress(BlockingIOError):
                try:
                    dripping.send(b"G")
                    ended = dripping.recv(100) == b""
                except ConnectionError:
                    ended = True
            time.sleep(0.1)
        assert ended, "a byte now and then keeps no connection open"
        assert received(silent) == received(slow) == b""


def test_a_thousand_connections_do_not_shut_the_page_out(served: Server) -> None:
    held: list[socket.socket] = []
    try:
        for i in range(1000):
            held.append(socket.create_connection(("127.0.0.1", served.port), timeout=20))
            if i % 2:
                held[-1].sendall(b"GET / HTTP/1.1\r\n")
        asked = urllib.request.Request(f"http://127.0.0.1:{served.port}/api/run")
        asked.add_header(HEADER, served.guard.token)
        with urllib.request.urlopen(asked, timeout=20) as answer:
            assert answer.status == 200
    finally:
        for sock in held:
            sock.close()


def test_a_large_body_is_refused_before_it_is_read(store: Store, dist: Path) -> None:
    """From anybody: it would be kept on the disk before the token is looked at."""
    server = Server(store).start()
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as made:
            made.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n")
            assert made.recv(100).startswith(b"HTTP/1.1 413 ")
    finally:
        server.close()


def test_a_real_server(store: Store, dist: Path) -> None:
    server = Server(store).start()
    try:
        asked = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/run")
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(asked, timeout=5)
        asked.add_header(HEADER, server.guard.token)
        with urllib.request.urlopen(asked, timeout=5) as answer:
            assert json.load(answer)["totals"]["rewrites"] == 3
            assert "Server" not in answer.headers
        assert server.guard.token in server.url
        assert server.guard.token not in repr(server.guard)
    finally:
        server.close()


def test_ports() -> None:
    first, said = listen(0)
    port = first.getsockname()[1]
    assert first.getsockname()[0] == "127.0.0.1"
    assert said == ""
    with first:
        with pytest.raises(ServerError, match="cannot be used"):
            listen(port)
        second, said = listen(port, or_next=True)
        with second:
            assert second.getsockname()[1] != port
            assert f"port {port} is in use" in said
    with pytest.raises(ServerError):
        listen(70_000)
