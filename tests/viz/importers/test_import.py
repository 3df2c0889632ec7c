"""`uopviz import`: a log becomes passes of a trace, each exact: replayed, it leads to the next
dump."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from tests.viz.streams.test_reader import GOOD
from viz.cli import main
from viz.command import importing
from viz.read.steps import read_steps
from viz.read.tracefile import TraceFile
from viz.replay.slots import Slots
from viz.views.store import Store

DUMPS = Path(__file__).parent / "dumps" / "mlir"


def imported(path: Path, *dumps: Path) -> Store:
    """The trace that `uopviz import` makes."""
    assert main(["import", "-o", str(path), *map(str, dumps)]) == 0
    return Store(path)


def is_exact(file: TraceFile) -> bool:
    """Whether the steps of each pass lead to its result, with nothing left to put right."""
    op, arg = file.nodes.field("op"), file.nodes.field("arg")
    for rewrite in file.rewrites.values():
        slots = Slots(rewrite.sink, file.nodes.sources, lambda n: (op[n], arg[n]))
        for match, rebuilds in read_steps(file, rewrite).steps:
            slots.match(match.before, match.after)
            for old, new in rebuilds:
                slots.rebuild(old, new)
        slots.settle(rewrite.result)
        if slots.repairs:
            return False
    return True


def test_a_log_becomes_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = imported(tmp_path / "a.viz", DUMPS / "both_forms.mlir")
    assert "2 passes of MLIR, of which 2 changed something" in capsys.readouterr().err
    rows = store.tree()["rows"]
    assert [(row["name"], row["steps"]) for row in rows if row["kind"] == "rewrite"] == [
        ("canonicalize", 1),
        ("cse", 1),
    ]
    assert is_exact(store.files[0])
    assert store.dialect.title == "MLIR"
    said = [problem["what"] for problem in store.run()["problems"]]
    assert said == ["uses of values whose definition was not found: 1"]
    assert "/a.py:3" not in str(store.bundle(rows[1]["id"]))
    store.close()


def test_a_log_of_what_was_there_before_each_pass(tmp_path: Path) -> None:
    """Names of values differ, and mean nothing; two equal loads stay two until one goes."""
    store = imported(tmp_path / "a.viz", DUMPS / "before_only.log")
    rows = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert [(row["name"], row["steps"]) for row in rows] == [("inline", 0), ("cse", 1)]
    assert is_exact(store.files[0])
    file = store.files[0]
    ops = file.nodes.field("op")
    last = [*file.rewrites.values()][-1]
    loads = [
        sum(file.text(int(ops[n])) == "tt.load" for n in file.nodes.reachable(root))
        for root in (last.sink, last.result)
    ]
    assert loads == [2, 1]
    store.close()


def test_what_a_pass_left_alone_is_not_marked(tmp_path: Path) -> None:
    """A function and an attribute of the module are new; the other function is as it was."""
    func = """  func.func @f(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32
    return %0 : i32
  }
"""
    after = "module attributes {device = @device} {\n  util.global private @device : i32\n"
    head = "// -----// IR Dump {} X (x) //----- //\n"
    log = f"{head.format('Before')}module {{\n{func}}}\n{head.format('After')}{after}{func}}}\n"
    (tmp_path / "a.log").write_text(log)
    store = imported(tmp_path / "a.viz", tmp_path / "a.log")
    (row,) = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    bundle = store.bundle(row["id"])
    assert bundle is not None
    (step,) = bundle["steps"]
    assert len(step["added"]) <= 3 and is_exact(store.files[0])
    store.close()


def test_what_the_dump_is_called_and_that_it_has_no_times(tmp_path: Path) -> None:
    """A log does not say when its passes ran: no time of the import is taken for theirs."""
    store = imported(tmp_path / "a.viz", DUMPS / "before_only.log")
    run = store.run()
    assert run["name"] == "before_only.log" and run["command"].endswith("/before_only.log")
    assert run["seconds"] == 0
    assert {row["ms"] for row in store.tree()["rows"]} == {0}
    assert store.overview()["by"] == "steps"
    store.close()


def test_a_message_between_two_dumps_is_none_of_them(tmp_path: Path) -> None:
    """A warning, with the lines of the program that it quotes, changes nothing, and a pass in a
    namespace has its name."""
    head = "// -----// IR Dump {} mlir::detail::XPass: x-pass //----- //\n"
    func = "func.func @f(%a: i32) -> i32 {{\n  %0 = arith.{}i %a, %a : i32\n  return %0 : i32\n}}\n"
    said = "a.mlir:5:8: warning: slow\n  %r = math.exp %q : f32\n       ^\n1. Set a flag:\n"
    log = head.format("Before") + func.format("add") + said
    (tmp_path / "a.log").write_text(log + head.format("After") + func.format("mul"))
    store = imported(tmp_path / "a.viz", tmp_path / "a.log")
    assert store.run()["problems"] == []
    (row,) = [row for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    assert (row["name"], row["steps"], row["nodes"]) == ("x-pass", 1, 3)
    store.close()


def test_it_is_opened_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[argparse.Namespace] = []

    def serve(options: argparse.Namespace) -> int:
        opened.append(options)
        return 0

    monkeypatch.setattr(importing, "serve", serve)
    path = tmp_path / "a.viz"
    assert main(["import", "--open", "-o", str(path), str(DUMPS / "before_only.log")]) == 0
    (options,) = opened
    assert options.trace == str(path) and options.browser


def test_a_stream_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in GOOD))
    store = imported(tmp_path / "a.viz", path)
    assert [row["name"] for row in store.tree()["rows"]] == ["kernel a", "fold"]
    store.close()


def test_a_folder_is_its_dumps(tmp_path: Path) -> None:
    store = imported(tmp_path / "a.viz", DUMPS)
    contexts = [row["name"] for row in store.tree()["rows"] if row["kind"] == "context"]
    assert contexts == ["before_only.log", "both_forms.mlir"]
    store.close()


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("a.txt", "digraph {}", "the format of this file is not known"),
        ("a.txt", "", "the format of this file is not known"),
        ("nothing.txt", None, "cannot be read: No such file or directory"),
        ("a.viz", "module {\n}\n", "is not a trace and is not overwritten"),
    ],
)
def test_what_is_no_dump_is_said(
    tmp_path: Path, name: str, text: str | None, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    assert main(["import", str(path)]) == 2
    assert what in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["import", str(tmp_path / "empty")]) == 2
    assert "there is no dump in this folder" in capsys.readouterr().err
