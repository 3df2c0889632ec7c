"""The compiler's own texts before and after passes: written once, read, copied, and shown."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from viz.cli import main
from viz.format import schema
from viz.format.blocks import PASS_TEXTS
from viz.format.texts import unpack_texts
from viz.share.exportfile import detach
from viz.views.store import Store
from viz.write.writer import TraceWriter

BEFORE = "module {\n  t.a\n  t.dead\n}\n"
AFTER = "module {\n  t.a\n}\n"


def written(path: Path) -> Path:
    """Two passes: the text after the first one is that before the second one."""
    with TraceWriter(path, {"command": ["t"]}) as t:
        context = t.context_begin("a", "module", at=0)
        dead, kept = t.node("t.dead"), t.node("t.a")
        rule = t.rule("dce")
        old, new = t.node("module", src=(kept, dead)), t.node("module", src=(kept,))
        for name, texts in (("dce", (BEFORE, AFTER)), ("again", (AFTER, BEFORE))):
            sink, result = (old, new) if name == "dce" else (new, old)
            number = t.rewrite_begin(name, sink, context=context, at=1)
            t.match(number, rule, sink, result, {}, 0)
            t.pass_text(number, "before", "mlir", texts[0], lines=[(), (kept,)])
            t.pass_text(number, "after", "mlir", texts[1], lines=[(), (kept,)], left_out=2)
            t.rewrite_end(number, result, at=1)
            t.flush()
        number = t.rewrite_begin("nothing", new, context=context, at=2)
        t.rewrite_end(number, new, at=2)
        t.context_end(context, at=3)
    return path


def passes(store: Store) -> dict[str, int]:
    """Numbers by names."""
    return {row["name"]: row["id"] for row in store.tree()["rows"] if row["kind"] == "rewrite"}


def test_texts_are_read_as_they_were_written(tmp_path: Path) -> None:
    store = Store(written(tmp_path / "a.viz"))
    found = passes(store)
    texts = store.pass_texts(found["dce"])
    assert texts is not None
    assert (texts["before"]["text"], texts["after"]["text"]) == (BEFORE, AFTER)
    assert texts["before"]["kind"] == "mlir" and texts["after"]["leftOut"] == 2
    (name,) = [store.files[0].text(int(store.files[0].nodes.field("op")[n]))
               for n in texts["before"]["lines"][1]]  # fmt: skip
    assert name == "t.a"
    again = store.pass_texts(found["again"])
    assert again is not None and again["before"]["text"] == AFTER
    nothing = store.pass_texts(found["nothing"])
    assert nothing is not None and nothing["before"] is None and nothing["after"] is None
    assert store.pass_texts(99) is None
    has = {row["name"]: row["text"] for row in store.tree()["rows"]}
    assert has == {"a": False, "dce": True, "again": True, "nothing": False}
    store.close()


def test_equal_texts_are_stored_once(tmp_path: Path) -> None:
    path = written(tmp_path / "a.viz")
    db = sqlite3.connect(path)
    blocks = db.execute("SELECT data FROM blocks WHERE kind = ?", (schema.TEXTS,)).fetchall()
    assert sorted(text for (data,) in blocks for text in unpack_texts(data)) == sorted(
        (BEFORE, AFTER)
    )
    db.close()


@pytest.mark.parametrize("column", ["text", "text_at", "lines", "lines_at"])
def test_a_text_that_leads_nowhere_is_said(tmp_path: Path, column: str) -> None:
    path = written(tmp_path / "a.viz")
    db = sqlite3.connect(path)
    rows = db.execute("SELECT id, data FROM blocks WHERE kind = ?", (schema.PASS_TEXTS,)).fetchall()
    for number, data in rows:
        columns = {name: [*map(int, cells)] for name, cells in PASS_TEXTS.unpack(data).items()}
        columns[column] = [999] * len(columns[column])
        packed = PASS_TEXTS.pack([*columns.values()])
        db.execute("UPDATE blocks SET data = ? WHERE id = ?", (packed, number))
    db.commit()
    db.close()
    store = Store(path)
    texts = store.pass_texts(passes(store)["dce"])
    assert texts is not None and texts["before"]["error"] and texts["before"]["text"] == ""
    store.close()


def test_a_copy_and_an_export_keep_them(tmp_path: Path) -> None:
    path = written(tmp_path / "a.viz")
    for store in (Store(path), Store(_copied(path, tmp_path)), Store(_detached(path, tmp_path))):
        texts = store.pass_texts(passes(store)["dce"])
        assert texts is not None and texts["before"]["text"] == BEFORE
        assert [len(line) for line in texts["before"]["lines"]] == [0, 1]
        store.close()


def _copied(path: Path, folder: Path) -> Path:
    assert main(["export", str(path), "-o", str(folder / "copy.html"), "--redact"]) == 0
    assert main(["export", str(folder / "copy.html"), "-o", str(folder / "copy.viz")]) == 0
    return folder / "copy.viz"


def _detached(path: Path, folder: Path) -> Path:
    assert main(["export", str(path), "-o", str(folder / "b.html")]) == 0
    html = (folder / "b.html").read_text()
    (folder / "unpacked").mkdir()
    trace, _ = detach(html, folder / "unpacked", "A", 1 << 30)
    assert trace is not None
    return trace


def test_show_prints_the_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path / "a.viz"))
    number = str(passes(Store(path))["dce"])
    assert main(["show", path, number, "--text"]) == 0
    assert "-  t.dead" in capsys.readouterr().out
    assert main(["show", path, number, "--text", "after"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(AFTER) and "not kept: 2 more lines" in out
    assert main(["show", path, number, "--text", "ptx"]) == 2
    assert "give before or after" in capsys.readouterr().err
    assert main(["show", path, number, "--text", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["before"]["text"] == BEFORE
