"""A run or a part of it written anew as a trace: nothing is lost but what is said to be."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from core.errors import ServerError, TraceError
from tests.viz.share.test_reopened import plain, same_answers
from viz.cli import main
from viz.format import schema
from viz.format.blocks import EVENTS
from viz.format.pack import inflate
from viz.read.tracefile import TraceFile
from viz.read.visits import MAX_COUNT
from viz.share.copy import write_trace
from viz.share.html import export_html
from viz.share.redaction import SAID
from viz.share.reopened import open_run
from viz.share.sql import run_query
from viz.views.store import Store
from viz.write import replacing
from viz.write.database import TraceDatabase
from viz.write.writer import TraceWriter

SECRET = "/home/zelda/secret"
QUERIES = (
    "select * from matches",
    "select * from rebuilds",
    "select * from declines",
    "select * from launches",
    "select * from rule_totals",
    "select * from edges",
    "select id, op, dtype, arg from nodes",
    "select id, parent, name, kind, start_us, us from contexts",
)


@pytest.fixture
def rich(tmp_path: Path) -> Path:
    """A trace of everything that a writer can write, as another compiler would."""
    path = tmp_path / "rich.viz"
    info: dict[str, Any] = {
        "run": "r1",
        "command": ["python", f"{SECRET}/a.py"],
        "cwd": SECRET,
        "machine": "zelda's machine",
        "started": "2026-01-02T03:04:05.678+00:00",
        "process": {"pid": 17, "start": 1, "host": "zelda", "main": True},
    }
    with TraceWriter(path, info) as t:
        fold = t.rule("fold", f"{SECRET}/rules.py", 3, source="def fold(): ...", doc="Folds.")
        fail = t.rule("fail", f"{SECRET}/rules.py", 9, source="def fail(): 1 / 0")
        for i in range(3):
            context = t.context_begin(
                f"k{i}", "kernel", meta={"metadata": [f"{SECRET}/a.py:{i}"], "own": SECRET}, at=i
            )
            x = t.node("x", "i32", arg=str(i), origin=f"{SECRET}/a.py:{i}", extra={"lo": "0"})
            y, z = t.node("neg", "i32", (x,)), t.node("y", "i32", arg=str(i))
            user = t.node("use", "i32", (y, y))
            p = t.rewrite_begin("p", user, context=context, caller=f"{SECRET}/c.py:5", at=i)
            q = t.rewrite_begin("inner", x, context=context, parent=p, matcher="m", at=i)
            for _ in range(70):
                t.decline(q, fail, x)
            t.rewrite_end(q, x, at=i + 1)
            t.rewrite_empty(p)
            t.match(p, fold, y, z, {"c": x, "d": y}, ns=700)
            t.rebuild(p, user, t.node("use", "i32", (z, z)))
            failed = {"message": f"ValueError: {SECRET}", "traceback": SECRET, "rule": fail}
            t.rewrite_end(p, 0, error=failed if i == 1 else None, at=i + 2)
            t.kernel(context, f"k{i}", target="cpu", device="CPU", ast=user, info={"flops": i})
            t.artifact(context, "c", "cpu", f"k{i}\n;\n", lines=[(y,), (user,)], facts={"a": "b"})
            t.launch(f"k{i}", "CPU", 10 + i, 500, 64)
            t.memory("CPU", 100 * i, at=i)
            t.context_end(context, at=i + 3)
        t.context_begin("never ended")
    return path


@pytest.fixture
def run(rich: Path) -> Iterator[Store]:
    made = Store(rich)
    yield made
    made.close()


def test_a_copy_has_every_answer_of_the_run(run: Store, tmp_path: Path) -> None:
    assert write_trace(run, tmp_path / "copy.viz") == []
    again = Store(tmp_path / "copy.viz")
    same_answers(run, again)
    a, b = run.run(), again.run()
    assert {k for k in a if a[k] != b[k]} <= {"bytes", "file"}
    for sql in QUERIES:
        assert run_query(run.files, sql) == run_query(again.files, sql), sql
    again.close()


def test_through_an_exported_file_and_back(run: Store, dist: Path, tmp_path: Path) -> None:
    html, back = tmp_path / "bug.html", tmp_path / "back.viz"
    html.write_text(export_html(run).html)
    assert main(["export", str(html), "-o", str(back)]) == 0
    again, served = Store(back), open_run(html)
    same_answers(served, again)
    assert plain(again.tree()["rows"][0]["caller"]) == ""
    assert [r["caller"] for r in again.tree()["rows"] if r["name"] == "p"] == ["c.py:5"] * 3
    for sql in QUERIES:
        assert run_query(run.files, sql) == run_query(again.files, sql), sql
    problems = [p["what"] for p in again.run()["problems"]]
    said = [p["what"] for p in run.run()["problems"]]
    assert problems == [text.replace(SECRET, ".") for text in said]
    again.close()
    served.close()


def test_chosen_kernels_keep_their_numbers(run: Store, tmp_path: Path) -> None:
    _, second, third = run.kernels()
    said = write_trace(run, tmp_path / "part.viz", kernels=[third])
    assert said == ["2 of 3 kernels were not chosen"]
    part = Store(tmp_path / "part.viz")
    assert part.kernels() == [third]
    assert part.kernel(second) is None
    assert plain(part.kernel(third)) == plain(run.kernel(third))
    assert part.kernel_graph(third) == run.kernel_graph(third)
    inside = [r["id"] for r in part.tree()["rows"] if r["kind"] == "rewrite"]
    assert inside
    for number in inside:
        assert plain(part.bundle(number)) == plain(run.bundle(number))
    assert [p["what"] for p in part.run()["problems"]] == said
    timeline = part.timeline()
    counts = {t["kind"]: len(t["start"]) for t in timeline["tracks"]}
    assert counts == {"thread": 4, "device": 1, "memory": 3}
    assert not {"k0", "k1"} & {*timeline["names"]}
    write_trace(part, tmp_path / "again.viz")
    again = Store(tmp_path / "again.viz")
    assert [p["what"] for p in again.run()["problems"]] == said, "said in copies of the copy, too"
    again.close()
    part.close()
    with pytest.raises(ServerError, match="no kernel 99"):
        write_trace(run, tmp_path / "x.viz", kernels=[99])


def test_a_redacted_copy_holds_no_secret_in_any_of_its_bytes(run: Store, tmp_path: Path) -> None:
    path = tmp_path / "redacted.viz"
    assert write_trace(run, path, redact=True) == [SAID]
    db = sqlite3.connect(path)
    cells: list[object] = []
    for (table,) in db.execute("select name from sqlite_master where type = 'table'").fetchall():
        for row in db.execute(f"select * from {table}"):
            cells += row
    db.close()
    raw = path.read_bytes() + b"".join(map(_opened, cells))
    for word in (b"zelda", b"secret", b"1 / 0", b"def fold"):
        assert word not in raw, word
    redacted = Store(path)
    assert {rule["file"] for rule in redacted.rules()} == {"rules.py"}
    assert SAID in [p["what"] for p in redacted.run()["problems"]]
    redacted.close()


def _opened(cell: object) -> bytes:
    try:
        return inflate(cell) if isinstance(cell, bytes) else str(cell).encode()
    except TraceError:
        return b""  # texts of artifacts


def test_every_process_of_a_run(tmp_path: Path) -> None:
    for name, number in (("run.viz", 1), ("run.p77.viz", 2)):
        with TraceWriter(tmp_path / name, {"run": "both", "process": {"pid": number}}) as t:
            p = t.rewrite_begin(f"pass {number}", t.node("A", arg=str(number)))
            t.rewrite_end(p, 1)
    store = Store(tmp_path / "run.viz")
    html = tmp_path / "copy" / "bug.html"
    html.parent.mkdir()
    write_trace(store, html.parent / "run.viz")
    again = Store(html.parent / "run.viz")
    same_answers(store, again)
    assert again.run()["processes"] == 2
    again.close()
    store.close()


def test_a_trace_that_is_still_written(tmp_path: Path) -> None:
    code = (
        "import sys; from viz.trace import Recorder; from tests.viz.samples import *;"
        "from core.uop.engine.rewrite import graph_rewrite;"
        "r = Recorder(sys.argv[1]).start(); graph_rewrite(random_graph(1), rules, name='tidy');"
        "r.flush(); print('ready', flush=True); input()"
    )
    path = tmp_path / "live.viz"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        store = Store(path)
        assert store.live
        assert "what it did afterwards is left out" in write_trace(store, tmp_path / "now.viz")[0]
        store.close()
        program.communicate(b"\n")
    again = Store(tmp_path / "now.viz")
    assert not again.live
    assert again.tree()["total"] == 1
    again.close()


def test_the_command_says_what_it_wrote(
    rich: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "part"
    options = ["--format", "trace", "--kernel", "1", "--redact", "-o", str(out)]
    assert main(["export", str(rich), *options]) == 0
    said = capsys.readouterr().out
    assert "left out: 2 of 3 kernels were not chosen" in said
    assert f"left out: {SAID}" in said
    assert Store(out).kernels() == [1]
    before = rich.read_bytes()
    assert main(["export", str(rich), "--format", "trace"]) == 2
    assert "would overwrite what is exported" in capsys.readouterr().err
    assert rich.read_bytes() == before
    out.write_text("mine")
    assert main(["export", str(rich), "--format", "trace", "-o", str(out)]) == 2
    assert "not overwritten" in capsys.readouterr().err
    assert out.read_text() == "mine"


def test_numbers_that_make_no_sense_are_copied_as_far_as_they_can_be(tmp_path: Path) -> None:
    source, copy = tmp_path / "a.viz", tmp_path / "b.viz"
    with TraceWriter(source, {"run": "r", "left_out": 5}) as t:
        fold = t.rule("fold")
        x, y = t.node("x"), t.node("y")
        p = t.rewrite_begin("p", x)
        t.match(p, fold, x, y, {}, ns=(1 << 63) - 1)
        t.rewrite_end(p, y)
        t.visited("p", t.rule_set([fold]), {"x": 1 << 62}, {})
        t.flush()
        t.visited("p", t.rule_set([fold]), {"x": 1 << 62}, {})
    db = sqlite3.connect(source)
    (block,) = db.execute("SELECT id FROM blocks WHERE kind = ?", (schema.EVENTS,)).fetchone()
    columns = [*([schema.MATCH], [p], [fold], [x], [y], [(1 << 63) - 1], [0], [0]), *([],) * 5]
    data = EVENTS.pack(columns)
    db.execute("UPDATE blocks SET data = ? WHERE id = ?", (data, block))
    db.commit()
    db.close()
    store = Store(source)
    assert write_trace(store, copy) == []
    store.close()
    again = Store(copy)
    assert [s["us"] for s in (again.bundle(again.tree()["rows"][0]["id"]) or {})["steps"]] == [
        1 << 53
    ]
    assert again.rule_totals()["rows"][0]["tries"] == MAX_COUNT  # of its one block
    again.close()


def test_a_copy_that_fails_leaves_all_as_it_was(
    run: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise TraceError("no room")

    for earlier in (False, True):
        if earlier:
            write_trace(run, tmp_path / "b.viz")
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        with monkeypatch.context() as patch:
            patch.setattr(TraceDatabase, "write", fails)
            with pytest.raises(TraceError, match="no room"):
                write_trace(run, tmp_path / "b.viz")
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_copy_takes_the_place_of_traces_only(run: Store, tmp_path: Path) -> None:
    precious = tmp_path / "notes.viz"
    precious.write_text("years of work")
    with pytest.raises(TraceError, match="not a trace"):
        write_trace(run, precious)
    assert precious.read_text() == "years of work"
    with pytest.raises(TraceError, match="overwrite what is exported"):
        write_trace(run, run.path)
    with TraceWriter(tmp_path / "busy.viz", {}), pytest.raises(TraceError, match="is writing"):
        write_trace(run, tmp_path / "busy.viz")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"busy.viz", "notes.viz", "rich.viz"}


@pytest.fixture
def in_parts(tmp_path: Path) -> Iterator[Store]:
    """A run of two processes, a kernel of which was compiled on request."""
    folder = tmp_path / "source"
    folder.mkdir()
    for name in ("run.viz", "run.p77.viz", "run.t0004.viz"):
        info: dict[str, Any] = {"run": "ab", "command": [f"{SECRET} {name}"]}
        if "t0004" in name:
            info["passes_for"] = {"kernel": 1, "target": "sm_90"}
        with TraceWriter(folder / name, info) as t:
            context = t.context_begin(f"k of {name}", "kernel")
            t.kernel(context, "k", ast=t.node("A"))
            t.context_end(context)
    store = Store(folder / "run.viz")
    yield store
    store.close()


def test_rules_of_what_was_compiled_have_their_texts_once(tmp_path: Path) -> None:
    """Whatever differs keeps its own; a reference that leads elsewhere is none."""
    folder = tmp_path / "source"
    folder.mkdir()
    texts = {"doc": "Folds. " * 500, "source": "def fold(): ...\n" * 500}
    for name in ("run.viz", "run.t0004.viz"):
        info: dict[str, Any] = {"run": "ab"}
        if "t0004" in name:
            info["passes_for"] = {"kernel": 1, "target": "sm_90"}
        with TraceWriter(folder / name, info) as t:
            context = t.context_begin("k", "kernel")
            if "t0004" in name:
                t.rule("new", "rules.py", 1, source="def new(): ...")
            t.rule("fold", "rules.py", 3, **texts)
            t.rule("changed", "rules.py", 9, source=f"# {name}", doc=name)
            x = t.node("x", "i32")
            t.kernel(context, "k", ast=x)
            t.context_end(context)
    with closing(Store(folder / "run.viz")) as store:
        write_trace(store, tmp_path / "copy.viz")
        wanted = [(r["name"], r["source"], r["doc"]) for r in store.rules()]
    part = tmp_path / "copy.t0004.viz"

    with closing(Store(tmp_path / "copy.viz")) as again:
        (one,) = again.compilations
        assert [(r["name"], r["source"], r["doc"]) for r in again.rules()] == wanted
        found = {rule.name: rule.texts for rule in one.file.rules.values()}
        assert found["fold"]["source"] == texts["source"]
        assert found["changed"]["doc"] == "run.t0004.viz"
        assert [*found["new"]] == ["doc", "source", "sourceLine", "pattern"]
    with closing(TraceFile(part)) as alone:
        alone.refresh()
        kept = [rule.texts for rule in alone.rules.values()]
        assert [texts for texts in kept if len(texts) == 1] == [{"sameAs": 1}]
    (tmp_path / "copy.viz").unlink()
    with TraceWriter(tmp_path / "copy.viz", {"run": "ab"}) as t:
        t.rule("another", "rules.py", 3, source="def another(): ...")
        t.context_end(t.context_begin("k", "kernel"))
    with closing(Store(tmp_path / "copy.viz")) as stranger:
        sources = {rule["name"]: rule["source"] for rule in stranger.rules()}
        assert sources["fold"] == ""


def parts_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_redacted_copy_leaves_nothing_of_an_earlier_whole_one(
    in_parts: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "sent"
    write_trace(in_parts, folder / "bug.viz")
    assert parts_in(folder) == {"bug.viz", "bug.p0001.viz", "bug.t0004.viz"}
    with TraceWriter(folder / "bug.t0009.viz", {"run": "ab", "command": [SECRET]}):
        pass  # of an earlier copy that had more
    write_trace(in_parts, folder / "bug.viz", redact=True)
    assert parts_in(folder) == {"bug.viz", "bug.p0001.viz", "bug.t0004.viz"}
    for path in folder.iterdir():
        assert SECRET.encode() not in path.read_bytes()
    again = Store(folder / "bug.viz")
    assert again.run()["processes"] == 2 and len(again.compilations) == 1
    again.close()


def test_a_smaller_copy_leaves_no_parts_of_a_larger_one(in_parts: Store, tmp_path: Path) -> None:
    folder = tmp_path / "sent"
    for name in ("bug.viz", "bug2.viz"):
        write_trace(in_parts, folder / name)
    with TraceWriter(folder / "bug.p5.viz", {"run": "cd"}):
        pass  # of another run
    (folder / "bug.p6.viz").write_text("no trace")
    (folder / "bug.viz").unlink()  # what is beside it would be taken for parts of the new one
    second = in_parts.kernels()[1:]
    write_trace(in_parts, folder / "bug.viz", kernels=second)
    others = {"bug2.viz", "bug2.p0001.viz", "bug2.t0004.viz", "bug.p5.viz", "bug.p6.viz"}
    assert parts_in(folder) == {"bug.viz", "bug.p0001.viz"} | others


def test_a_copy_that_is_not_put_in_place_leaves_every_earlier_part(
    in_parts: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sent"
    write_trace(in_parts, folder / "bug.viz")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    put = replacing.put_in_place

    def fails_at_last(made: Path, path: Path) -> None:
        if path.name == "bug.viz":
            raise TraceError("no room")
        put(made, path)

    with monkeypatch.context() as patch:
        patch.setattr(replacing, "put_in_place", fails_at_last)
        with pytest.raises(TraceError, match="no room"):
            write_trace(in_parts, folder / "bug.viz", redact=True)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    writer = TraceWriter(folder / "bug.p0008.viz", {"run": "ab"})
    with writer, pytest.raises(TraceError, match="is writing"):
        write_trace(in_parts, folder / "bug.viz", redact=True)
    (folder / "bug.p0008.viz").unlink()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_copy_in_the_place_of_the_whole_run_of_a_part(in_parts: Store) -> None:
    """The part is what is exported, and would go with the run that it lies beside."""
    folder = in_parts.path.parent
    before = parts_in(folder)
    part = Store(folder / "run.p77.viz")
    with pytest.raises(TraceError, match="overwrite what is exported"):
        write_trace(part, folder / "run.viz")
    part.close()
    assert parts_in(folder) == before
