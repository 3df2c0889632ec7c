"""Why rules of tinygrad did not fire: twenty near misses, planted by hand, recorded in 0.14 by
tests/peers/programs/misses.py, which says what is to blame for each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from viz.streams.reader import StreamReader
from viz.views.store import Store
from viz.why.answers import why_not
from viz.why.subject import Subject
from viz.write.writer import TraceWriter

HERE = Path(__file__).parent
Case = tuple[str, list[str], str, object, str]
CASES: list[Case] = json.loads((HERE / "tinygrad_misses.json").read_text())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("misses") / "run.viz"
    with TraceWriter(path, {}) as writer:
        reader = StreamReader(writer)
        for line in (HERE / "tinygrad_misses.jsonl").read_bytes().splitlines():
            reader.take(line)
        reader.finish()
    store = Store(path)
    yield store
    store.close()


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_the_node_and_what_is_wrong_with_it_are_named(store: Store, case: Case) -> None:
    assert blamed(store, case[0]) == tuple(case[2:])


def blamed(store: Store, name: str) -> tuple[str, object, str]:
    """Op and argument of the node at which the first rule of a pass fails at its graph, and in
    what."""
    (number,) = (row["id"] for row in store.tree()["rows"] if row["name"] == name)
    subject = Subject(store, number)
    process = subject.process
    rule = process.rule(subject.sets[0][0])
    found = why_not(store, number, process.node(subject.rewrite.sink), rule)
    assert found is not None and found["kind"] == "pattern", found
    misfit = found["pattern"]["misfit"]
    node = process.local_node(misfit["node"])
    assert node is not None
    op, arg = (process.file.text(int(process.file.nodes.field(f)[node])) for f in ("op", "arg"))
    value = json.loads(arg) if arg else None
    return op, value["float"] if isinstance(value, dict) else value, misfit["kind"]
