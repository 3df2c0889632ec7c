"""Checks of a run of several processes: whoever numbers its files in another order means the same
passes and rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError
from viz.check.job import Asked, Check
from viz.check.part import check_part
from viz.check.parts import Part
from viz.check.run import check_passes
from viz.known.beside import keep, take_kept
from viz.views.checks import Checks
from viz.views.runs.process import STRIDE
from viz.views.store import Store
from viz.write.writer import TraceWriter


def write(path: Path, *rules: str) -> None:
    """The trace of a process: a pass with a step of each rule."""
    with TraceWriter(path, {"run": "r", "flags": {"VIZ": 1}}) as writer:
        if not rules:
            return
        a = writer.node("thing", "f32")
        b = writer.node("other", "f32", (a,))
        number = writer.rewrite_begin(path.stem, b)
        for name in rules:
            writer.match(number, writer.rule(name), b, a, {}, 1_000)
        writer.rewrite_end(number, a)


@pytest.fixture
def grown(tmp_path: Path) -> Iterator[Store]:
    """A run that was open while its processes began: the one whose name comes last was first."""
    write(tmp_path / "run.viz")
    store = Store(tmp_path / "run.viz")
    for name, rules in (("p999", ("both",)), ("p1000", ("own", "both"))):
        write(tmp_path / f"run.{name}.viz", *rules)
        store.refresh()
    yield store
    store.close()


def shown(store: Store, checked: dict[str, Any]) -> tuple[str, list[str]]:
    """A pass and the rules of its steps, by name."""
    names = {record["id"]: record["name"] for record in store.rules()}
    rows = {row["id"]: row["name"] for row in store.tree()["rows"] if row["kind"] == "rewrite"}
    return rows[checked["rewrite"]], [names[rule] for _, rule, _ in checked["steps"]]


BOTH = [("run.p999", ["both"]), ("run.p1000", ["own", "both"])]


def test_a_worker_checks_the_passes_that_are_meant(grown: Store) -> None:
    check = Check(grown, Asked(), lambda: None)
    assert check.request is not None
    asked = check.request
    numbers = tuple(asked["rewrites"])
    assert [number // STRIDE for number in numbers] == [1, 2]
    part = Part(asked["trace"], numbers, files=tuple(asked["files"]))
    assert [shown(grown, one) for one in check_part(part)] == BOTH
    for one in check_passes(grown, part):
        check.take(one)
    assert [shown(grown, one) for one, _ in grown.checks] == BOTH


def test_results_are_kept_for_whoever_opens_the_run_later(grown: Store) -> None:
    check = Check(grown, Asked(), lambda: None)
    assert check.request is not None
    files = tuple(check.request["files"])
    for one in check_part(Part(str(grown.path), tuple(check.request["rewrites"]), files=files)):
        check.take(one)
    assert keep(grown)
    later = Store(grown.path)
    assert [shown(later, one) for one, _ in take_kept(later)] == [*reversed(BOTH)]
    assert keep(later)
    grown.checks = Checks()
    assert [shown(grown, one) for one, _ in take_kept(grown)] == BOTH
    later.close()


def test_a_file_that_is_gone_is_said(grown: Store) -> None:
    files = tuple(file.path.name for file in grown.files)
    (grown.path.parent / files[1]).unlink()
    with pytest.raises(TraceError, match="have been replaced"):
        check_part(Part(str(grown.path), (2 * STRIDE + 1,), files=files))
