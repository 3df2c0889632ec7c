"""Mutates traces and asks everything of them: `python -m tests.viz.read.fuzz_traces SEED COUNT
BASE...`

Runs as a process of its own, with a limit of memory. Ends with an error that names the seed and the
number of the mutant where an answer is anything but an answer or a deliberate error, takes longer
than its budget, or needs more memory.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import sqlite3
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from flask.testing import FlaskClient

from core.errors import TraceError, UopvizError
from tests.effort import unit
from tests.viz.server.client import TokenClient
from viz import budget
from viz.compare.comparison import Comparison
from viz.format import schema
from viz.format.blocks import PACKED
from viz.format.pack import inflate, pack, pack_json
from viz.server.app import create_app
from viz.server.security import Guard
from viz.share.copy import write_trace
from viz.share.sql import TABLES, run_query
from viz.views.store import Store

MEMORY: Final = 6 << 30
SLICE: Final = 5.0
"""Seconds of a comparison, which goes on when it is asked for again."""
"""Bytes of address space: that of the process, and twice that of an answer."""
SECONDS: Final = budget.SECONDS
"""Processor time of an answer: its budget, and what it takes to encode it."""
ASKED: Final = 3
HUGE: Final = (-1, 0, 1, 2, 7, 255, 1 << 31, (1 << 53) + 1, (1 << 62), (1 << 63) - 1, -(1 << 63))
ODD: Final = (
    *(None, True, 0, -1, 1e308, 10**400, "", "x" * 5000, "\ud800", [], {}, [[]], {"a": None}),
    *({"float": "nan"}, {"int": "9" * 900}, {"op": "ADD"}, {"view": {}}, {"shapetracker": [1]}),
    *([0, {"axis": "LOOP"}], ["v", 0, 3], [["a"], [1, 2]], [[0, 1]], [-1, -1], [1] * 300),
)
TEXTS: Final = ("NaN", "[" * 3000, '{"a":' * 3000, "1e999", "[1e999]", "", "null", "{", '"\\ud800"')
CELLS: Final = {
    "meta": ("value",),
    "contexts": ("parent", "name", "kind", "meta", "thread", "start", "us", "error"),
    "rewrites": (
        *("parent", "context", "name", "matcher", "caller", "sink", "result", "nodes", "start"),
        *("us", "matches", "rebuilds", "declines", "empty", "first_block", "last_block", "error"),
    ),
    "rules": ("name", "matcher", "file", "line", "equation"),
    "rule_totals": ("matches", "declines", "ns"),
    "kernels": ("name", "target", "device", "ast", "info"),
    "artifacts": ("context", "kind", "target", "body", "lines"),
    "blocks": ("kind", "first", "count", "data"),
}
COLUMNS: Final = {columns.kind: columns for columns in PACKED}


class Mutant:
    """A trace that a few random changes are made to."""

    def __init__(self, path: Path, choose: random.Random) -> None:
        self._db, self._choose = sqlite3.connect(path), choose

    def change(self) -> str:
        """Makes one to four changes; their names."""
        ways: list[Callable[[], object]] = [
            *(self.cell, self.swapped, self.columns, self.columns, self.json, self.fields),
            *(self.fields, self.nest, self.zero_width, self.arguments, self.arguments, self.lines),
        ]
        chosen = self._choose.choices(ways, k=self._choose.randint(1, 4))
        for way in chosen:
            way()
        self._db.commit()
        self._db.close()
        return ", ".join(way.__name__ for way in chosen)

    def _run(self, sql: str, *values: object) -> None:
        with suppress(sqlite3.Error, OverflowError, UnicodeError):
            self._db.execute(sql, values)

    def _value(self) -> object:
        kind = self._choose.randrange(5)
        if kind == 0:
            return self._choose.choice(HUGE)
        if kind == 1:
            return self._choose.choice((1e300, float("inf"), -0.5))
        if kind == 2:
            return self._choose.choice(TEXTS)
        if kind == 3:
            return json.dumps(self._choose.choice(ODD))
        return self._choose.choice((b"", b"\x00\xff", zlib.compress(b"[]"), b"\xfd7zXZ\x00"))

    def cell(self) -> None:
        """A value of another type, in one row or in all."""
        table = self._choose.choice(list(CELLS))
        column = self._choose.choice(CELLS[table])
        one = self._choose.random() < 0.5
        where = (
            "" if one else " WHERE rowid % 3 = 1" if table not in ("meta", "rule_totals") else ""
        )
        self._run(f"UPDATE OR IGNORE {table} SET {column} = ?{where}", self._value())

    def swapped(self) -> None:
        """Two columns of a table change places."""
        table = self._choose.choice(list(CELLS))
        a, b = (self._choose.choice(CELLS[table]) for _ in range(2))
        self._run(f"UPDATE OR IGNORE {table} SET {a} = {b}, {b} = {a}")

    def _block(self, kinds: Any) -> tuple[int, int, bytes] | None:
        marks = ",".join("?" * len(kinds))
        rows = self._db.execute(
            f"SELECT id, kind, data FROM blocks WHERE kind IN ({marks})", list(kinds)
        ).fetchall()
        rows = [row for row in rows if isinstance(row[2], bytes)]
        return self._choose.choice(rows) if rows else None

    def _columns(self, kinds: Any) -> tuple[int, int, list[list[int]]] | None:
        found = self._block(kinds)
        if found is not None:
            with suppress(TraceError):
                columns = COLUMNS[found[1]].unpack(found[2]).values()
                return found[0], found[1], [column.tolist() for column in columns]
        return None

    def _put(self, block: int, kind: int, columns: list[list[int]]) -> None:
        with suppress(OverflowError):
            data = COLUMNS[kind].pack(columns)
            self._run("UPDATE blocks SET data = ? WHERE id = ?", data, block)

    def columns(self) -> None:
        """Numbers of a packed block, or the length of a column."""
        found = self._columns(COLUMNS)
        if found is None:
            return
        block, kind, columns = found
        column = self._choose.choice(columns)
        for _ in range(self._choose.choice((1, 3, 30))):
            if column:
                near = column[self._choose.randrange(len(column))] + self._choose.randint(-2, 2)
                at = self._choose.randrange(len(column))
                column[at] = self._choose.choice((near, near, *HUGE[:6], HUGE[-3]))
        if self._choose.random() < 0.1:
            column.append(0)
        self._put(block, kind, columns)

    def fields(self) -> None:
        """Nodes get the op, dtype, argument or tag of other nodes."""
        found = self._columns((schema.HEADS,))
        if found is None:
            return
        block, kind, columns = found
        for _ in range(self._choose.choice((1, 5, 50))):
            column = columns[self._choose.choice((0, 0, 1, 2, 2, 3, 4, 6))]
            if column:
                a, b = (self._choose.randrange(len(column)) for _ in range(2))
                column[a] = column[b]
        self._put(block, kind, columns)

    def json(self) -> None:
        """A packed JSON value in place of another one, somewhere in it."""
        found = self._block((schema.STRINGS, schema.RULES, schema.TEXTS))
        if found is None:
            return
        with suppress(TraceError, ValueError, RecursionError):
            value = json.loads(inflate(found[2]))
            self._graft(value)
            self._run("UPDATE blocks SET data = ? WHERE id = ?", pack_json(value), found[0])

    def _graft(self, value: Any) -> None:
        for _ in range(self._choose.randint(1, 8)):
            keys = list(value) if isinstance(value, dict) else range(len(value))
            key = self._choose.choice(keys) if keys else None
            if key is None:
                return
            if isinstance(value[key], (dict, list)) and value[key] and self._choose.random() < 0.7:
                value = value[key]
                continue
            value[key] = self._choose.choice(ODD)
            return

    def arguments(self) -> None:
        """Strings that become odd typed JSON: arguments, names, files."""
        found = self._block((schema.STRINGS,))
        if found is None:
            return
        with suppress(TraceError, ValueError, RecursionError):
            texts = json.loads(inflate(found[2]))
            for _ in range(self._choose.choice((1, 5, 20))):
                odd = self._choose.choice(ODD)
                text = self._choose.choice((json.dumps(odd), *TEXTS[:1], str(odd)[:9]))
                texts[self._choose.randrange(len(texts))] = text
            self._run("UPDATE blocks SET data = ? WHERE id = ?", pack_json(texts), found[0])

    def nest(self) -> None:
        """Everything inside what came before it; sometimes thousands of copies of it."""
        table = self._choose.choice(("contexts", "rewrites"))
        if self._choose.random() < 0.3:
            names = {"contexts": _CONTEXT, "rewrites": _REWRITE}[table]
            self._run(
                f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
                f" INSERT OR IGNORE INTO {table}(id, parent, {names}) SELECT 100000 + i, 99999 + i,"
                f" {names} FROM n, (SELECT * FROM {table} LIMIT 1)"
            )
        self._run(f"UPDATE {table} SET parent = id - {self._choose.choice((0, 1, 1, -1, 7))}")

    def zero_width(self) -> None:
        """A block of up to four million rows that takes no bytes."""
        kind = self._choose.choice(list(COLUMNS))
        count = self._choose.choice((1, 1000, 1 << 20, 1 << 22, (1 << 32) - 1))
        many = len(COLUMNS[kind].names)
        data = bytes([many]) + struct.pack("<BBI", self._choose.randrange(2), 0, count) * many
        (first,) = self._db.execute("SELECT count(*) FROM blocks").fetchone()
        self._run(
            "INSERT INTO blocks(kind, first, count, data) VALUES (?, ?, ?, ?)",
            *(kind, self._choose.choice((0, 1, first, 1 << 40)), min(count, 1 << 40)),
            zlib.compress(data),
        )

    def lines(self) -> None:
        """Sources whose lines have other nodes, or are many."""
        n = self._choose.choice((0, 1, 3, 1000, 1 << 22))
        nodes = self._choose.choice(([], [1] * min(n, 9), [-1] * min(n, 9), [1 << 40] * min(n, 9)))
        counts = [len(nodes)] + [0] * (min(n, 2000) - 1) if n else []
        blob = pack([counts, nodes], [False, True])
        if n > 2000:
            head = struct.pack("<BBI", 0, 0, n) + struct.pack("<BBI", 0, 0, 0)
            blob = zlib.compress(bytes([2]) + head)
        self._run("UPDATE artifacts SET lines = ?", blob)


_CONTEXT: Final = "name, kind, meta, thread, start, us, error"
_REWRITE: Final = (
    "context, name, matcher, caller, bottom_up, sink, result, nodes, start, us, matches, rebuilds,"
    " declines, empty, first_block, last_block, error"
)


def questions(store: Store, client: FlaskClient, folder: Path) -> Iterator[tuple[str, Any]]:
    """All that can be asked of a run: each route, each answer of the store that has none, each
    table, and a copy."""
    rows = client.get("/api/A/tree").get_json().get("rows", [])
    routes = ["run", "tree?since=1", "rules", "rule-totals", "timeline"]
    routes += [f"search?q={text}" for text in ("a", "kernel", "%F0%9F")]
    for row in {row["id"]: row for row in (*rows[:ASKED], *rows[-ASKED:])}.values():
        number = row["id"]
        kinds = ("kernels", "origins", "rewrites", "lineage")
        routes += [f"{kind}/{number}" for kind in kinds] if 0 <= number < 1 << 62 else []
        routes.append(f"rewrites/{max(0, number)}/text?step=1")
        yield f"graph of kernel {number}", lambda n=number: store.kernel_graph(n)
    for route in (*routes, "run"):
        yield f"/api/A/{route}", lambda r=route: _get(client, r)
    for table in TABLES:
        yield table, lambda t=table: run_query(store.files, f"SELECT * FROM {t} LIMIT 9")
    yield "comparison", lambda: _compare(store, rows[:ASKED])
    yield "copy", lambda: write_trace(store, folder / "copy.viz")


def _compare(store: Store, rows: list[dict[str, Any]]) -> None:
    """The comparison of a run with itself, and everything about some of its scopes and passes."""
    comparison = Comparison(store, store)
    made = comparison.overview(SLICE)
    json.loads(json.dumps(made), parse_constant=_no_constant)
    for scope in made["scopes"][:3]:
        comparison.scopes(scope["a"] or 0, scope["b"] or 0)
        comparison.sources(scope["a"] or 0, scope["b"] or 0, "llvm", "x86-64")
    for row in [row for row in rows if row["kind"] == "rewrite"][:3]:
        comparison.passes(row["id"], row["id"])


def _get(client: FlaskClient, route: str) -> None:
    response = client.get(f"/api/A/{route}")
    if response.status_code not in (200, 400, 404):
        raise AssertionError(f"{response.status_code}: {response.get_data(as_text=True)[:2000]}")
    json.loads(response.data, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise AssertionError(f"{name} in an answer")


def check(path: Path, folder: Path) -> None:
    """Opens a trace and asks everything of it."""
    started = time.process_time()
    try:
        store = Store(path)
    except TraceError:
        return
    _in_time(started, "open")
    app = create_app(store, Guard("secret", 4711))
    app.extensions["uopviz"].machine._looking = True  # asks no worker for devices
    app.logger.disabled = True
    app.test_client_class = TokenClient
    try:
        for name, ask in questions(store, app.test_client(), folder):
            started = time.process_time()
            try:
                ask()
            except UopvizError:
                pass
            except Exception as error:
                raise AssertionError(name) from error
            _in_time(started, name)
    finally:
        store.close()


def _in_time(started: float, name: str) -> None:
    took = time.process_time() - started
    if took > SECONDS + 350 * unit():
        raise AssertionError(f"{name} took {took:.1f} s")


def main(seed: int, count: int, bases: list[Path]) -> None:
    """Checks `count` mutants."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in range(seed, seed + count):
        choose = random.Random(number)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.viz"
            shutil.copy(choose.choice(bases), path)
            how = Mutant(path, choose).change()
            try:
                check(path, Path(folder))
            except BaseException:
                print(f"seed {number}: {how}", file=sys.stderr)
                raise


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), [Path(arg) for arg in sys.argv[3:]])
