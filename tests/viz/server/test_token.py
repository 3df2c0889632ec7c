"""The token of a server is where its owner reads it, and nowhere that other users do."""

from __future__ import annotations

import json
import logging
import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.viz.test_live import ROOT, installed  # noqa: F401
from viz.server import handover
from viz.server.connections.serve import Server
from viz.server.handover import browser_at
from viz.server.security import HEADER
from viz.views.store import Store

BROWSER = """#!{python}
import json, os, pathlib, sys, time, urllib.parse
named = pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[-1]).path))
file, folder = named.stat(), named.parent.stat()
said = dict(argv=sys.argv, text=named.read_text(), modes=[file.st_mode, folder.st_mode],
            owners=[file.st_uid, folder.st_uid], pid=os.getpid())
pathlib.Path({out!r} + ".part").write_text(json.dumps(said))
os.rename({out!r} + ".part", {out!r})
time.sleep(60)
"""
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/\?token=([\w-]{30,}=*)")


def command_lines() -> dict[int, bytes]:
    """What any user of this machine can read of every process."""
    found: dict[int, bytes] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parts = [folder / "cmdline", folder / "comm", *folder.glob("task/*/comm")]
            found[int(folder.name)] = b"".join(part.read_bytes() for part in parts)
    return found


def wait_until(what: str, holds: object, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.02)


def read_address(terminal: int, seconds: float = 30) -> tuple[str, str]:
    text, until = "", time.monotonic() + seconds
    while time.monotonic() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            text += os.read(terminal, 4096).decode()
        if found := ADDRESS.search(text.partition("\r\n")[0] if "\r\n" in text else ""):
            return found[0], found[1]
    raise AssertionError(text)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc")
def test_opening_shows_the_token_to_no_other_user(trace: Path, tmp_path: Path) -> None:
    out, browser = tmp_path / "said.json", tmp_path / "browser"
    browser.write_text(BROWSER.format(python=sys.executable, out=str(out)))
    browser.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIZ", "UOPVIZ"))}
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "viz", "open", str(trace)],
        cwd=ROOT,
        env={**kept, "PYTHONPATH": str(ROOT), "BROWSER": str(browser), "TMPDIR": str(tmp_path)},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
        umask=0,
    )
    os.close(follower)
    try:
        address, token = read_address(leader)
        wait_until("the browser is started", out.exists)
        said = json.loads(out.read_text())
        seen = command_lines()
        assert {process.pid, said["pid"]} <= seen.keys()
        assert not [pid for pid, text in seen.items() if token.encode() in text]
        assert said["argv"][-1].startswith("file://")
        assert f'url={address}"' in said["text"]
        assert [stat.S_IMODE(mode) for mode in said["modes"]] == [0o600, 0o700]
        assert said["owners"] == [os.getuid()] * 2
        file = Path(said["argv"][-1].removeprefix("file://"))
        assert file.exists()
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.status == 200
        wait_until("the file is removed after the visit", lambda: not file.exists())
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        assert not file.parent.exists()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(leader)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr("webbrowser.open", found.append)
    return found


def test_the_file_goes_without_a_visit_too(
    opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with browser_at("http://127.0.0.1:1/?token=a", threading.Event()) as file:
        wait_until("the browser is told", lambda: opened)
        assert opened == [file.as_uri()]
        assert file.exists()
    assert not file.exists()
    monkeypatch.setattr(handover, "WAIT", 0.05)
    with browser_at("http://127.0.0.1:1/?token=a", threading.Event()) as file:
        wait_until("its time is over", lambda: not file.exists())


def test_a_browser_that_does_not_come_back_keeps_nothing_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that runs in the terminal asks the server before `webbrowser.open` returns."""
    asked, visited = threading.Event(), threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda _: asked.wait(20))
    with browser_at("http://127.0.0.1:1/?token=a", visited) as file:
        visited.set()
        wait_until("the visit removes it", lambda: not file.exists())
    asked.set()


def test_an_address_in_the_file_cannot_leave_its_attribute(opened: list[str]) -> None:
    with browser_at('http://x/?token="><script>', threading.Event()) as file:
        assert "<script" not in file.read_text()
    assert len(opened) <= 1


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc")
def test_a_live_run_shows_it_to_nobody(
    installed: dict[str, str],  # noqa: F811
    tmp_path: Path,
) -> None:
    program = "from core import Tensor\nTensor.ones(4).realize()\ninput()\n"
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**installed, "VIZ": "1", "VIZ_TRACE": str(tmp_path / "t.viz")},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        found = ADDRESS.search(process.stderr.readline())
        assert found is not None
        token = found[1].encode()
        base = found[0].partition("?")[0]
        asked = urllib.request.Request(f"{base}api/A/run", headers={HEADER: found[1]})
        with urllib.request.urlopen(asked, timeout=20) as answer:  # and starts a worker
            assert answer.status == 200
        seen = command_lines()
        (viewer,) = children(process.pid)
        assert b"viz\0serve\0" in seen[viewer]
        assert not [pid for pid, text in seen.items() if token in text]
        assert b"TOKEN" not in Path(f"/proc/{process.pid}/environ").read_bytes()
        assert stat.S_IMODE(Path(f"/proc/{viewer}/environ").stat().st_mode) == 0o400
        for child in children(viewer):
            with suppress(OSError):
                assert token not in Path(f"/proc/{child}/environ").read_bytes()
        assert token not in (tmp_path / "t.viz").read_bytes()
    finally:
        process.communicate("\n", timeout=30)


def children(pid: int) -> Iterator[int]:
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            yield from map(int, path.read_text().split())


def test_it_is_in_no_log(
    store: Store,
    dist: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "rules", lambda: 1 / 0)
    caplog.set_level(logging.DEBUG)
    server = Server(store).start()
    token = server.guard.token
    try:
        for path in (f"?token={token}", "api/A/rules", f"nothing?token={token}", "api/A/run"):
            asked = urllib.request.Request(
                f"http://127.0.0.1:{server.port}/{path}", headers={HEADER: token}
            )
            with suppress(urllib.error.HTTPError), urllib.request.urlopen(asked, timeout=20) as got:
                assert got.headers["Referrer-Policy"] == "no-referrer"
    finally:
        server.close()
    out, err = capfd.readouterr()
    assert "ZeroDivisionError" in caplog.text + err
    assert token not in caplog.text + out + err
