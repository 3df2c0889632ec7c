"""A compiler that is not ours writes a trace through TraceWriter, and the store shows it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core.errors import TraceError
from viz.environment import cache_folder
from viz.format import schema
from viz.format.rows import TABLES
from viz.views.store import Store
from viz.write.events.eventlog import DECLINES_KEPT
from viz.write.writer import TraceWriter


def write(path: Path) -> None:
    """The example of the writer's docstring, and a little more."""
    with TraceWriter(path, {"command": ["mycc", "a.c"], "run": "1"}) as t:
        kernel = t.context_begin("kernel a", "kernel")
        x = t.node("FOO", "i7", arg="1", origin="a.c:3", extra={"shape": "4x4", "lo": "1"})
        y = t.node("BAR", "i7", (x,), loc="fold.cc:9", tag="7")
        fold = t.rule("fold_bar", "fold.cc", 12, equation="bar(c) -> c'", source="fold(...)\n")
        z = t.node("FOO", "i7", arg="-1")
        step = t.rewrite_begin("fold", sink=y, context=kernel, caller="driver.cc:1")
        t.decline(step, fold, x)
        t.match(step, fold, y, z, {"c": x}, ns=2700)
        t.rewrite_end(step, z, nodes=1)
        t.kernel(kernel, "a", target="foo64", ast=y, info={"flops": 7})
        t.artifact(kernel, "c", "foo64", "int a;\n", lines=[[z]], facts={"size": "3"})
        t.launch("a", "FOO", 5, 9000, 64)
        t.memory("FOO", 1 << 40)
        t.context_rename(kernel, "kernel b")
        t.context_end(kernel)


def test_another_compiler(tmp_path: Path) -> None:
    write(tmp_path / "t.viz")
    store = Store(tmp_path / "t.viz")
    run = store.run()
    assert run["name"] == "a.c"
    assert run["totals"] == {
        "contexts": 1, "kernels": 1, "rewrites": 1, "steps": 1, "launches": 1,
    }  # fmt: skip
    kernel, fold = store.tree()["rows"]
    assert (kernel["name"], kernel["label"], kernel["steps"], kernel["declines"]) == (
        "kernel b", "kernel", 1, 1,
    )  # fmt: skip
    assert (fold["name"], fold["parent"], fold["nodes"]) == ("fold", 0, 1)
    bundle = store.bundle(fold["id"])
    assert bundle is not None
    assert bundle["ops"] == ["FOO", "BAR"]
    nodes = bundle["nodes"]
    assert [bundle["shapes"][i] if i >= 0 else "" for i in nodes["shape"]] == ["4x4", "", ""]
    assert nodes["lo"] == ["1", "", ""]
    assert bundle["origins"] == ["a.c:3"]
    assert bundle["locs"] == ["fold.cc:9"]
    (step,) = bundle["steps"]
    assert (step["us"], step["before"], step["after"], step["binds"]) == (2, 1, 2, [("c", 0)])
    (rule,) = store.rules()
    assert (rule["name"], rule["line"], rule["matches"], rule["declines"]) == ("fold_bar", 12, 1, 1)
    made = store.kernel(kernel["id"])
    assert made is not None
    assert (made["target"], made["flops"], made["launches"]) == (
        "foo64", 7, {"count": 1, "us": [9.0]},
    )  # fmt: skip
    (artifact,) = made["artifacts"]
    assert artifact["lines"] == [[nodes["id"][2]]]
    assert artifact["origins"] == [[nodes["id"][0]]], "the constant, which also was a FOO"
    assert artifact["facts"] == [{"name": "size", "value": "3"}]
    store.close()


def test_the_same_fields_give_the_same_number(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        assert t.node("A") == t.node("A") != t.node("B")
        assert t.string("a") == t.string("a")
        assert t.rule("r", "f", 1) == t.rule("r", "f", 1) != t.rule("r", "f", 2)


def test_a_source_is_an_earlier_node(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t, pytest.raises(TraceError):
        t.node("A", src=(7,))


def test_many_declines_are_counted(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        a, r = t.node("A"), t.rule("r")
        step = t.rewrite_begin("p", a)
        for _ in range(1000):
            t.decline(step, r, a)
        t.rewrite_end(step, a)
    store = Store(tmp_path / "t.viz")
    assert store.tree()["rows"][0]["declines"] == 1000
    assert store.rules()[0]["declines"] == 1000
    store.close()
    db = sqlite3.connect(tmp_path / "t.viz")
    count = db.execute("SELECT sum(count) FROM blocks WHERE kind = ?", (schema.EVENTS,)).fetchone()
    db.close()
    assert count == (DECLINES_KEPT,)


def test_an_old_trace_is_replaced_and_any_other_file_is_not(tmp_path: Path) -> None:
    write(tmp_path / "t.viz")
    write(tmp_path / "t.viz")
    precious = tmp_path / "thesis.db"
    precious.write_text("years of work")
    with pytest.raises(TraceError, match="not overwritten"):
        TraceWriter(precious, {})
    assert precious.read_text() == "years of work"


def test_a_place_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="cannot be made"):
        TraceWriter(tmp_path / "file" / "t.viz", {})


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    write(tmp_path / "t.viz")
    db = sqlite3.connect(tmp_path / "t.viz")
    assert db.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
    assert db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    db.close()
    assert tables == {table.name for table in TABLES}
    assert not (tmp_path / "t.viz-wal").exists()


def test_the_cache_is_for_its_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modes: dict[str, int] = {}
    make = Path.mkdir

    def mkdir(self: Path, mode: int = 0o777, **options: bool) -> None:
        modes.setdefault(self.name, mode)
        make(self, mode, **options)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "base"))
    monkeypatch.setattr(Path, "mkdir", mkdir)
    cache = cache_folder()
    for folder in (cache, tmp_path / "chosen"):
        TraceWriter(folder / "t.viz", {}).close()
    assert (modes[cache.name], modes["chosen"]) == (0o700, 0o777)
