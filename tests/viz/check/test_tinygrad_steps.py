"""Steps of tinygrad on integers are judged by the meaning of their ops: right ones are proved,
wrong ones named, and no more is claimed than is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import viz
from viz.check.part import check_part
from viz.check.parts import Part
from viz.trace import TraceWriter


class Graph:
    """Nodes of tinygrad 0.14 in a trace."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self.x, self.y = self.loop(0, 10), self.loop(1, 7)
        pointer = self.node("PARAM", "int", arg='"ParamArg(0, dtypes.int)"')
        self.read = self.node("INDEX", "int", pointer, self.x)
        held = self.node("STAGE", "int", self.x)
        self.stage = self.node("INDEX", "int", held, self.x)

    def node(self, op: str, dtype: str, *src: int, arg: str = "") -> int:
        return self._writer.node(op, f"dtypes.{dtype}", src, arg=arg)

    def const(self, value: int, dtype: str = "weakint") -> int:
        return self.node("CONST", dtype, arg=str(value))

    def loop(self, number: int, end: int) -> int:
        arg = f'"({number}, AxisType.LOOP)"'
        return self.node("RANGE", "weakint", self.const(end), arg=arg)

    def op(self, name: str, *src: int, dtype: str = "weakint") -> int:
        return self.node(name, dtype, *src)

    def times(self, a: int, n: int) -> int:
        return self.op("MUL", a, self.const(n))

    def plus(self, a: int, n: int) -> int:
        return self.op("ADD", a, self.const(n))


Step = Callable[[Graph], tuple[int, int]]
STEPS: dict[str, tuple[str, Step]] = {
    "add zero": ("proved", lambda g: (g.plus(g.x, 0), g.x)),
    "floor of a multiple": (
        "proved",
        lambda g: (g.op("FLOORDIV", g.plus(g.times(g.x, 4), 3), g.const(4)), g.x),
    ),
    "floor below zero": (
        "proved",
        lambda g: (g.op("FLOORMOD", g.plus(g.x, -40), g.const(20)), g.plus(g.x, 0)),
    ),
    "remainder as in C": (
        "differs",
        lambda g: (g.op("CMOD", g.plus(g.x, -40), g.const(20)), g.plus(g.x, 0)),
    ),
    "a bound": (
        "proved",
        lambda g: (g.op("CMPLT", g.x, g.const(10), dtype="bool"), g.const(1, "bool")),
    ),
    "a bound too small": (
        "differs",
        lambda g: (g.op("CMPLT", g.x, g.const(9), dtype="bool"), g.const(1, "bool")),
    ),
    "a wrong factor": ("differs", lambda g: (g.plus(g.times(g.x, 2), 0), g.times(g.x, 3))),
    "memory that is given": (
        "differs",
        lambda g: (g.op("ADD", g.read, g.const(1), dtype="int"), g.read),
    ),
    "memory that was written": (
        "unchecked",
        lambda g: (g.op("ADD", g.stage, g.const(1, "int"), dtype="int"), g.const(4, "int")),
    ),
    "another loop": ("unchecked", lambda g: (g.plus(g.x, 0), g.y)),
    "a loop for a loop": ("unchecked", lambda g: (g.x, g.y)),
    "floats": (
        "unchecked",
        lambda g: (g.op("ADD", g.x, g.x, dtype="float"), g.op("MUL", g.x, g.x, dtype="float")),
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_are_judged(tmp_path: Path, name: str) -> None:
    kind, step = STEPS[name]
    path = tmp_path / "run.viz"
    with viz.TraceWriter(path, {}) as t:
        t.meta("compiler", "tinygrad 0.14.0")
        t.meta("dialect", {"name": "tinygrad", "version": 1})
        before, after = step(Graph(t))
        rewrite = t.rewrite_begin("simplify", sink=before)
        t.match(rewrite, t.rule("rule"), before, after, {}, 1)
        t.rewrite_end(rewrite, after)
    (checked,) = check_part(Part(str(path), (1,)))
    assert [checked["verdicts"][at]["kind"] for _, _, at in checked["steps"]] == [kind]
