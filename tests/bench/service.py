"""What viewer and recorder do under strain: a client that does not read, a big export, kill -9.

Judges nothing.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.bench import traces
from tests.bench.browser import ROOT, Viewer
from tests.bench.measure import table
from tests.bench.traces import load_graph
from viz.store import Store

Row = Sequence[object]
HEADER: Final = ("what", "measured", "mark (goal)", "anchor")
ASKED: Final = 40
STALLED: Final = 8
"""More than the server has threads."""

_PROGRAM: Final = textwrap.dedent(
    """
    import sys, time
    from core.uop.observe import context
    from core.uop.rewrite import graph_rewrite
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


def figures() -> str:
    """The table."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for part in PARTS for row in part(Path(folder))]
    return table("Viewer and recorder under strain", HEADER, rows)


def stalled(folder: Path) -> Iterator[Row]:
    """Latency of `/api/run` while other clients do not read a long answer, or wait for one."""
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
    for program, mark in (("a", "-"), ("b", "-"), ("c", "20 MB (8 MB)")):
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
        f"GET /api/rewrites/{rewrite} HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\n"
        f"X-Uopviz-Token: {viewer.token}\r\n\r\n".encode()
    )
    return client


def _spell(latencies: Sequence[float]) -> str:
    return f"median {statistics.median(latencies):.0f} ms, worst {max(latencies):.0f} ms"


def _environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("VIZ")}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def _run(arguments: Sequence[str], **more: str) -> None:
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=_environment(**more),
        check=True,
        stdout=subprocess.DEVNULL,
    )


PARTS: Final = (stalled, exported, killed)
