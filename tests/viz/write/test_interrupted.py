"""An interrupt at any instruction of the writer of a trace: what a call was told is in the file
once if the call returned, and once or not at all if it did not, whether it is made again or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

import viz
from tests.viz.recording.test_interrupts import (
    Injected,
    Injection,
    Place,
    locking,
    stepping,
    within,
)
from viz.format import schema
from viz.format.events import MatchField
from viz.views.store import Store
from viz.write.events import eventlog
from viz.write.writer import TraceWriter

WRITE = str(Path(viz.__file__).parent / "write")
PARTS = 48
"""Of the instructions of the writer; `make test` tries those of one part."""
P = ParamSpec("P")
T = TypeVar("T")


class Caller:
    """Makes calls, and counts them by their marks; each that an interrupt ends is made again where
    that is wanted or the others need it."""

    def __init__(self, again: bool) -> None:
        self._again = again
        self.made: Counter[object] = Counter()
        self.returned: Counter[object] = Counter()

    def need(self, mark: object, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """A call whose result is used."""
        while True:
            self.made[mark] += 1
            try:
                found = call(*args, **kwargs)
            except Injected:
                continue
            self.returned[mark] += 1
            return found

    def __call__(
        self, mark: object, call: Callable[P, object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Any other."""
        if self._again:
            self.need(mark, call, *args, **kwargs)
            return
        self.made[mark] += 1
        try:
            call(*args, **kwargs)
        except Injected:
            return
        self.returned[mark] += 1


def write(path: Path, caller: Caller) -> None:
    """Calls of every kind, with blocks that are full soon."""
    need = caller.need
    t = need("made", TraceWriter, path, {"run": "1"})
    nodes = [need("node", t.node, "FOO", f"i{n}") for n in range(12)]
    rules = [need("rule", t.rule, f"r{n}", source="x", pattern={"n": n}) for n in range(3)]
    rule_set = need("set", t.rule_set, rules)
    for at in range(2):
        kernel = need(("begun", f"kernel {at}"), t.context_begin, f"kernel {at}", "kernel")
        outer = need(
            ("begun", f"outer {at}"), t.rewrite_begin, f"outer {at}", nodes[0], context=kernel
        )
        inner = need(
            ("begun", f"inner {at}"), t.rewrite_begin, f"inner {at}", nodes[1], parent=outer
        )
        for number, rewrite in enumerate((outer, inner, inner, outer)):
            mark = 10 * at + number + 1
            made, binds = need("node", t.node, f"{mark}"), {"x": nodes[3], "y": nodes[number]}
            change = rules[number % 2], nodes[2], nodes[at], binds, 1000 * mark
            caller(("match", mark), t.match, rewrite, *change)
            caller(("rebuild", mark), t.rebuild, rewrite, nodes[2], made)
            caller(("decline", at), t.decline, rewrite, rules[2], nodes[8 + at])
            caller(("empty", at), t.rewrite_empty, outer)
        if at:
            caller("flush", t.flush)
        need("ends", t.rewrite_end, inner, nodes[5], nodes=7)
        ended = {(rules[0], "FOO"): 2}
        caller(("visits", at), t.visited, f"pass {at}", rule_set, {"FOO": 5}, ended)
        caller(("tries", at), t.tried, 0, rules[1], 3, 9000, name=f"pass {at}")
        caller(("gated", at), t.gated, outer, nodes[at : at + 2])
        asked = {nodes[0]: ["a.py:1"], nodes[1]: ["a.py:2"]}
        caller(("origins", nodes[at]), t.origins, nodes[at], asked)
        caller(("renamed", at), t.context_rename, kernel, f"renamed {at}")
        for part in range(2):
            mark = 10 * at + part + 1
            lines, title = [[nodes[0]], [], [nodes[1], nodes[2]]], f"{mark}"
            values = {0: ("int8", 4, b"abcd"), 1: ("int8", 2, b"ef")}
            text = kernel, "c", "foo64", "a\nb\nc\n"
            caller(("artifact", title), t.artifact, *text, lines=lines, title=title)
            caller(("launch", mark), t.launch, "k", "FOO", mark, 9000, 64)
            caller(("memory", mark), t.memory, "FOO", 1 << 20, at=mark)
            caller(("lines", mark), t.user_lines, "a.py", mark, "x = 1\n")
            caller(("values", mark), t.captured, mark, "k", "FOO", values, {})
        need("ends", t.rewrite_end, outer, nodes[6], nodes=8, error={"message": "no"})
        caller(("code", f"code {at}"), t.kernel, kernel, f"code {at}", ast=nodes[at])
        need("ends", t.context_end, kernel)
    need("close", t.close)


def facts(path: Path) -> Counter[object]:
    """What a trace holds, by the marks of the calls that told it. It has no problems
    but the error that was told, and its counts are those of what it holds."""
    store = Store(path)
    try:
        (file,) = store.files
        found: Counter[object] = Counter()
        counts: Counter[tuple[int, str]] = Counter()
        for arrays in file.event_blocks.all():
            for at, kind in enumerate(arrays.kind.tolist()):
                rewrite, row = int(arrays.rewrite[at]), int(arrays.row[at])
                if kind == schema.MATCH:
                    us = int(arrays.match[row, MatchField.NS]) // 1000
                    bound = arrays.bound[arrays.bound_start[row] : arrays.bound_start[row + 1]]
                    assert bound.tolist() == [4, us % 10]
                    found["match", us] += 1
                    counts[rewrite, "matches"] += 1
                elif kind == schema.REBUILD:
                    op = file.nodes.field("op")[arrays.rebuild[row, 1]]
                    found["rebuild", int(file.text(int(op)))] += 1
                    counts[rewrite, "rebuilds"] += 1
                else:
                    counts[rewrite, "declines"] += 1
        for rewrite in file.rewrites.values():
            at = int(rewrite.name[-1])
            for name in ("matches", "rebuilds", "declines"):
                assert getattr(rewrite, name) == counts[rewrite.id, name]
            found["begun", rewrite.name] += 1
            found["empty", at] += rewrite.empty
            found["decline", at] += rewrite.declines
            found["gated", at] += len(file.gated.get(rewrite.id, ()))
            found["ended"] += rewrite.us is not None
        for context in file.contexts.values():
            found["begun", f"kernel {context.name[-1]}"] += 1
            found["renamed", int(context.name[-1])] += context.name.startswith("renamed")
            found["ended"] += context.us is not None
        for at, column in enumerate(("matches", "declines")):
            total = sum(one[at] for one in file.totals.values())
            assert total == sum(n for (_, name), n in counts.items() if name == column)
        assert sorted(rule.id for rule in file.rules.values()) == [1, 2, 3]
        for (name, _, _, _), count in file.visits.counts.items():
            found["visits", int(file.text(name)[-1])] += count
        for _, name, _, (tries, _, _) in file.try_times:
            found["tries", int(file.text(name)[-1])] += tries
        for kernel in file.origins.kernels():
            found["origins", kernel] += len([*file.origins.told(kernel)])
        found += Counter(("launch", one[2]) for one in file.launches)
        found += Counter(("memory", one.time) for one in file.memory)
        found += Counter(("lines", one.first) for one in file.user_lines)
        for captured in file.captured.values():
            assert [len(data) > 0 for data in file.packed_values(captured)] == [True, True]
            found["values", captured.ast] += 1
        for row in store.tree()["rows"]:
            shown = store.kernel(row["id"]) if row["kind"] == "context" else None
            if shown is None:
                continue
            found["code", shown["name"]] += shown["name"].startswith("code")
            for artifact in shown["artifacts"]:
                assert list(map(len, artifact["lines"])) == [1, 0, 2]
                found["artifact", artifact["title"]] += 1
        assert {problem["what"] for problem in store.run()["problems"]} == {"no"}
        return found
    finally:
        store.close()


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[Place]:
    """Each instruction that the calls come to, and how often."""
    monkeypatch.setattr(eventlog, "BLOCK", 7)
    found: Counter[Place] = Counter()
    with stepping(lambda place: found.update((place,)), ours=within(WRITE)):
        write(tmp_path / "places.viz", Caller(again=False))
    assert len(found) > 2000
    return found


@pytest.mark.sampled(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_an_interrupt_at_any_instruction(tmp_path: Path, part: int, places: Counter[Place]) -> None:
    path = tmp_path / "t.viz"
    once = Caller(again=False)
    write(path, once)
    whole = facts(path)
    assert {mark for mark in once.made if isinstance(mark, tuple)} < {*whole}
    for number, (place, times) in list(enumerate(places.items()))[part::PARTS]:
        if locking(place):
            continue
        caller = Caller(again=number // PARTS % 2 == 0)
        injection = Injection(place, Injected, number * 37 % times)
        with injection.armed():
            write(path, caller)
        found, at = facts(path), f"{place[0].co_qualname} {place[1]}"
        assert injection.done, at
        for mark in whole | found:
            each = whole[mark] // max(1, once.made[mark])
            least, most = (each * made[mark] for made in (caller.returned, caller.made))
            if mark not in once.made:
                least = most = whole[mark]
            assert least <= found[mark] <= most, (at, mark)
        assert not [*tmp_path.glob("*-*")], at
