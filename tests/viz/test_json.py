"""What each command prints with --json is what docs/json.md says: every key, and its type."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.uop.engine.observe import context
from core.uop.engine.rewrite import graph_rewrite
from tests.docs.shapes import Shapes, declarations
from tests.viz.samples import random_graph, rules
from tests.viz.test_cli import run
from viz.command.line.parser import build_parser, commands_of
from viz.share.html import export_html
from viz.trace import Recorder
from viz.views.store import Store
from viz.write.writer import TraceWriter

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs/json.md").read_text(encoding="utf-8")
BLOCKS = "\n".join(re.findall(r"^```ts\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE))
SHAPES = Shapes(declarations(BLOCKS))
CASES: tuple[tuple[str, tuple[object, ...], str], ...] = (
    ("show", (), "Show"),
    ("show", ("--tree",), "ShowTree"),
    ("show", ("--kernel", "kernel_1"), "ShowGroup"),
    ("show", (2,), "Bundle"),
    ("show", (2, 0), "ShowStep"),
    ("show", (2, 1), "ShowStep"),
    ("stats", (), "Stats"),
    ("query", ("SELECT 1, 2.5, 'a', NULL",), "Query"),
    ("graph", (2,), "Graph"),
    ("graph", (2, 1, "-o", "g.dot"), "GraphFile"),
    ("graph", (2, 1, "-o", "g.svg"), "GraphFile"),
    ("export", ("-o", "x.viz"), "Export"),
    ("export", ("-o", "x.html", "--redact"), "Export"),
    ("timeline", ("-o", "t.json"), "Timeline"),
    ("why-not", (2, "u5", "double"), "WhyNot"),
    ("why-not", (2, "double"), "NearMisses"),
    ("check", (), "Checked"),
    ("find", ("simplify",), "Find"),
    ("node", ("u5",), "NodePage"),
)
OTHERS = {"open", "serve", "diff", "what-if", "variants", "bisect", "replay", "pack", "since"}
"""Commands with tests of their own."""


@pytest.fixture(params=["trace", "export", "export without its trace"])
def file(request: pytest.FixtureRequest, tmp_path: Path, dist: Path) -> Path:
    """A run with launches, memory and an error, as a trace and as exported files."""
    path = tmp_path / "run.viz"
    recorder = Recorder(path).start()
    try:
        with context("schedule 2 kernels", "schedule"):
            graph_rewrite(random_graph(1), rules, name="tidy")
        for i in range(2):
            with context(f"kernel_{i}", "kernel", target="x86-64"):
                graph_rewrite(random_graph(10 + i), rules, name="simplify")
                recorder.launch(f"kernel_{i}", "CPU", 1000, 0, 8)
        with pytest.raises(ZeroDivisionError), context("broken", "kernel"):
            raise ZeroDivisionError("in a kernel")
    finally:
        recorder.close()
    if request.param == "trace":
        return path
    store = Store(path)
    html = export_html(store).html
    store.close()
    if request.param != "export":
        html = re.sub(r'<script type="application/octet-stream".*?</script>', "", html)
    made = tmp_path / "run.html"
    made.write_text(html)
    return made


@pytest.mark.parametrize(("command", "arguments", "shape"), CASES)
def test_json_is_as_documented(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    arguments: tuple[object, ...],
    shape: str,
) -> None:
    monkeypatch.chdir(file.parent)
    code, out, err = run(capsys, command, file, *arguments, "--json")
    if code and "exported file holds no trace" in err:
        assert command in ("check", "query", "export", "why-not", "node")
        assert SHAPES.problems(json.loads(out), "Failed") == []
        return
    assert (code, err) == (0, "")
    assert out.isascii() and out.count("\n") == 1 and out.endswith("\n")
    assert SHAPES.problems(json.loads(out), shape) == []


def test_the_address_of_a_page_as_json(trace: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "viz", "serve", str(trace), "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert SHAPES.problems(json.loads(process.stdout.readline()), "Serve") == []
    finally:
        process.kill()
        process.communicate()


def test_every_command_with_json_is_covered() -> None:
    parsers = commands_of(build_parser())
    able = {n for n, p in parsers.items() if any(a.dest == "json" for a in p._actions)}
    assert able == {command for command, _, _ in CASES} | OTHERS
    named = set(declarations(BLOCKS))
    assert {shape for _, _, shape in CASES} | {"Serve"} <= named


def test_a_comparison_as_json(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.viz"
    with TraceWriter(other, {"command": ["mycc", "a.c"]}) as t:
        node = t.node("load", "i32", arg='"a"')
        kernel = t.context_begin("kernel_1", "kernel")
        failed = t.rewrite_begin("peephole", node, context=kernel)
        t.rewrite_end(failed, error={"message": "no fixed point", "traceback": ""})
        t.context_end(kernel)
    for a, b in ((trace, trace), (trace, other), (other, trace)):
        code, out, err = run(capsys, "diff", a, b, "--json", "--fail-on", "changed,errors")
        data = json.loads(out)
        assert (code, SHAPES.problems(data, "Diff")) == (int(a is not b), [])
        assert err.count("uopviz: ") == len(data["failed"])
    folders = [tmp_path / name for name in "AB"]
    for folder in folders:
        folder.mkdir()
        shutil.copy(trace, folder / "same.viz")
        (folder / "none.viz").write_text("no trace")
    shutil.copy(other, folders[0] / "only.viz")
    code, out, _ = run(capsys, "diff", *folders, "--json", "--jobs", "1")
    assert (code, SHAPES.problems(json.loads(out), "FolderDiff")) == (2, [])


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"file": "x", "events": 1}, None),
        ({"file": "x"}, "Timeline.events is missing"),
        ({"file": "x", "events": True}, "Timeline.events is True, no number"),
        ({"file": None, "events": 1}, "Timeline.file is None, no string"),
        ({"file": "x", "events": 1, "more": 1}, "Timeline.more is not documented"),
        ([], "Timeline is [], no object"),
    ],
)
def test_what_is_not_as_documented_is_found(value: Any, problem: str | None) -> None:
    assert SHAPES.problems(value, "Timeline") == ([] if problem is None else [problem])
