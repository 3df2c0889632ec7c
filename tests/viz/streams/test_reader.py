"""A stream becomes a trace; what is wrong in it is counted and said, and never raises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz.budget import Budget
from viz.read.steps import read_steps
from viz.replay.graphtext import graph_text, states
from viz.share.drawing import drawing
from viz.streams import reader as module
from viz.streams.reader import StreamReader
from viz.views.store import Store
from viz.why.answers import why_not
from viz.write.writer import TraceWriter

GOOD: list[list[Any]] = [
    ["stream", 1, {"process": 7}],
    ["compiler", "mycc", "2.1"],
    ["rule", 1, "fold_neg", {"file": "rules.py", "line": 12, "equation": "-c -> c'"}],
    ["context", 1, 0, "kernel a", "kernel", 10],
    ["node", 1, "CONST", "int", [], {"arg": "1"}],
    ["node", 2, "NEG", "int", [1]],
    ["node", 3, "ADD", "int", [2, 1], {"roles": ["lhs", "order"]}],
    ["rewrite", 1, 1, "fold", 3, {"at": 12, "caller": "a.py:3"}],
    ["node", 4, "CONST", "int", [], {"arg": "-1"}],
    ["node", 5, "ADD", "int", [4, 1]],
    ["match", 1, 1, 2, 4, {"c": 1}, 700],
    ["tried", 1, 1, 5, 4000],
    ["result", 1, 5, 20],
    ["kernel", 1, "a", {"device": "GPU"}],
    ["text", 1, "source", "gpu", "int a;\n"],
    ["launch", "a", "GPU", 30, 900, 8],
    ["memory", "GPU", 64, 31, 1, 64],
    ["end-context", 1, 40],
    ["end", 50],
]


def read(path: Path, lines: list[bytes]) -> StreamReader:
    with TraceWriter(path, {"command": ["mycc"]}) as writer:
        reader = StreamReader(writer)
        for line in lines:
            reader.take(line)
        reader.finish()
    return reader


def lines_of(events: list[list[Any]]) -> list[bytes]:
    return [json.dumps(event).encode() for event in events]


def said(store: Store) -> list[str]:
    return [problem["what"] for problem in store.run()["problems"]]


def test_a_stream_becomes_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "a.viz"
    assert read(path, lines_of(GOOD)).compiler == "mycc 2.1"
    store = Store(path)
    assert said(store) == []
    rows = store.tree()["rows"]
    assert [(row["name"], row["label"]) for row in rows] == [
        ("kernel a", "kernel"),
        ("fold", "pass"),
    ]
    bundle = store.bundle(rows[1]["id"])
    assert bundle is not None and len(bundle["steps"]) == 1
    assert bundle["truncated"] is None
    text = graph_text(bundle, states(bundle, 0)[0])
    (constant,) = (line.split(" ")[0] for line in text.splitlines() if "CONST" in line)
    (negative,) = (line.split(" ")[0] for line in text.splitlines() if "NEG" in line)
    assert f"ADD(lhs={negative}, order={constant})" in text
    assert sorted(edge.look.style for edge in drawing(bundle, 0).edges) == [
        "dotted",
        "solid",
        "solid",
    ]
    kernel = store.kernel(rows[0]["id"])
    assert kernel is not None
    assert [(a["kind"], a["target"]) for a in kernel["artifacts"]] == [("source", "gpu")]
    assert [sample.allocated for sample in store.files[0].memory] == [64]
    times = store.rule_times(1)
    assert times is not None and (times["tries"], times["us"]) == ([5], [4])
    # the ADD was rebuilt, which nobody told
    found = store.files[0].rewrites[rows[1]["id"]]
    assert found.result and found.matches == 1
    store.close()


def test_why_a_rule_declined_is_answered_in_the_words_of_the_compiler(tmp_path: Path) -> None:
    path = tmp_path / "a.viz"
    at = next(at for at, event in enumerate(GOOD) if event[0] == "match")
    decline = ["decline", 1, 1, 1, "it is a constant already"]
    read(path, lines_of([*GOOD[: at + 1], decline, *GOOD[at + 1 :]]))
    store = Store(path)
    (number,) = (row["id"] for row in store.tree()["rows"] if row["kind"] == "rewrite")
    answer = why_not(store, number, 1, 1)
    assert answer is not None and answer["kind"] == "declined"
    assert answer["said"] == "fold_neg declined u1: it is a constant already"
    store.close()


def test_texts_before_and_after_a_pass(tmp_path: Path) -> None:
    """A text that is told once stands after one pass and before the next one."""
    path = tmp_path / "a.viz"
    at = next(at for at, event in enumerate(GOOD) if event[0] == "result")
    texts: list[list[Any]] = [
        ["pass-text", 1, "before", "mlir", "a\n  b\x0bc\n", [3, 2]],
        ["pass-text", 1, "after", "mlir", "a\n  d\n", [0, 4]],
        ["result", 1, 5, 20],
        ["rewrite", 2, 1, "again", 5],
        ["match", 2, 1, 4, 2],
        ["pass-text", 2, "before"],
        ["pass-text", 2, "after", "mlir", "a\n", []],
        ["result", 2, 3, 30],
        ["rewrite", 3, 1, "one of both", 3],
        ["match", 3, 1, 2, 4],
        ["pass-text", 3, "after", "mlir", "z\n"],
        ["result", 3, 5, 32],
    ]
    read(path, lines_of([*GOOD[:at], *texts, *GOOD[at + 1 :]]))
    store = Store(path)
    assert said(store) == []
    numbers = [row["id"] for row in store.tree()["rows"] if row["kind"] == "rewrite"]
    found = [store.pass_texts(number) for number in numbers]
    pairs = [
        tuple(one and one[side] and one[side]["text"] for side in ("before", "after"))
        for one in found
    ]
    first, second = "a\n  b\x0bc\n", "a\n  d\n"
    assert pairs == [(first, second), (second, "a\n"), (None, "z\n")]
    assert found[0] is not None
    assert (found[0]["before"]["lines"], found[0]["after"]["lines"]) == ([[3], [2]], [[], [4]])
    store.close()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"not JSON", "a line is not JSON"),
        (b"[" * 100_000, "a line is not JSON"),
        (b"{}", "a line is not an array that begins with a kind"),
        (b'["nothing"]', "'nothing' is no kind of event"),
        (b'["node",9,7]', "node: value 2 is no text"),
        (b'["node",9,"A","",[77]]', "a node is named that was not told"),
        (b'["node",9,"A","",["1"]]', "node: value 4 is no list of numbers"),
        (b'["node",-1,"A"]', "node: value 1 is no number"),
        (b'["match",9,1,1,1,{}]', "a rewrite is named that was not told, or is over"),
        (b'["match",1,1,2,4,{"c":"x"}]', "match: value 5 is no object of numbers"),
        (b'["result",5,1]', "a rewrite is named that was not told, or is over"),
        (b'["node",9,"A","",[],{"roles":[1]}]', "node: roles is no list of texts"),
        (b'["end-context",8]', "a context is named that was not told"),
        (b'["pass-text",8,"after","x",""]', "a rewrite is named that was not told, or is over"),
        (b'["rule",3,"r",{"line":"x"}]', "rule: line is no number"),
        (b'["launch","a","b",1]', "launch: it has 3 values"),
    ],
)
def test_what_is_wrong_is_counted_and_the_rest_is_read(
    tmp_path: Path, line: bytes, what: str
) -> None:
    good = lines_of(GOOD)
    read(tmp_path / "a.viz", [*good[:10], line, line, *good[10:]])
    store = Store(tmp_path / "a.viz")
    assert said(store) == [f"2 events could not be read: {what}"]
    assert sum(row["steps"] for row in store.tree()["rows"] if row["label"] == "pass") == 1
    store.close()


def test_a_newer_stream_and_one_that_was_cut_say_so(tmp_path: Path) -> None:
    events = [["stream", 99, {}], *GOOD[1:11]]
    read(tmp_path / "a.viz", lines_of(events))
    store = Store(tmp_path / "a.viz")
    assert "the stream is of version 99, newer than 1" in said(store)
    assert "a process did not say that it ended: its last events may be missing" in said(store)
    assert any("the process ended before the pass did" in what for what in said(store))
    store.close()


def test_names_lose_the_colours_of_a_terminal(tmp_path: Path) -> None:
    events = [*GOOD[:3], ["context", 1, 0, "E\x1b[90m_\x1b[0m16", "kernel"], *GOOD[4:]]
    read(tmp_path / "a.viz", lines_of(events))
    store = Store(tmp_path / "a.viz")
    assert store.files[0].contexts[1].name == "E_16"
    store.close()


def test_rebuilds_that_are_told_stay_in_order_and_none_is_derived(tmp_path: Path) -> None:
    told = ["rebuild", 1, 3, 5]
    read(tmp_path / "a.viz", lines_of([*GOOD[:11], ["decline", 1, 1, 5], told, *GOOD[11:]]))
    store = Store(tmp_path / "a.viz")
    (rewrite,) = store.files[0].rewrites.values()
    events = read_steps(store.files[0], rewrite)
    number = store.files[0].rewrites[rewrite.id]
    assert (number.matches, number.rebuilds, number.declines) == (1, 1, 1)
    assert events.leading == []
    ((match, rebuilds),) = events.steps
    assert rebuilds == [(rewrite.sink, rewrite.result)]
    assert events.declines == [(1, match.rule, rewrite.result)]
    store.close()


def test_no_match_is_lost_where_rebuilds_take_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Budget", lambda what: Budget(what, items=0))
    read(tmp_path / "a.viz", lines_of(GOOD))
    store = Store(tmp_path / "a.viz")
    (rewrite,) = store.files[0].rewrites.values()
    assert (rewrite.matches, rewrite.rebuilds) == (1, 0)
    assert any("rebuilds of a pass, from match 1 on" in what for what in said(store))
    store.close()


@settings(max_examples=40)
@given(st.lists(st.integers(0, len(GOOD) - 1), max_size=30), st.data())
def test_no_order_and_no_value_raises(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], data: st.DataObject
) -> None:
    """What is written is a trace that opens."""
    values = st.one_of(st.none(), st.integers(), st.text(max_size=3), st.just([1]), st.just({}))
    events: list[list[Any]] = []
    for at in [*range(5), *order]:
        event = [*GOOD[at]]
        if len(event) > 1 and data.draw(st.booleans()):
            event[data.draw(st.integers(1, len(event) - 1))] = data.draw(values)
        events.append(event)
    path = tmp_path_factory.mktemp("order") / "a.viz"
    read(path, lines_of(events))
    store = Store(path)
    for row in store.tree()["rows"]:
        if row["kind"] == "rewrite":
            store.bundle(row["id"])
    store.close()
