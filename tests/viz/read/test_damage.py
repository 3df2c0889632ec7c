"""A trace may be cut off, damaged, newer, hostile or no trace: what can be read is shown."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import sqlite3
import struct
import zlib
from pathlib import Path

import pytest

import viz.read.database
from core.errors import TraceError
from tests.effort import at_most
from tests.viz.read.packed import change_rewrites, change_rules
from viz.format import schema
from viz.format.blocks import REWRITES
from viz.format.pack import pack, pack_json
from viz.read.tracefile import TraceFile
from viz.views.rules.rulebook import clean_pattern
from viz.views.store import Store
from viz.write.writer import TraceWriter


def look_at_everything(path: Path) -> dict:
    """Asks for all that the page asks for. Raises nothing but TraceError, on opening."""
    store = Store(path)
    try:
        run = store.run()
        for row in store.tree()["rows"]:
            if row["kind"] == "rewrite":
                json.dumps(store.bundle(row["id"]))
                store.step_text(row["id"], 1)
            else:
                json.dumps(store.kernel(row["id"]))
                json.dumps(store.origins(row["id"]))
                store.kernel_graph(row["id"])
        json.dumps(store.rules())
        store.rule_totals()
        for text in ("add", "v", "kernel", "samples"):
            json.dumps(store.search(text))
        return run | {"problems": store.run()["problems"]}
    finally:
        store.close()


def test_a_whole_trace_has_no_problem(trace: Path) -> None:
    assert look_at_everything(trace)["problems"] == []


def test_truncation_at_random_bytes(trace: Path, tmp_path: Path) -> None:
    whole = trace.read_bytes()
    seed = random.randrange(1 << 30)
    print("seed", seed)
    choose = random.Random(seed)
    shown = 0
    for _ in range(40):
        length = choose.randrange(len(whole))
        cut = tmp_path / "cut.viz"
        cut.write_bytes(whole[:length])
        try:
            run = look_at_everything(cut)
        except TraceError:
            continue
        shown += 1
        assert run["problems"], f"cut at {length} of {len(whole)}"
    assert shown > 5


def test_a_truncated_trace_says_how_much_is_missing(trace: Path, tmp_path: Path) -> None:
    whole = trace.read_bytes()
    cut = tmp_path / "cut.viz"
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    run = look_at_everything(cut)
    first = run["problems"][0]
    missing = len(whole) - cut.stat().st_size
    assert first["what"].startswith(
        f"this trace is cut off: {missing:,} of {len(whole):,} bytes are missing, "
    )
    assert first["what"].endswith("and all that came later")
    known = TraceFile(cut)
    known.refresh()
    last = max([*known.contexts, *known.rewrites])
    lost = last - len(known.contexts) - len(known.rewrites)
    known.close()
    assert lost == 0 or f"with them {lost} of the first {last} passes and groups" in first["what"]


def test_corrupted_bytes(trace: Path, tmp_path: Path) -> None:
    whole = trace.read_bytes()
    seed = random.randrange(1 << 30)
    print("seed", seed)
    choose = random.Random(seed)
    for _ in range(60):
        damaged = bytearray(whole)
        for _ in range(choose.choice((1, 3, 200))):
            damaged[choose.randrange(len(damaged))] = choose.randrange(256)
        bad = tmp_path / "bad.viz"
        bad.write_bytes(damaged)
        try:
            look_at_everything(bad)
        except TraceError:
            continue  # not even a table is left


def test_a_lost_block_is_a_problem_and_the_rest_is_shown(trace: Path) -> None:
    db = sqlite3.connect(trace)
    with db:
        db.execute("UPDATE blocks SET data = x'00' WHERE kind = ?", (schema.NODES,))
    db.close()
    run = look_at_everything(trace)
    assert any("damaged" in p["what"] for p in run["problems"])
    assert run["totals"]["rewrites"] == 3
    assert run["lost"] > 0


def test_numbers_that_lead_nowhere(trace: Path) -> None:
    db = sqlite3.connect(trace)
    with db:
        db.execute("UPDATE kernels SET ast = 'x'")
        db.execute("UPDATE contexts SET parent = id, meta = '[[', name = x'ff00'")
    db.close()
    for field, value in {"sink": 1 << 40, "context": -7, "parent": 99, "name": 1 << 60}.items():
        assert change_rewrites(trace, **{field: value})
        look_at_everything(trace)


def test_packed_rewrites_of_any_number(trace: Path) -> None:
    """Numbers that are no column's, in each column of the packed rewrites."""
    for name in REWRITES.names:
        copy = trace.with_name(f"{name}.viz")
        for value in (-1, -(1 << 62), 1 << 62, 0):
            shutil.copy(trace, copy)
            assert change_rewrites(copy, **{name: value})
            look_at_everything(copy)


def test_rules_with_fields_of_any_type(trace: Path, tmp_path: Path) -> None:
    for name in ("id", "name", "matcher", "file", "line", "equation", "doc", "source", "pattern"):
        for value in (-1, 1e300, None, [1], {"a": [1]}, "x" * 9000):
            copy = tmp_path / "copy.viz"
            shutil.copy(trace, copy)
            assert change_rules(copy, **{name: value})
            look_at_everything(copy)


def test_packed_rewrites_that_are_damaged_are_a_problem(trace: Path) -> None:
    db = sqlite3.connect(trace)
    with db:
        db.execute("UPDATE blocks SET data = x'00' WHERE kind = ?", (schema.REWRITES,))
    db.close()
    run = look_at_everything(trace)
    assert any("damaged" in p["what"] for p in run["problems"])
    assert run["totals"]["contexts"] > 0


def test_wrong_types_in_every_cell(trace: Path, tmp_path: Path) -> None:
    tables = {
        "meta": ("key", "value"),
        "contexts": ("parent", "name", "kind", "meta", "start", "us", "error"),
        "rewrites": ("parent", "context", "name", "sink", "result", "us", "matches", "first_block"),
        "artifacts": ("context", "kind", "body", "lines"),
        "blocks": ("kind", "first", "count", "data"),
    }
    for table, columns in tables.items():
        for column in columns:
            for value in ("-1", "1e300", "x'00ff'", "'{\"a\": [1]}'"):
                copy = tmp_path / "copy.viz"
                shutil.copy(trace, copy)
                db = sqlite3.connect(copy)
                with db:
                    db.execute(f"UPDATE OR IGNORE {table} SET {column} = {value}")
                db.close()
                look_at_everything(copy)


def test_a_newer_version_is_shown_with_a_problem(trace: Path) -> None:
    db = sqlite3.connect(trace)
    db.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    db.execute("ALTER TABLE rewrites ADD COLUMN mood TEXT")
    db.close()
    run = look_at_everything(trace)
    (problem,) = run["problems"]
    assert "newer" in problem["what"]
    assert run["totals"]["rewrites"] == 3


@pytest.mark.parametrize("content", [b"", b"hello", b"SQLite format 3\0" + bytes(4000)])
def test_not_a_trace(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.viz"
    path.write_bytes(content)
    with pytest.raises(TraceError, match="not a trace"):
        Store(path)


def test_some_other_database(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE meta(key, value)")
    db.commit()
    db.close()
    with pytest.raises(TraceError, match="not a trace"):
        Store(path)


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "none.viz", "no such trace"), (tmp_path, "this is a folder")):
        with pytest.raises(TraceError, match=said):
            Store(path)


def test_a_view_in_place_of_a_table_is_not_run(trace: Path) -> None:
    db = sqlite3.connect(trace)
    db.executescript(
        "DROP TABLE rewrites; CREATE VIEW rewrites AS WITH RECURSIVE n(id) AS "
        "(SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT * FROM n;"
    )
    db.close()
    run = look_at_everything(trace)
    assert [p["what"] for p in run["problems"]] == ["table rewrites is missing"]


def test_a_block_that_claims_millions_of_nodes(trace: Path) -> None:
    db = sqlite3.connect(trace)
    blob = pack([[0] * 4] * 9, [False] * 9)
    with db:
        for first in (1 << 61, -5, 1 << 40):
            db.execute(
                "INSERT INTO blocks(kind, first, count, data) VALUES(?,?,?,?)",
                (schema.NODES, first, 1 << 60, blob),
            )
        db.execute(
            "INSERT INTO blocks(kind, first, count, data) VALUES(?,?,?,?)",
            (schema.STRINGS, 1 << 50, 1, pack_json(["x"])),
        )
        db.execute(
            "INSERT INTO blocks(kind, first, count, data) VALUES(?,?,?,?)",
            (schema.EVENTS, 0, 1, zlib.compress(bytes(1 << 27))),
        )
    db.close()
    assert change_rewrites(trace, last_block=1 << 60)
    assert len(look_at_everything(trace)["problems"]) >= 3


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\x1b]0;owned\x07\x1b[2J",
    "\x00\u202eevil\ud800",
    "%s%n{}",
    "x" * 3_000_000,
    "'; DROP TABLE blocks; --",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_strings_stay_text(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.viz"
    with TraceWriter(path, {"command": [text], "cwd": text, "started": text, "run": text}) as t:
        kernel = t.context_begin(text, text, meta={text: text})
        x = t.node(text, text, arg=text, tag=text, origin=text, loc=text, extra={"shape": text})
        r = t.rule(text, text, 1, matcher=text, equation=text, doc=text, source=text,
                   pattern={"op": [text], "name": text})  # fmt: skip
        step = t.rewrite_begin(text, x, context=kernel, matcher=text, caller=text)
        t.match(step, r, x, t.node("B"), {text: x}, ns=1)
        t.rewrite_end(step, error={"message": text, "traceback": text, "rule": r})
        t.kernel(kernel, text, target=text, ast=x, info={"inputs": [text]})
        t.artifact(kernel, "c", "t", text, facts={text: text})
        t.context_end(kernel)
    look_at_everything(path)


def test_patterns_of_a_stranger() -> None:
    deep: dict = {}
    for _ in range(5000):
        deep = {"anyOf": [deep, deep]}
    clean = clean_pattern(deep)
    assert clean["op"] == []
    assert clean_pattern({"op": [1, "ADD"], "src": {"kind": "other", "of": 3}})["op"] == ["", "ADD"]
    assert clean_pattern("nonsense")["src"] == {"kind": "any"}


def test_a_column_that_is_worked_out_is_not_read(trace: Path) -> None:
    db = sqlite3.connect(trace)
    db.execute("DROP TABLE meta")
    db.execute(
        "CREATE TABLE meta(key TEXT, value TEXT GENERATED ALWAYS AS (hex(zeroblob(9000000))))"
    )
    db.executemany("INSERT INTO meta(key) VALUES (?)", [(str(i),) for i in range(3)])
    db.commit()
    db.close()
    problems = look_at_everything(trace)["problems"]
    assert any(p["what"] == "table meta is missing" for p in problems)


@pytest.mark.parametrize(
    ("table", "how"), [("contexts", "out of order"), ("artifacts", "interrupted")]
)
def test_pages_that_are_shared_do_not_take_for_ever(
    trace: Path, monkeypatch: pytest.MonkeyPatch, table: str, how: str
) -> None:
    """The root of a table refers to one page many times, so do the pages below it: 49^8 rows."""
    monkeypatch.setattr(viz.read.database, "STEPS", 1_000_000)
    db = sqlite3.connect(trace)
    db.execute("PRAGMA journal_mode=DELETE")
    (page_size,) = db.execute("PRAGMA page_size").fetchone()
    db.execute("DELETE FROM artifacts WHERE id > 1")
    select = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    (root,) = db.execute(select, (table,)).fetchone()
    db.execute("CREATE TABLE spare(x)")
    db.executemany("INSERT INTO spare VALUES (zeroblob(?))", [(page_size,)] * 20)
    db.commit()
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.close()
    whole = bytearray(trace.read_bytes())
    levels = [root, *range(pages - 7, pages + 1)]
    leaf = whole[(root - 1) * page_size : root * page_size]
    assert leaf[0] == 13, "the table has one page"
    for page, below in itertools.pairwise(levels):
        made = bytearray(page_size)
        cells = page_size // 10 - 2
        at = page_size - 8 * cells
        made[0:12] = bytes([5, 0, 0, *cells.to_bytes(2), *at.to_bytes(2), 0, *below.to_bytes(4)])
        for i in range(cells):
            made[12 + 2 * i : 14 + 2 * i] = (at + 8 * i).to_bytes(2)
            made[at + 8 * i : at + 8 * i + 5] = below.to_bytes(4) + bytes([1])
        whole[(page - 1) * page_size : page * page_size] = made
    whole[(levels[-1] - 1) * page_size : levels[-1] * page_size] = leaf
    trace.write_bytes(whole)
    with at_most(700):
        problems = look_at_everything(trace)["problems"]
        wanted = f"table {table} is damaged"
        assert any(wanted in p["what"] and how in p["what"] for p in problems)


def test_numbers_that_are_no_json(trace: Path) -> None:
    db = sqlite3.connect(trace)
    for key, value in (("ended", "1e999"), ("versions", '{"a": NaN}'), ("flags", '{"A": 1e999}')):
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
    db.execute('UPDATE contexts SET error = \'{"what": Infinity, "line": -Infinity}\'')
    db.commit()
    db.close()
    json.dumps(look_at_everything(trace), allow_nan=False)


def test_integers_that_no_float_holds(trace: Path) -> None:
    db = sqlite3.connect(trace)
    for key in ("ended", "started", "commit", "process", "flags"):
        digits = "9" * 400
        value = f'{{"dirty": {digits}, "pid": {digits}, "A": {digits}}}'
        db.execute(
            "INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, digits if key == "ended" else value)
        )
    db.commit()
    db.close()
    json.dumps(look_at_everything(trace))


def test_blocks_that_would_fill_the_memory(trace: Path) -> None:
    """Four million rows of zeros are sixty bytes."""
    db = sqlite3.connect(trace)
    count = 1 << 22
    for kind, columns in ((schema.LAUNCHES, 5), (schema.MEMORY, 3)):
        head = bytes([columns]) + struct.pack("<BBI", 0, 0, count) * columns
        row = (kind, 1, count, zlib.compress(head))
        db.executemany("INSERT INTO blocks(kind, first, count, data) VALUES (?,?,?,?)", [row] * 50)
    texts = zlib.compress(b'["' + b"a" * (60 << 20) + b'"]')
    (first,) = db.execute("SELECT max(first + count) FROM blocks WHERE kind = 1").fetchone()
    rows = [(schema.STRINGS, first + i, 1, texts) for i in range(8)]
    db.executemany("INSERT INTO blocks(kind, first, count, data) VALUES (?,?,?,?)", rows)
    db.commit()
    db.close()
    with at_most(700):
        problems = look_at_everything(trace)["problems"]
        assert any("take too much memory" in p["what"] for p in problems)


def test_origins_of_numbers_that_are_no_nodes(tmp_path: Path) -> None:
    path = tmp_path / "t.viz"
    with TraceWriter(path, {}) as t:
        kernel = t.context_begin("kernel", "kernel", meta={"metadata": ["add"]})
        root = t.node("ADD")
        t.kernel(kernel, "kernel", ast=root)
        t.origins(root, {root: ["a.py:1"], root + 7: ["a.py:2"], 1 << 62: ["a.py:3"]})
        t.context_end(kernel)
    look_at_everything(path)
    file = TraceFile(path)
    file.refresh()
    assert [node for node, _ in file.origins.told(root)] == [root]
    file.close()
