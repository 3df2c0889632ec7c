"""What a copy says of the person whose run it was: every column of the trace, one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from viz.format import captured, capturedsteps, rows, schema, userlines
from viz.format.blocks import OLD, PACKED
from viz.share.copy import write_trace
from viz.share.redaction import TABLE, How, Wording, without_folders
from viz.share.sql import TABLES, run_query
from viz.views.runs.places import Places
from viz.views.store import Store
from viz.write.writer import TraceWriter

CWD = "/home/ada lovelace/work"
OTHER = "/data/engine/lib"
JSON_COLUMNS = {
    "contexts": ["meta.target", "meta.metadata", "meta.other"],
    "artifacts": ["text", "facts", "title"],
    "rules": [*rows.RULES.names, "doc", "source", "sourceLine", "pattern"],
}
BLOCKS = {
    **{columns.name: columns.names for columns in PACKED if columns not in OLD},
    "user_lines": userlines.FIELDS,
    "captured": captured.FIELDS,
    "captured_steps": capturedsteps.FIELDS,
    "meta": schema.META,
    "errors": ("message", "traceback", "full", "place", "rule", "node", "loop", "other"),
}
SKIPPED = {
    "contexts.meta",
    "contexts.error",  # of these the parts are columns
    "rewrites.error",
    "artifacts.body",
    "rule_totals.pass",  # names of rewrites
    "meta.key",
    "meta.value",
    "blocks.id",
    "blocks.kind",
    "blocks.first",
    "blocks.count",
    "blocks.data",
}


def columns() -> set[str]:
    """Every column of the format that is written, as the schema has it."""
    found = {
        f"{table}.{name}" for table, names in (BLOCKS | JSON_COLUMNS).items() for name in names
    }
    found |= {f"{table.name}.{name}" for table in rows.TABLES for name in table.names}
    return found - SKIPPED


def test_the_table_has_every_column() -> None:
    assert set(TABLE) == columns()


def marker(column: str, folder: str) -> str:
    """A text that names a file in `folder`; its name and that of its folder are of the column."""
    word = re.sub(r"\W", "_", column)
    return f"{folder}/in_{word}/is_{word}.py"


@pytest.fixture(params=[CWD, OTHER], ids=["below the folder", "elsewhere"])
def marked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, str]]:
    """A run whose every column that can hold a text holds a path."""
    folder: str = request.param

    def m(column: str, before: str = "") -> str:
        return before + marker(column, folder)

    path = tmp_path / "t.viz"
    info: dict[str, Any] = {key: m(f"meta.{key}") for key in schema.META}
    info |= {
        "cwd": CWD,
        "process": {"pid": 4711, "start": 1, "host": m("meta.process"), "main": True},
        "command": ["python", m("meta.command")],
        "commit": {"id": m("meta.commit"), "dirty": 3},
        "versions": {"numpy": m("meta.versions")},
        "flags": {"VIZ": m("meta.flags")},
        "ended": [m("meta.ended")],
        "idle": [m("meta.idle")],
        "left_out": [{"what": m("meta.left_out"), "where": "", "hint": ""}],
    }
    error = {
        "message": m("errors.message", "ValueError: "),
        "traceback": m("errors.traceback"),
        "full": m("errors.full"),
        "place": m("errors.place") + ":3",
        "other": m("errors.other"),
        "rule": m("errors.rule"),
        "node": [m("errors.node")],
    }
    with TraceWriter(path, info) as t:
        fold = t.rule(
            m("rules.name"),
            m("rules.file"),
            3,
            matcher=m("rules.matcher"),
            equation=m("rules.equation"),
            doc=m("rules.doc"),
            source=m("rules.source"),
            pattern={"kind": "op", "op": [m("rules.pattern")]},
        )
        meta = {
            "target": m("contexts.meta.target"),
            "metadata": [m("contexts.meta.metadata") + ":3 relu"],
            "own": m("contexts.meta.other"),
        }
        context = t.context_begin(m("contexts.name"), m("contexts.kind"), meta=meta)
        kernel = t.context_begin("k", "kernel", parent=context)
        x = t.node(
            m("heads.op"),
            m("heads.dtype"),
            arg=json.dumps({"str": m("heads.arg")}),
            tag=json.dumps(m("heads.tag")).replace("/", "\\u002f"),
            origin=m("heads.origin") + ":3 relu",
            loc=m("heads.loc") + ":4",
            extra={"shape": m("heads.extra")},
        )
        y = t.node("y", "", (x,))
        number = t.rewrite_begin(
            m("rewrites.name"),
            y,
            context=kernel,
            matcher=m("rewrites.matcher"),
            caller=m("rewrites.caller") + ":5",
        )
        t.match(number, fold, y, x, {m("events.match_sig"): x}, ns=5000)
        t.visited(m("visits.pass"), t.rule_set([fold]), {m("visits.op"): 3}, {})
        t.tried(0, fold, 3, 30_000, name=m("tries.pass"))
        t.pass_text(number, "before", m("pass_texts.kind"), f"load {m('artifacts.text')}\n")
        t.rewrite_end(number, 0, error=error)
        t.kernel(
            kernel,
            m("kernels.name"),
            target=m("kernels.target"),
            device=m("kernels.device"),
            ast=y,
            info={"inputs": [{"name": m("kernels.info")}], "flops": 3},
        )
        t.origins(y, {x: [m("origins.origin") + ":3 relu"]})
        kind, target = m("artifacts.kind"), m("artifacts.target")
        facts, title = {"spills": m("artifacts.facts")}, m("artifacts.title")
        text = f"load {m('artifacts.text')}\n"
        t.artifact(kernel, kind, target, text, lines=[(y,)], facts=facts, title=title)
        t.captured(y, m("captured.name"), m("captured.device"), {}, {}, why=m("captured.why"))
        texts = m("captured_steps.name"), m("captured_steps.device")
        t.captured_step(kernel, *texts, {}, {}, why=m("captured_steps.why"))
        t.launch(m("launches.name"), m("launches.device"), 10, 500)
        taken_for = {"kernel": m("memory.kernel"), "lines": [m("memory.lines")]}
        t.memory(m("memory.device"), 100, number=1, taken=100, **taken_for)
        said = m("user_lines.text")
        digest, proof = m("user_lines.digest"), m("user_lines.proof")
        t.user_lines(m("user_lines.file"), 3, f"{said}\n", digest=digest, proof=proof)
        t.context_end(kernel)
        t.context_end(context, error=error)
        for key in ("ended", "stopped"):
            t.meta(key, info[key])
    store = Store(path)
    yield store, folder
    store.close()


def contents(path: Path) -> str:
    """All that a trace holds, unpacked, as text."""
    store = Store(path)
    try:
        found = [run_query(store.files, f"select * from {table}") for table in TABLES]
        answers: list[Any] = [store.run(), store.tree(), store.rules(), store.timeline()]
        answers += store.user_lines()
        answers += [store.rule_totals(), store.files[0].meta]
        for row in store.tree()["rows"]:
            answers.append(store.bundle(row["id"]) or store.kernel(row["id"]))
        file = store.files[0]
        answers += [file.strings.all, [vars(rule) for rule in file.rules.values()]]
        answers += [vars(e) for e in (*file.contexts.values(), *file.rewrites.values())]
        said = json.dumps([found, answers], default=repr, ensure_ascii=False)
    finally:
        store.close()
    said = said.replace(str(path.parent), "")
    return said.replace("\\\\", "\\").replace("\\u002f", "/")


def test_what_the_table_drops_is_in_no_redacted_copy(
    marked: tuple[Store, str], tmp_path: Path
) -> None:
    store, _ = marked
    path = tmp_path / "redacted.viz"
    write_trace(store, path, redact=True)
    said = contents(path)
    for word in ("lovelace", "/data/", "engine", "4711"):
        assert word not in said, said[max(0, said.index(word) - 200) :][:300]
    for column, how in TABLE.items():
        word = re.sub(r"\W", "_", column)
        assert f"in_{word}/" not in said, column
        kept = f"is_{word}.py" in said
        assert kept == (how in (How.TEXT, How.FILE)), (column, how)
    assert "ValueError: (text redacted)" in said


def test_a_published_copy_names_files_from_the_folder_of_the_run(
    marked: tuple[Store, str], tmp_path: Path
) -> None:
    store, folder = marked
    path = tmp_path / "published.viz"
    write_trace(store, path, published=True, values=True)
    said = contents(path)
    assert "lovelace" not in said, said[max(0, said.index("lovelace") - 200) :][:300]
    gone = {"meta.cwd", "meta.process", "user_lines.proof"}
    gone |= {f"captured.{field}" for field in ("ast", "variables", "arguments", "launch", "values")}
    numbers = "context", "before", "after", "replay", "values"
    gone |= {f"captured_steps.{field}" for field in numbers}
    for column, how in TABLE.items():
        word = re.sub(r"\W", "_", column)
        if how is not How.NUMBER and column not in gone:
            assert f"in_{word}/is_{word}.py" in said, column
    assert "in_meta_process" not in said
    if folder == OTHER:
        assert f"{OTHER}/in_rules_doc" in said, "a folder elsewhere stays"


def test_a_kernel_compiled_on_request_is_worded_like_the_run(
    marked: tuple[Store, str], tmp_path: Path
) -> None:
    store, folder = marked
    (kernel,) = store.kernels()
    passes = {"kernel": kernel, "target": "sm_90"}
    info = {"run": store.files[0].meta["run"], "cwd": CWD, "passes_for": passes}
    with TraceWriter(tmp_path / "made.viz", info) as t:
        context = t.context_begin("Passes for sm_90", "kernel")
        text, facts = f"ld {folder}/in_x/is_x.cu\n", {"a": f"{folder}/in_y"}
        t.artifact(context, "ptx", "sm_90", text, facts=facts)
        t.context_end(context)
    store.attach(tmp_path / "made.viz")
    path = tmp_path / "redacted.viz"
    write_trace(store, path, redact=True)
    said = contents(tmp_path / "redacted.t0000.viz")
    assert "is_x.cu" in said and "in_x" not in said and folder not in said
    copy = Store(path)
    assert [(one.kernel, one.target) for one in copy.compilations] == [(kernel, "sm_90")]
    copy.close()


def test_an_unredacted_copy_is_the_run(marked: tuple[Store, str], tmp_path: Path) -> None:
    store, _ = marked
    path = tmp_path / "copy.viz"
    write_trace(store, path, values=True)
    for table in TABLES:
        select = f"select * from {table}"
        mine, copied = (run_query(files, select) for files in (store.files, _files(path)))
        if table != "meta":
            assert mine == copied, table


def _files(path: Path) -> Any:
    return Store(path).files


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see file:///home/ada/x/run.viz", "see run.viz"),
        ("in /home/ada", "in ~"),
        ("in /Users/ada/", "in "),
        ('{"path":"/srv/a/b.bin"}', '{"path":"b.bin"}'),
        ("a/b/c and x / y", "a/b/c and x / y"),
        ("f(a)/g/h", "f(a)/g/h"),
        ("//srv//x//y.so", "y.so"),
        ("~ada/notes.txt", "notes.txt"),
    ],
)
def test_folders_of_a_text(text: str, left: str) -> None:
    assert without_folders(text) == left


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no /w/run/a.py here", "no a.py here"),
        ("cd /w/run", "cd ."),
        ("cd /w/run; ls /w/running /w/run-2", "cd .; ls /w/running /w/run-2"),
        ("x/w/run/a.py", "x/w/run/a.py"),
        ('File "/opt/lib/python3.11/site-packages/np/a.py"', 'File "np/a.py"'),
    ],
)
def test_paths_inside_a_text(text: str, said: str) -> None:
    assert Places("/w/run").inside(text) == said
    assert Wording(Places("/w/run")).text("errors.message", text) == said
