"""What viewer and recorder do under strain: a client that does not read, a big export, kill -9.

Judges nothing.
"""

from __future__ import annotations

import gzip
import http.client
import json
import math
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.bench import traces
from tests.bench.browser import ROOT, Viewer
from tests.bench.measure import as_installed, table
from tests.bench.traces import load_graph
from viz.views.store import Store

Row = Sequence[object]
HEADER: Final = ("what", "measured", "mark (goal)", "anchor")
ASKED: Final = 40
CLIENTS: Final = 32
RUNS: Final = 4
BROWSING: Final = 60.0
"""Seconds."""
STALLED: Final = 8
"""More than the server has threads."""

_PROGRAM: Final = textwrap.dedent(
    """
    import sys, time
    from core.uop.engine.observe import context
    from core.uop.engine.rewrite import graph_rewrite
    from tests.viz.samples import random_graph, rules
    i = 0
    while True:
        with context(f"kernel_{i}", "kernel"):
            graph_rewrite(random_graph(i), rules, name="simplify")
        i += 1
        sys.stdout.write(f"{i} {time.time()}\\n")
        sys.stdout.flush()
    """
)

_STEADY: Final = textwrap.dedent(
    """
    import sys, threading, time
    from core.uop.engine.observe import context
    from core.uop.engine.rewrite import graph_rewrite
    from tests.viz.samples import random_graph, rules
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    i = 0
    while not stop.wait(0.1):
        with context(f"kernel_{i}", "kernel"):
            for part in range(10):
                graph_rewrite(random_graph(10 * i + part), rules, name=f"simplify_{part}")
        i += 1
    """
)


def figures() -> str:
    """The table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for part in PARTS for row in part(Path(folder))]
    return table("Viewer and recorder under strain", HEADER, rows)


def stalled(folder: Path) -> Iterator[Row]:
    """Latency of `/api/A/run` while other clients do not read a long answer, or wait for one."""
    graph = load_graph("program_24255")
    trace = traces.one_pass(folder / "large.viz", graph, 20_000)
    with Viewer(trace) as viewer:
        rows = viewer.get("tree?since=0")["rows"]
        rewrite = next(r["id"] for r in rows if r["kind"] == "rewrite")
        alone = _latencies(viewer)
        building = _unread(viewer, rewrite)
        time.sleep(0.05)
        meanwhile = _latencies(viewer)
        size = len(viewer.raw(f"rewrites/{rewrite}"))
        deaf = [building, *(_unread(viewer, rewrite) for _ in range(STALLED))]
        time.sleep(0.5)
        beside = _latencies(viewer)
        for client in deaf:
            client.close()
    mark = "unaffected"
    yield "latency of a client alone", _spell(alone), "-", "-"
    yield f"while a bundle of {size / 1e6:.0f} MB is made for another", _spell(meanwhile), mark, "-"
    yield f"beside {len(deaf)} clients that do not read it", _spell(beside), mark, "-"


def exported(folder: Path) -> Iterator[Row]:
    """The size of one HTML file of a whole run."""
    marks = {"a": "-", "b": "-", "c": "20 MB (8 MB)", "digits": "8 s"}
    for program, mark in marks.items():
        trace = folder / f"{program}.viz"
        _run(["-m", "tests.bench.program", "core", program], VIZ="-1", VIZ_TRACE=str(trace))
        out = folder / f"{program}.html"
        started = time.perf_counter()
        _run(["-m", "viz", "export", str(trace), "-o", str(out)])
        took = time.perf_counter() - started
        size = out.stat().st_size / 1e6
        yield (
            f"export of program {program}, all kernels",
            f"{size:.1f} MB in {took:.1f} s",
            mark,
            ("tinygrad: 216 MB sent for 101 steps of program c" if program == "c" else "-"),
        )


def killed(folder: Path) -> Iterator[Row]:
    """SIGKILL in mid-run: how much of the end is not in the trace."""
    lost: list[float] = []
    for i in range(5):
        trace = folder / f"killed{i}.viz"
        environment = _environment(VIZ="-1", VIZ_TRACE=str(trace))
        with subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            said = [process.stdout.readline().split()]
            until = time.time() + 2 + 0.13 * i
            while time.time() < until:
                said.append(process.stdout.readline().split())
            os.kill(process.pid, signal.SIGKILL)
            at = time.time()
            said += [line.split() for line in process.stdout if line.endswith("\n")]
        finished = [float(when) for _, when in said if float(when) <= at]
        store = Store(trace)
        kept = sum(r["kind"] == "context" and r["status"] == "ok" for r in store.tree()["rows"])
        store.close()
        lost.append(at - finished[min(kept, len(finished)) - 1] if kept else 2.0)
    measured = f"last {statistics.median(lost):.2f} s missing (worst {max(lost):.2f})"
    yield "kill -9 after 2 s, five times", measured, "0.5 s", "-"


def browsed(folder: Path) -> Iterator[Row]:
    """Latency of what pages ask: CLIENTS of them, who look at RUNS programs that still run."""
    alone = _calibrated()
    with ExitStack() as stack:
        live = [stack.enter_context(_Live(folder / f"browsed{i}.viz")) for i in range(RUNS)]
        time.sleep(2)
        until = time.monotonic() + BROWSING
        # each in a process of its own, as tabs of a browser are: threads would wait for each other
        with ProcessPoolExecutor(CLIENTS) as pool:
            places = [(one.port, one.token) for one in live]
            spent = -sum(one.cpu() for one in live)
            pages = [pool.submit(_browse, *places[i % RUNS], i, until) for i in range(CLIENTS)]
            made = [page.result() for page in pages]
            spent += sum(one.cpu() for one in live)
            beside = _calibrated()
    answers = [answer for part in made for answer in part]
    found = sorted(ms for _, ms in answers)
    spelled = f"median {statistics.median(found):.0f} ms, 95 % {found[int(0.95 * len(found))]:.0f}"
    mark = "20 ms, 95 % 100 (idle machine)"
    yield "CPU time of the servers per answer", f"{1000 * spent / len(found):.2f} ms", "-", "-"
    what = f"{len(found)} answers to {CLIENTS} pages of {RUNS} running programs"
    yield what, f"{spelled} (a fixed loop: {alone:.0f} ms before, {beside:.0f} after)", mark, "-"
    for kind in sorted({name for name, _ in answers}):
        part = sorted(ms for name, ms in answers if name == kind)
        least = f"median {statistics.median(part):.0f} ms, 95 % {part[int(0.95 * len(part))]:.0f}"
        yield f"of these, {kind}", least, "-", "-"


class _Live:
    """A program under VIZ=1 that goes on until the block ends."""

    def __init__(self, trace: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _STEADY],
            cwd=ROOT,
            env=_environment(VIZ="1", VIZ_TRACE=str(trace)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        found = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\S+)", self._process.stderr.readline())
        assert found is not None
        self.port, self.token = int(found[1]), found[2]

    def __enter__(self) -> _Live:
        return self

    def cpu(self) -> float:
        """Seconds that its server has computed, where the system says it."""
        try:
            pid = self._process.pid
            server = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
            fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return math.nan
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __exit__(self, *_: object) -> None:
        self._process.communicate("\n", timeout=60)


def _browse(port: int, token: str, seed: int, until: float) -> list[tuple[str, float]]:
    """One page: it asks for run and rows twice a second, and looks at a pass every second."""
    random, made = Random(seed), list[tuple[str, float]]()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    tags: dict[str, str] = {}

    def ask(kind: str, path: str) -> Any:
        headers = {"X-Uopviz-Token": token, "Accept-Encoding": "gzip"}
        if path in tags:
            headers["If-None-Match"] = tags[path]
        began = time.perf_counter()
        connection.request("GET", f"/api/A/{path}", headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        made.append((kind, 1000 * (time.perf_counter() - began)))
        if answer.status == 304:
            return None
        assert answer.status == 200, (answer.status, body[:200])
        if tag := answer.getheader("ETag"):
            tags[path] = tag
        packed = answer.getheader("Content-Encoding") == "gzip"
        return json.loads(gzip.decompress(body) if packed else body)

    rows = list[dict[str, Any]]()
    time.sleep(random.random() / 2)
    turn = 0
    while time.monotonic() < until:
        began = time.monotonic()
        ask("run", "run")
        rows += (ask("rows", f"tree?since={len(rows)}") or {"rows": []})["rows"]
        passes = [row["id"] for row in rows if row["kind"] == "rewrite"]
        kernels = [row["id"] for row in rows if row["label"] == "kernel"]
        if turn % 2 and passes:
            ask("a pass", f"rewrites/{random.choice(passes[-40:])}")
        if turn % 6 == 1 and kernels:
            ask("a kernel", f"kernels/{random.choice(kernels[-40:])}")
        if turn % 12 == 3:
            ask("timeline", "timeline")
        if turn % 12 == 7:
            ask("rules", "rules")
            ask("rule totals", "rule-totals")
        if turn % 12 == 11:
            ask("search", "search?q=add")
        turn += 1
        time.sleep(max(0.0, 0.5 - (time.monotonic() - began)))
    connection.close()
    return made


def _calibrated() -> float:
    """Milliseconds of a fixed amount of Python, the median of nine: how busy the machine is."""
    times: list[float] = []
    for _ in range(9):
        began = time.perf_counter()
        sum(i * i for i in range(200_000))
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def _latencies(viewer: Viewer) -> list[float]:
    made: list[float] = []
    for _ in range(ASKED):
        started = time.perf_counter()
        json.loads(viewer.raw("run"))
        made.append(1000 * (time.perf_counter() - started))
    return made


def _unread(viewer: Viewer, rewrite: object) -> socket.socket:
    """Asks for a bundle and never reads the answer."""
    client = socket.create_connection(("127.0.0.1", viewer.port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.sendall(
        f"GET /api/A/rewrites/{rewrite} HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\n"
        f"X-Uopviz-Token: {viewer.token}\r\n\r\n".encode()
    )
    return client


def _spell(latencies: Sequence[float]) -> str:
    return f"median {statistics.median(latencies):.0f} ms, worst {max(latencies):.0f} ms"


def _environment(**more: str) -> dict[str, str]:
    return {**as_installed(), "PYTHONPATH": str(ROOT), **more}


def _run(arguments: Sequence[str], **more: str) -> None:
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=_environment(**more),
        check=True,
        stdout=subprocess.DEVNULL,
    )


PARTS: Final = (stalled, browsed, exported, killed)
