"""An interrupt at any instruction of the recorder: the trace is whole up to that point, says that
it came, and goes on afterwards. In the recorder's own thread, which no interrupt reaches, any other
exception ends the recording with a statement, and the program goes on."""

from __future__ import annotations

import dis
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

import viz
from core.uop.engine import observe
from core.uop.engine.observe import MemoryChange, attached, context
from core.uop.engine.rewrite import graph_rewrite
from core.uop.patterns.matcher import PatternMatcher
from core.uop.patterns.rule import rule
from core.uop.patterns.upat import UPat
from core.uop.uop import UOp
from tests.viz.samples import random_graph, rules
from viz.format.schema import RULES
from viz.trace import Recorder
from viz.views.store import Store
from viz.write.numbering import Numbering
from viz.write.writer import TraceWriter

VIZ = Path(viz.__file__).parent
OURS = (str(VIZ / "trace.py"), str(VIZ / "recording"), str(VIZ / "write"), str(observe.__file__))
AROUND = (*OURS, str(VIZ / "live.py"), str(VIZ / "files"))
PARTS = 12
"""Of the instructions of the recorder; `make test` tries those of one part."""
OUTSIDE = ("_run", "_next", "_work", "_left", "guarded", "_stop")
"""What catches the failures of all else, and so fails as the thread does."""
Place = tuple[CodeType, int]


@rule(UPat.var("x") * 5, name="inner")
def nested(x: UOp) -> UOp:
    """x * 5 -> tidy(x + 0), and a pass in which nothing happens"""
    graph_rewrite(x, rules, name="in vain")
    return graph_rewrite(x + 0, rules, name="inside")


all_rules = rules + PatternMatcher([nested])


def work(name: str) -> None:
    """What a program does: two contexts, one in the other, and passes in both and in passes."""
    with context("a name to be", "schedule") as outer:
        outer.rename(name)
        graph = UOp.sink(*random_graph(len(name)).src, UOp.variable("a", 0, 9) * 5)
        graph_rewrite(graph, all_rules, name=f"{name} 1")
        with context(f"{name} kernel", "kernel"):
            graph_rewrite(random_graph(7), rules, gate=lambda u: u.op.name != "MAX", name="gated")
            if (observer := attached()) is not None:
                observer.launch(name, "CPU", 1, 2, 3)
                observer.artifact("text", "CPU", "x", [graph.src], {})
                observer.memory(MemoryChange("CPU", 5, 1, allocated=5))
    graph_rewrite(random_graph(3), rules, name=f"{name} alone")


class Injected(BaseException):
    """Raised at an instruction."""


def within(*files: str) -> Callable[[FrameType], bool]:
    """Whether a frame is of a file with such a name or in such a folder."""
    return lambda frame: frame.f_code.co_filename.startswith(files)


recorder_code = within(*OURS)


@contextmanager
def stepping(
    step: Callable[[Place], None],
    trace: Callable[[Any], None] = sys.settrace,
    ours: Callable[[FrameType], bool] = recorder_code,
) -> Generator[None]:
    """Calls `step` before each instruction of what is `ours`, in this thread, or wherever `trace`
    looks."""

    def local(frame: FrameType, event: str, _: object) -> Any:
        if event == "opcode":
            step((frame.f_code, frame.f_lasti))
        return local

    def traced(frame: FrameType, *_: object) -> Any:
        if not ours(frame):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return local

    before = sys.gettrace()
    trace(traced)
    try:
        yield
    finally:
        trace(before)


def instructions(path: Path, trace: Callable[[Any], None]) -> list[Place]:
    """Each instruction of the recorder that a program comes to, once."""
    found: dict[Place, None] = {}
    recorder = Recorder(path) if trace is sys.settrace else None
    with stepping(lambda place: found.setdefault(place), trace):
        recorder = (recorder or Recorder(path)).start()
        work("first")
        recorder.flush()
        recorder.close()
    return list(found)


def locking(place: Place) -> bool:
    """Whether an instruction is between a lock and its block. Python raises nothing there."""
    return place[1] in _locking(place[0])


@cache
def _locking(code: CodeType) -> frozenset[int]:
    lines = {one.offset: one.positions and one.positions.lineno for one in dis.Bytecode(code)}
    withs = (one for one in dis.Bytecode(code) if one.opname == "BEFORE_WITH")
    known = {lines[one.offset] for one in withs}
    return frozenset(offset for offset, line in lines.items() if line in known)


class Injection:
    """Raises before an instruction, when it is come to for the first time after `skipped` times."""

    def __init__(self, place: Place, error: Callable[[], BaseException], skipped: int = 0) -> None:
        self._place, self._error, self._skipped = place, error, skipped
        self.done = False

    @contextmanager
    def armed(self, trace: Callable[[Any], None] = sys.settrace) -> Generator[None]:
        """In this thread, or wherever `trace` looks. No other function is stepped through."""
        code = self._place[0]
        with stepping(self._step, trace, lambda frame: frame.f_code is code):
            yield

    def _step(self, at: Place) -> None:
        if at == self._place and not self.done:
            self._skipped -= 1
            if self._skipped < 0:
                self.done = True
                raise self._error()


def tree(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of a trace, all of whose graphs and steps can be shown, and its problems."""
    store = Store(path)
    try:
        rows = store.tree()["rows"]
        for row in rows:
            if row["kind"] == "rewrite":
                bundle = store.bundle(row["id"])
                assert bundle is not None
                assert len(bundle["steps"]) == row["steps"]
        (file,) = store.files
        assert file.nodes.field("op")[1:].all(), "a node without its op"
        return rows, [problem["what"] for problem in store.run()["problems"]]
    finally:
        store.close()


def shape(rows: list[dict[str, Any]], name: str) -> list[tuple[object, ...]]:
    """What `work(name)` left in a trace: each row with the names of what it is in."""
    paths: list[tuple[str, ...]] = []
    for row in rows:
        paths.append((*(paths[row["parent"]] if row["parent"] >= 0 else ()), row["name"]))
    return [
        (path, row["status"], row.get("steps"))
        for path, row in zip(paths, rows, strict=True)
        if path[0].startswith(name)
    ]


@pytest.mark.sampled(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_an_interrupt_at_any_instruction(tmp_path: Path, part: int) -> None:
    whole = tmp_path / "whole.viz"
    places = instructions(whole, sys.settrace)
    assert len(places) > 300
    with viz.record(whole):
        work("first")
        work("second")
    rows, _ = tree(whole)
    first, second = shape(rows, "first"), shape(rows, "second")
    assert len(first) == len(second) == 6
    for number, place in list(enumerate(places))[part::PARTS]:
        at = f"{place[0].co_qualname} {place[1]}"
        path = tmp_path / f"{number}.viz"
        recorder, caught = Recorder(path), 0
        with Injection(place, Injected).armed():
            for one in (recorder.start, lambda: work("first"), recorder.flush):
                try:
                    one()
                except Injected:
                    caught += 1
        if attached() is None:
            recorder.start()
        work("second")
        with Injection(place, Injected).armed(), suppress(Injected):
            recorder.close()
        recorder.close()
        assert recorder.stopped is None, at
        rows, problems = tree(path)
        assert shape(rows, "second") == second, at
        assert all(row["status"] != "open" for row in rows), at
        if not caught:
            assert shape(rows, "first") == first, at
        elif any(row["status"] == "error" and row["kind"] == "rewrite" for row in rows):
            assert problems, at
        path.unlink()


@pytest.mark.sampled(4 * PARTS)
@pytest.mark.parametrize("part", range(4 * PARTS))
def test_a_failure_at_any_instruction_of_its_own_thread(
    tmp_path: Path, part: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where memory is short, say."""
    places = [
        place
        for place in instructions(tmp_path / "whole.viz", threading.settrace)
        if place[0].co_name not in OUTSIDE and not locking(place)
    ]
    assert len(places) > 1000
    for number, place in list(enumerate(places))[part :: 4 * PARTS]:
        at = f"{place[0].co_qualname} {place[1]}"
        path = tmp_path / f"{number}.viz"
        injection = Injection(place, MemoryError)
        with injection.armed(threading.settrace):
            recorder = Recorder(path).start()
            work("first")
            recorder.flush()
            work("second")
            recorder.close()
        rows, problems = tree(path)
        assert ("MemoryError" in capsys.readouterr().err) is injection.done, at
        assert (recorder.stopped is not None) is injection.done, at
        complete = len(shape(rows, "first")) == len(shape(rows, "second")) == 6
        said = any("stopped before the program did" in one for one in problems)
        assert said or (complete and not problems), at
        path.unlink()


def without_git(run: str, _: bool) -> dict[str, object]:
    """In the place of `run_info`, which takes a while."""
    return {"run": run}


@pytest.mark.sampled(4 * PARTS)
@pytest.mark.parametrize("part", range(4 * PARTS))
def test_an_interrupt_at_any_instruction_around_a_recorded_block(
    tmp_path: Path, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing goes on recording, and the next block gets the file."""
    monkeypatch.setattr("viz.trace.run_info", without_git)
    path = tmp_path / "t.viz"
    found: dict[Place, None] = {}
    with stepping(lambda place: found.setdefault(place), ours=within(*AROUND)), viz.record(path):
        pass
    assert len(found) > 500
    for place in list(found)[part :: 4 * PARTS]:
        if locking(place):
            continue
        at = f"{place[0].co_qualname} {place[1]}"
        injection = Injection(place, Injected)
        with suppress(Injected), injection.armed(), viz.record(path):
            pass
        assert attached() is None, at
        with viz.record(path) as recorder:
            graph_rewrite(random_graph(3), rules, name="the next")
        assert recorder.path == path, at
        assert [row["name"] for row in tree(path)[0]] == ["the next"], at
        assert not list(tmp_path.glob("*-lock")), at


def test_an_interrupt_while_a_recording_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks git for the commit, which takes a while. The next one gets the file."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "t.viz"
    with monkeypatch.context() as m:
        m.setattr("viz.trace.run_info", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Recorder(path)
    with viz.record(path) as recorder:
        work("second")
    assert recorder.path == path
    assert len(tree(path)[0]) == 6


def test_an_interrupt_as_a_rule_is_numbered(tmp_path: Path) -> None:
    """Its row is written, or it has no number."""
    found: dict[Place, None] = {}
    writer = TraceWriter(tmp_path / "whole.viz", {})
    with stepping(lambda place: found.setdefault(place)):
        writer.rule("fold", "rules.py", 12, equation="-c -> c'")
    writer.close()
    assert len(found) > 50
    for place in found:
        numbers = Numbering()
        rule = partial(numbers.rule, "fold", "rules.py", 12, "", "", {"source": ""})
        with suppress(Injected), Injection(place, Injected).armed():
            rule()
        assert rule() == 1
        assert [b.count for b in numbers.take().blocks if b.kind == RULES] == [1], place
