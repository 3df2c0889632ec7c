"""Connections to the server: refused before any route, slow, idle, or very many."""

from __future__ import annotations

import http.client
import json
import logging
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from core.errors import ServerError
from viz.server.connections import channel, log
from viz.server.connections.dispatch import Queue
from viz.server.connections.listen import listen
from viz.server.connections.log import Quiet
from viz.server.connections.serve import MAX_HEADER, TAKEN, Server
from viz.server.security import HEADER
from viz.views.store import Store


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
        (b"POST /api/A/open HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", b"413"),
        (b"POST /api/A/open HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
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
        asked = urllib.request.Request(f"http://127.0.0.1:{served.port}/api/A/run")
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
        asked = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/A/run")
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


def ask(served: Server, timeout: float = 60) -> None:
    """The owner of the token has an answer on a new connection."""
    asked = urllib.request.Request(f"http://127.0.0.1:{served.port}/api/A/run")
    asked.add_header(HEADER, served.guard.token)
    with urllib.request.urlopen(asked, timeout=timeout) as answer:
        assert answer.status == 200
        answer.read()


def connections(served: Server) -> list[channel.Channel]:
    return [*served._server.active_channels.values()]


def is_closed(sock: socket.socket) -> bool:
    """Whether the server has closed a connection; takes nothing of what there is to read."""
    sock.settimeout(0)
    with suppress(BlockingIOError):
        try:
            sock.sendall(b"x")  # the answer to this is what tells
            time.sleep(0.01)
            sock.sendall(b"x")
        except ConnectionError:
            return True
    return False


def stuck(served: Server, request: bytes, times: int) -> socket.socket:
    """A client that asks and asks, and never reads."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", served.port))
    sock.settimeout(0.3)
    with suppress(OSError):
        for _ in range(times):
            sock.sendall(request)
    return sock


ANYBODY = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_what_is_sent_before_the_answer_is_not_answered(served: Server) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as sock:
        sock.sendall(ANYBODY * 50)
        assert received(sock).count(b"HTTP/1.1 403") == 1
    page = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    page.connect()
    kept = page.sock
    for _ in range(50):  # one after the other is how browsers ask
        page.request("GET", "/")
        assert page.getresponse().read() == b"forbidden"
    assert page.sock is kept
    page.close()


def test_clients_that_ask_and_never_read_are_shown_out(
    served: Server, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether their requests come at once or one by one, and whether they have the token or not."""
    monkeypatch.setattr(channel, "IDLE", 1.0)
    monkeypatch.setattr(channel, "READING", 2.0)
    monkeypatch.setattr(store, "rules", lambda: ["x" * 1000] * 20_000)
    token = served.guard.token.encode()
    port = str(served.port).encode()
    owner = b"GET /api/A/rules HTTP/1.1\r\nHost: 127.0.0.1:%b\r\n%b: %b\r\n\r\n"
    owner = owner % (port, HEADER.encode(), token)
    asked = ((ANYBODY, 4000), (ANYBODY * 100, 40), (owner, 1), (owner, 100))
    unread: list[int] = []
    close = channel.Channel.handle_close

    def noted(self: channel.Channel) -> None:
        unread.append(self.total_outbufs_len)
        close(self)

    monkeypatch.setattr(channel.Channel, "handle_close", noted)
    held = [stuck(served, request, times) for request, times in asked]
    try:
        until = time.monotonic() + 40
        while connections(served) or sum(size > 1_000_000 for size in unread) < 2:
            assert time.monotonic() < until
            time.sleep(0.01)
        assert all(map(is_closed, held))
        ask(served)
    finally:
        for sock in held:
            sock.close()


class Deaf:
    """A connection with an answer that its client reads at some pace."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(channel.time, "time", lambda: self.now)
        self.channel = channel.Channel.__new__(channel.Channel)
        self.channel.requests, self.channel.request = [], None
        self.channel.last_activity = self.now
        self.channel.total_outbufs_len = 100_000_000

    def read(self, seconds: float, count: int) -> bool:
        """Lets time go by, and reads; whether the connection is still there."""
        for _ in range(int(seconds)):
            self.now += 1
            if count:
                self.channel._read += count
                self.channel.last_activity = self.now
            if self.channel._is_late(self.now):
                return False
        return True


def test_an_answer_has_to_be_read_at_some_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Deaf(monkeypatch).read(600, channel.SLOWEST)
    assert Deaf(monkeypatch).read(channel.READING, 0)
    assert not Deaf(monkeypatch).read(channel.READING + 3, 0)
    assert not Deaf(monkeypatch).read(channel.READING + 3, 1), "a byte a second is no reading"
    slow = Deaf(monkeypatch)
    assert slow.read(10, 0)
    slow.channel.total_outbufs_len = 0
    assert slow.read(1, 0)
    slow.channel.total_outbufs_len = 1
    assert slow.read(channel.READING, 0), "each answer has its own time"


def test_strangers_that_pipeline_do_not_shut_the_page_out(
    served: Server, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Four times as many as there may be, each with requests that it never reads the answers of;
    and nothing of it is logged."""
    held: list[socket.socket] = []
    try:
        for _ in range(4 * channel.MOST):
            sock = socket.create_connection(("127.0.0.1", served.port), timeout=20)
            sock.setblocking(False)
            with suppress(OSError):
                sock.send(ANYBODY * 200)
            held.append(sock)
        ask(served)
        assert len(connections(served)) <= channel.MOST + TAKEN
    finally:
        for sock in held:
            sock.close()
    out, err = capfd.readouterr()
    assert out + err + caplog.text == ""


def test_the_page_keeps_its_connections_where_strangers_come(served: Server) -> None:
    held: list[socket.socket] = []
    page = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    try:
        for _ in range(3):
            page.request("GET", "/api/A/run", headers={HEADER: served.guard.token})
            answer = page.getresponse()
            assert answer.status == 200
            answer.read()
            kept = page.sock
            for _ in range(channel.MOST + 20):
                held.append(socket.create_connection(("127.0.0.1", served.port), timeout=20))
        assert page.sock is kept is not None
    finally:
        page.close()
        for sock in held:
            sock.close()


@pytest.mark.parametrize("shown", ["header", "address", "cookie"])
@pytest.mark.parametrize("asks", ["at once", "later"])
def test_who_has_the_token_is_served_among_strangers_who_come_at_once(
    served: Server, monkeypatch: pytest.MonkeyPatch, shown: str, asks: str
) -> None:
    """Their connections are new: none has shown the token before."""
    monkeypatch.setattr(channel, "ASKING", 600.0)
    guard = served.guard
    path = (
        f"/?token={guard.token}"
        if shown == "address"
        else "/"
        if shown == "cookie"
        else "/api/A/run"
    )
    extra = {
        "header": f"{HEADER}: {guard.token}\r\n",
        "cookie": f"Cookie: a=b; {guard.cookie}={guard.files_pass}\r\n",
    }.get(shown, "")
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n{extra}\r\n".encode()
    held: list[socket.socket] = []
    clients: list[socket.socket] = []
    try:
        for number in range(channel.MOST + 44 + 34):
            sock = socket.create_connection(("127.0.0.1", served.port), timeout=60)
            if number % 9:
                held.append(sock)
                if number % 2:
                    sock.sendall(ANYBODY)
            else:
                clients.append(sock)
                if asks == "at once":
                    sock.sendall(request)
        for sock in clients:
            if asks == "later":
                sock.sendall(request)
            assert sock.recv(20).startswith(b"HTTP/1.1 200 ")
    finally:
        for sock in (*held, *clients):
            sock.close()


def test_requests_with_the_token_go_first() -> None:
    queue = Queue()
    line = [SimpleNamespace(known=known, number=i) for i, known in enumerate((0, 1, 0, 1))]
    for one in line:
        queue.append(one)
    assert [queue.popleft().number for _ in range(len(queue))] == [1, 3, 0, 2]
    assert not queue


def test_the_log_is_bounded_and_cannot_write_to_the_terminal() -> None:
    logger, quiet = logging.getLogger("viz.test"), Quiet()
    records = [
        logger.makeRecord("viz", logging.ERROR, "f", 1, "at %s", ("/\x1b]0;x\x07\r\nok",), None)
        for _ in range(1000)
    ]
    shown = [record.getMessage() for record in records if quiet.filter(record)]
    assert shown == ["at /\\x1b]0;x\\x07\\r\\nok"] * log.MOST


def asked_in_pieces(served: Server, request: bytes, pieces: list[int]) -> tuple[bytes, bool]:
    """The answer to a request that comes in pieces of these lengths, and whether the connection
    takes another one."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=20)
    connection.connect()
    sock = connection.sock
    assert isinstance(sock, socket.socket)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    at = 0
    for length in pieces:
        sock.sendall(request[at : at + length])
        at += length
        time.sleep(0.002)
    sock.sendall(request[at:])
    answer = http.client.HTTPResponse(sock)
    answer.begin()
    body = answer.read()
    try:
        connection.request("GET", "/")
        again = connection.getresponse().read() == b"forbidden"
    except (ConnectionError, http.client.HTTPException):
        again = False
    connection.close()
    return body, again


def test_requests_may_come_in_pieces(served: Server) -> None:
    random = Random(7)
    head = f"Host: 127.0.0.1:{served.port}\r\n{HEADER}: {served.guard.token}\r\n"
    body = json.dumps({"file": "x" * 300}).encode()
    post = f"POST /api/A/open HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
    length = f"Content-Length: {len(body)}\r\n\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    for request, said in (
        (f"GET /api/A/rules HTTP/1.1\r\n{head}\r\n".encode(), b"add_zero"),
        (f"\r\n\r\nGET /api/A/rules HTTP/1.1\r\n{head}\r\n".encode(), b"add_zero"),
        ((post + length).encode() + body, b"does not name this file"),
        (post.encode() + chunked, b"does not name this file"),
    ):
        for _ in range(8):
            pieces = [random.randrange(1, 60) for _ in range(random.randrange(6))]
            answer, again = asked_in_pieces(served, request, pieces)
            assert said in answer, (request, pieces)
            assert again, (request, pieces)


def test_a_body_is_asked_for(served: Server) -> None:
    """Where a client waits for leave to send it."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as sock:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n"
        sock.sendall(head)
        assert sock.recv(100).startswith(b"HTTP/1.1 100 ")
        sock.sendall(b"body")
        assert sock.recv(100).startswith(b"HTTP/1.1 403 ")


def test_the_page_is_answered_while_strangers_come_and_come(served: Server) -> None:
    """Each of its connections is new, and takes the number of one that has just ended."""
    stop = threading.Event()

    def strangers(request: bytes) -> None:
        held: list[socket.socket] = []
        while not stop.is_set():
            with suppress(OSError):
                sock = socket.create_connection(("127.0.0.1", served.port), timeout=1)
                held.append(sock)
                sock.setblocking(False)
                sock.send(request)
            for sock in held[: max(0, len(held) - 2 * channel.MOST)]:
                sock.close()
            del held[: max(0, len(held) - 2 * channel.MOST)]
        for sock in held:
            sock.close()

    asked = (b"", ANYBODY, ANYBODY * 50, b"POST / HTTP/1.1\r\nContent-Length: 900000\r\n\r\nx")
    threads = [threading.Thread(target=strangers, args=(request,)) for request in asked]
    for thread in threads:
        thread.start()
    try:
        until = time.monotonic() + 3
        while time.monotonic() < until:
            ask(served)
    finally:
        stop.set()
        for thread in threads:
            thread.join(20)
