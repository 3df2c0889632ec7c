"""Nodes behind a gate: what the trace says of each kind of gate is what the engine did there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from core.dtype import dtypes
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from viz.coredialect.facts import core_facts
from viz.share.copy import write_trace
from viz.trace import Recorder
from viz.views.store import Store
from viz.why.reason import Reason, reason
from viz.why.subject import Subject

x = UOp.variable("x", 0, 9)
hidden = x * 2
cast = hidden.cast(dtypes.float)
seen = x + 0
back = cast.cast(dtypes.int)
SINK = UOp.sink(seen.alu(Ops.MAX, back))


@rule(UPat.var("a") + 0)
def drop_zero(a: UOp) -> UOp:
    """a + 0 -> a"""
    return a


@rule(UPat(Ops.MUL, src=(UPat.var("a"), UPat.cvar("c"))))
def to_sum(a: UOp, c: UOp) -> UOp | None:
    """a * 2 -> a + a"""
    return a + a if c.arg == 2 else None


@rule(UPat(Ops.MAX, name="u"))
def keep(u: UOp) -> UOp | None:
    """declines"""
    return None


rules = PatternMatcher([drop_zero, to_sum, keep], name="rules")
other = PatternMatcher([keep], name="other")
Gate = Callable[[UOp], bool]


def no_float(u: UOp) -> bool:
    return u.dtype is not dtypes.float


def below_max(u: UOp) -> bool:
    """False for the node that MAX becomes once its source is rewritten, not for MAX itself."""
    return not (u.op is Ops.MAX and u.src[0] is x)


def no_sink(u: UOp) -> bool:
    return u.op is not Ops.SINK


def open_(_: UOp) -> bool:
    return True


KINDS: dict[str, dict[str, object]] = {
    "top down": {"gate": no_float},
    "bottom up": {"gate": no_float, "bottom_up": True},
    "two sets": {"gate": no_float, "before": other},
    "at the root": {"gate": no_sink},
    "rebuilt": {"gate": below_max, "bottom_up": True},
    "all open": {"gate": open_},
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gates") / "t.viz"
    recorder = Recorder(path).start()
    for name, how in KINDS.items():
        graph_rewrite(SINK, rules, name=name, **how)
    recorder.close()
    return path


def subject_of(store: Store, name: str) -> Subject:
    row = next(row for row in store.tree()["rows"] if row["name"] == name)
    return Subject(store, row["id"])


def ask(subject: Subject, node: UOp, wanted: str) -> Reason:
    (local,) = [n for n in subject.members if core_facts(subject.process).uop(n) is node]
    (number,) = [n for n, r in subject.file.rules.items() if r.name == wanted]
    return reason(subject, local, [number])


def check(store: Store) -> None:
    for name in ("top down", "bottom up", "two sets"):
        subject = subject_of(store, name)
        found = ask(subject, hidden, "to_sum")
        assert found.kind == "not reached"
        assert "is behind a gate of this pass" in found.said
        assert ", above it, stays as it is" in found.said
        own = ask(subject, cast, "to_sum")
        assert (own.kind, own.step) == ("not reached", None)
        assert "it stays as it is" in own.said
        assert ask(subject, seen, "drop_zero").kind == "fired"
        assert ask(subject, back, "to_sum").kind == "pattern"
    root = subject_of(store, "at the root")
    for node, name in ((seen, "drop_zero"), (hidden, "to_sum")):
        assert "is behind a gate" in ask(root, node, name).said
    subject = subject_of(store, "rebuilt")
    moved = graph_rewrite(SINK, rules, gate=below_max, bottom_up=True).src[0]
    assert (moved.op, moved.src[0]) == (Ops.MAX, x)
    assert "it stays as it is" in ask(subject, moved, "keep").said
    assert ask(subject_of(store, "all open"), hidden, "to_sum").kind == "fired"


def test_each_kind_of_gate(path: Path) -> None:
    store = Store(path)
    check(store)
    store.close()


def test_copies_keep_it(path: Path, tmp_path: Path) -> None:
    store = Store(path)
    write_trace(store, tmp_path / "copy.viz")
    store.close()
    copy = Store(tmp_path / "copy.viz")
    check(copy)
    copy.close()


def test_older_traces_show_it_in_their_counts(path: Path, tmp_path: Path) -> None:
    older = tmp_path / "older.viz"
    older.write_bytes(path.read_bytes())
    db = sqlite3.connect(older)
    with db:
        db.execute("DELETE FROM blocks WHERE kind = 16")
    db.close()
    store = Store(older)
    found = ask(subject_of(store, "top down"), hidden, "to_sum")
    assert found.kind == "not reached"
    assert "offered fewer MUL" in found.said
    store.close()
