"""What hostile and very large traces cost: `python -m tests.bench.hostile [name...]`.

Each trace is a small file that stands for a great deal. A process of its own opens it and asks all
that the page asks; what it took is its processor time, that of its longest answer, and its peak of
memory. `tests/viz/read/test_budget.py` holds the limits. Prints a Markdown table.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from core.errors import UopvizError
from tests.viz.read.packed import change_rewrites
from viz.format import schema
from viz.format.blocks import EVENTS, HEADS, NODES
from viz.format.jsontext import to_json
from viz.format.pack import pack
from viz.views.store import Store
from viz.write.writer import TraceWriter

ASKED: Final = 4
"""Passes and groups that are asked for at either end of the list."""
OURS: Final = {"dialect": schema.CORE_DIALECT}
"""What each says of itself: most is worked out of a trace of `core`."""
LIMIT: Final = 12 << 30
"""Bytes of address space of the process."""
SECONDS: Final = 150
"""Processor time of the process; it gets WAITS times as long by the clock."""
WAITS: Final = 8


def patterns(path: Path) -> None:
    """300 rules with patterns of 20,000 parts."""
    part = {"op": ["ADD"], "src": {"kind": "ordered", "of": [{}] * 990}}
    pattern = {"src": {"kind": "ordered", "of": [part] * 20}}
    with TraceWriter(path, OURS) as t:
        for i in range(300):
            t.rule(f"rule {i}", pattern=pattern)


def lines(path: Path) -> None:
    """A text of four million empty lines, ten times, each line without nodes."""
    with TraceWriter(path, OURS) as t:
        kernel = t.context_begin("kernel", "kernel")
        for target in range(10):
            t.artifact(kernel, "c", str(target), "\n")
        t.context_end(kernel)
    count = 1 << 22
    head = bytes([2]) + struct.pack("<BBI", 0, 0, count) + struct.pack("<BBI", 0, 0, 0)
    text = zlib.compress(b'["' + b"\\n" * (count - 1) + b'"]', 9)
    _change(path, "UPDATE artifacts SET lines = ?", (zlib.compress(head, 9),))
    _change(path, "UPDATE blocks SET data = ? WHERE kind = ?", (text, schema.TEXTS))
    _change(path, "UPDATE artifacts SET body = (SELECT body FROM artifacts LIMIT 1)")


def shapes(path: Path) -> None:
    """Nodes that reshape to a million axes."""
    many = json.dumps([1] * 300_000)
    with TraceWriter(path, OURS) as t:
        node = t.node("CONST", "int32", arg="1")
        for i in range(63):
            node = t.node("RESHAPE" if i % 2 else "PERMUTE", "int32", (node,), arg=many)
        for i in range(60):
            node = t.node("ADD", "int32", (node, node), tag=str(i))
        step = t.rewrite_begin("pass", node)
        t.rewrite_end(step, node)


def nested_contexts(path: Path) -> None:
    """6,000 groups inside each other, with a pass in each."""
    with TraceWriter(path, OURS) as t:
        node, rule, open_ = t.node("ADD", "int32"), t.rule("rule"), list[int]()
        for i in range(6_000):
            open_.append(t.context_begin(f"group {i}", "group", parent=open_[-1] if open_ else 0))
            step = t.rewrite_begin("pass", node, context=open_[-1])
            t.match(step, rule, node, node, {}, 1)
            t.rewrite_end(step, node)
        for context in reversed(open_):
            t.context_end(context)


def overlapping(path: Path) -> None:
    """20,000 groups of one thread that all go on to the end."""
    with TraceWriter(path, OURS) as t:
        for i in range(20_000):
            t.context_begin(f"group {i}", "group", parent=0)
    _change(path, "UPDATE contexts SET parent = 0, start = id, us = 1000000")


def nested_rewrites(path: Path) -> None:
    """3,000 passes inside each other, in which only the innermost one did anything."""
    with TraceWriter(path, OURS) as t:
        a, b, rule = t.node("ADD", "int32"), t.node("MUL", "int32"), t.rule("rule")
        kernel = t.context_begin("kernel", "kernel")
        open_ = list[int]()
        for _ in range(3_000):
            outer = open_[-1] if open_ else 0
            open_.append(t.rewrite_begin("pass", a, context=kernel, parent=outer))
        t.match(open_[-1], rule, a, b, {}, 1)
        for step in reversed(open_):
            t.rewrite_end(step, b)
        t.context_end(kernel)


def empty_lists(path: Path) -> None:
    """Blocks of twenty million empty lists."""
    TraceWriter(path, OURS).finish()
    blob = zlib.compress(b"[" + b"[]," * 22_000_000 + b"[]]", 9)
    rows = [(kind, 1, 1, blob) for kind in (schema.RULES, schema.STRINGS) for _ in range(6)]
    _insert(path, rows)
    _change(path, "INSERT INTO meta VALUES('flags', ?)", ("[" + "[]," * 200_000 + "[]]",))


def sparse(path: Path) -> None:
    """A file of a gigabyte that holds nothing but blocks of launches that are all alike."""
    TraceWriter(path, OURS).finish()
    count = 1 << 22
    head = bytes([5]) + struct.pack("<BBI", 0, 0, count) * 5
    _insert(path, [(schema.LAUNCHES, 1, count, zlib.compress(head, 9))] * 20)
    os.truncate(path, 1 << 30)


def hub(path: Path) -> None:
    """A node with 200,000 sources, and 2,000 steps that each change all of them."""
    with TraceWriter(path, OURS) as t:
        one, two, rule = t.node("CONST", arg="1"), t.node("CONST", arg="2"), t.rule("rule")
        hubs = [t.node("SINK", src=[node] * 200_000) for node in (one, two)]
        step = t.rewrite_begin("pass", hubs[0])
        for i in range(2_000):
            t.match(step, rule, hubs[i % 2], hubs[1 - i % 2], {}, 1)
        t.rewrite_end(step, hubs[0])


def origins(path: Path) -> None:
    """A kernel of 60,000 nodes, and 20,000 steps that each make a node from all of them."""
    with TraceWriter(path, OURS) as t:
        kernel = t.context_begin("kernel", "kernel")
        ast = t.node("SINK", src=[t.node("CONST", arg=str(i)) for i in range(60_000)])
        step = t.rewrite_begin("pass", ast, context=kernel)
        node, rule = ast, t.rule("rule")
        for i in range(20_000):
            new = t.node("ADD", arg=str(i), src=(ast,))
            t.match(step, rule, node, new, {}, 1)
            node = new
        t.rewrite_end(step, node)
        t.kernel(kernel, "kernel", ast=ast)
        t.artifact(kernel, "c", "cpu", "\n" * 2_000, lines=[[node]] * 2_000)
        t.context_end(kernel)


def events(path: Path) -> None:
    """25 million events that stand in a few hundred kilobytes."""
    with TraceWriter(path, OURS) as t:
        node, rule = t.node("ADD"), t.rule("rule")
        step = t.rewrite_begin("pass", node)
        t.match(step, rule, node, node, {}, 1)
        t.rewrite_end(step, node)
    n = 500_000
    kinds, zeros, ones = [schema.DECLINE] * n, [0] * n, [1] * n
    empty = [[]] * 9
    blob = pack([kinds, ones, *empty, zeros, ones], [False] * len(EVENTS.names))
    _insert(path, [(schema.EVENTS, 0, n, blob)] * 50)
    change_rewrites(path, first_block=0, last_block=1 << 40)


def long_names(path: Path) -> None:
    """50,000 passes that share a name of a megabyte."""
    with TraceWriter(path, OURS) as t:
        node, name, caller = t.node("ADD"), "x" * 1_000_000, "y" * 1_000_000
        for _ in range(50_000):
            t.rewrite_end(t.rewrite_begin(name, node, caller=caller), node)


def one_argument(path: Path) -> None:
    """A kernel of 20,000 nodes that share an argument of half a megabyte."""
    with TraceWriter(path, OURS) as t:
        kernel = t.context_begin("kernel", "kernel")
        node, arg = t.node("CONST", "int32", arg="1"), json.dumps([[]] * 170_000)
        for _ in range(20_000):
            node = t.node("NEG", "int32", (node,), arg=arg)
        t.kernel(kernel, "kernel", ast=node)
        step = t.rewrite_begin("pass", node, context=kernel)
        t.rewrite_end(step, node)
        t.context_end(kernel)


def ranges(path: Path) -> None:
    """4,000 loops that 4,000 nodes each depend on."""
    with TraceWriter(path, OURS) as t:
        size, node = t.node("CONST", "int32", arg="9"), t.node("CONST", "int32", arg="1")
        for i in range(4_000):
            arg = json.dumps([i, {"axis": "LOOP"}])
            node = t.node("ADD", "int32", (node, t.node("RANGE", "int32", (size,), arg=arg)))
        for i in range(4_000):
            node = t.node("ADD", "int32", (node, size), tag=str(i))
        step = t.rewrite_begin("pass", node)
        t.rewrite_end(step, node)


def one_text(path: Path) -> None:
    """400 sources of a kernel that are all the same 30 megabytes."""
    with TraceWriter(path, OURS) as t:
        kernel = t.context_begin("kernel", "kernel")
        for target in range(400):
            t.artifact(kernel, "c", str(target), "x")
        t.context_end(kernel)
    text = zlib.compress(b'["' + b"x" * (30 << 20) + b'"]', 9)
    _change(path, "UPDATE blocks SET data = ? WHERE kind = ?", (text, schema.TEXTS))
    _change(path, "UPDATE artifacts SET body = (SELECT body FROM artifacts LIMIT 1)")


def wide(path: Path) -> None:
    """A graph of four million nodes in blocks of a few kilobytes."""
    with TraceWriter(path, OURS) as t:
        node = t.node("ADD")
        step = t.rewrite_begin("pass", node)
        t.rewrite_end(step, node)
    n = 1 << 18
    _insert(path, [(schema.HEADS, 2, 1, HEADS.pack([[1], *[[0]] * 6, [1]]))])
    blob = NODES.pack(([2] * n, [1] * n, []))
    _insert(path, [(schema.NODES, 2 + i * n, n, blob) for i in range(16)])
    change_rewrites(path, sink=1 + 16 * n)


TRACES: Final[dict[str, Callable[[Path], None]]] = {
    make.__name__: make
    for make in (
        *(patterns, lines, shapes, nested_contexts, overlapping, nested_rewrites, empty_lists),
        *(sparse, hub, origins, events, long_names, one_argument, ranges, one_text, wide),
    )
}


def _change(path: Path, sql: str, values: tuple[Any, ...] = ()) -> None:
    with sqlite3.connect(path) as db:
        db.execute(sql, values)
    db.close()


def _insert(path: Path, rows: list[tuple[int, int, int, bytes]]) -> None:
    with sqlite3.connect(path) as db:
        db.executemany("INSERT INTO blocks(kind, first, count, data) VALUES (?,?,?,?)", rows)
    db.close()


def questions(store: Store) -> Iterator[tuple[str, Callable[[], object]]]:
    """All that the page asks of a run; of passes and groups, those at the ends of the list."""
    yield "run", store.run
    yield "tree", store.tree
    yield "rules", store.rules
    yield "rule totals", lambda: store.rule_totals(0.25)
    yield "timeline", store.timeline
    for text in ("a", "rule", "cpu"):
        yield "search", lambda text=text: store.search(text, 0.25)
    rows = store.tree()["rows"]
    for row in {row["id"]: row for row in (*rows[:ASKED], *rows[-ASKED:])}.values():
        number = row["id"]
        if row["kind"] == "rewrite":
            yield "pass", lambda n=number: store.bundle(n)
            yield "text of a step", lambda n=number: store.step_text(n, 1)
            scope = store.scope_of(number)
            if scope is not None:
                yield "lineage", lambda n=scope: store.lineage(n, 0.25)
                yield "lineage, all", lambda n=scope: store.lineage(n)
        else:
            yield "kernel", lambda n=number: store.kernel(n)
            yield "origins", lambda n=number: store.origins(n)
            yield "graph of a kernel", lambda n=number: store.kernel_graph(n)
    yield "run", store.run


def ask(path: Path) -> dict[str, Any]:
    """Opens a trace and asks everything; the processor seconds of all and of the longest answer,
    and what was left out or refused."""
    began = time.process_time()
    store = Store(path)
    worst = time.process_time() - began, "open"
    said: list[str] = []
    for name, make in questions(store):
        started = time.process_time()
        try:
            answer = make()
            to_json(answer)
            if isinstance(answer, dict):
                said.append(str(answer.get("truncated") or ""))
                for artifact in answer.get("artifacts", ()):
                    said.append(artifact["error"]["what"] if artifact["error"] else "")
        except UopvizError as error:
            said.append(error.what)
        worst = max(worst, (time.process_time() - started, name))
    said += [problem["what"] for problem in store.run()["problems"]]
    store.close()
    return {
        "cpu": time.process_time() - began,
        "worst": worst,
        "said": [*dict.fromkeys(filter(None, said))],
    }


def peak() -> int:
    """Bytes of memory that this process has had at most. (What `getrusage` says begins with the
    peak of the process that started it.)"""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        if found is not None:
            return 1024 * int(found[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(path: Path, seconds: float = SECONDS, memory: int = LIMIT) -> dict[str, Any]:
    """What `ask` answers in a process of its own, with its peak of memory in bytes; or how that
    process ended."""
    limits = str(memory), str(int(seconds))
    run = [sys.executable, "-m", "tests.bench.hostile", "--ask", str(path), *limits]
    late = {"ended": f"not done after {seconds:.0f} s"}
    try:
        done = subprocess.run(
            run, capture_output=True, text=True, timeout=WAITS * seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return late
    if done.returncode == -signal.SIGXCPU:
        return late
    if done.returncode:
        return {"ended": done.stderr.strip().rpartition("\n")[2][:200]}
    return json.loads(done.stdout)


def main(names: list[str]) -> None:
    """Prints a row per trace."""
    print("| trace | bytes | CPU s | longest answer | peak MB | says |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in names or TRACES:
            path = Path(folder) / f"{name}.viz"
            TRACES[name](path)
            size, found = path.stat().st_size, measured(path)
            if "ended" in found:
                print(f"| {name} | {size:,} | | | | {found['ended']} |", flush=True)
                continue
            seconds, what = found["worst"]
            print(
                f"| {name} | {size:,} | {found['cpu']:.1f} | {what}, {seconds:.1f} s |"
                f" {found['peak'] >> 20:,} | {'; '.join(found['said'])[:300]} |",
                flush=True,
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--ask"]:
        resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[3]), int(sys.argv[3])))
        resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[4]), int(sys.argv[4]) + 5))
        answer = ask(Path(sys.argv[2]))
        print(json.dumps(answer | {"peak": peak()}))
    else:
        main(sys.argv[1:])
