"""Steps of tinygrad on numbers are judged by the meaning of their ops: right ones are proved,
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
        floats = self.node("PARAM", "float", arg='"ParamArg(1, dtypes.float)"')
        self.a = self.node("INDEX", "float", floats, self.x)
        self.given = self.node("PARAM", "float", self.const(70), arg='"ParamArg(2, dtypes.float)"')
        self.square = self.node("RESHAPE", "float", self.given, self.shape(10, 7))
        four = self.node("PARAM", "float", self.const(4), arg='"ParamArg(3, dtypes.float)"')
        self.narrow = self.node("RESHAPE", "float", four, self.shape(2, 2))
        self.turned = self.node("PERMUTE", "float", self.square, arg='"(1, 0)"')
        self.again = self.node("RESHAPE", "float", self.square, self.shape(7, 10))
        self.many = self.node("EXPAND", "float", self.square, self.const(7))
        self.wide = self.node("PERMUTE", "float", self.narrow, arg='"(1, 0)"')
        self.both = self.op("STACK", self.x, self.y)
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

    def float(self, name: str, *src: int) -> int:
        return self.op(name, *src, dtype="float")

    def at(self, value: int, *indices: int) -> int:
        dtype = "weakint" if value == self.both else "float"
        return self.node("INDEX", dtype, value, *indices)

    def shape(self, *sizes: int) -> int:
        return self.op("STACK", *map(self.const, sizes))

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
    "a float once": ("proved", lambda g: (g.float("MUL", g.a, g.const(1, "float")), g.a)),
    "a float twice": (
        "sampled",
        lambda g: (g.float("ADD", g.a, g.a), g.float("MUL", g.a, g.const(2, "float"))),
    ),
    "a float three times": (
        "differs",
        lambda g: (g.float("ADD", g.a, g.a), g.float("MUL", g.a, g.const(3, "float"))),
    ),
    "a finite float": (
        "assumes",
        lambda g: (g.float("MUL", g.a, g.const(0, "float")), g.const(0, "float")),
    ),
    "a negative float": (
        "differs",
        lambda g: (g.float("MAX", g.a, g.const(0, "float")), g.a),
    ),
    "a row and a column": (
        "proved",
        lambda g: (g.at(g.square, g.x, g.y), g.at(g.given, g.op("ADD", g.times(g.x, 7), g.y))),
    ),
    "another row": (
        "differs",
        lambda g: (g.at(g.square, g.x, g.y), g.at(g.given, g.op("ADD", g.times(g.x, 8), g.y))),
    ),
    "turned": ("proved", lambda g: (g.at(g.turned, g.y, g.x), g.at(g.square, g.x, g.y))),
    "turned and not": ("differs", lambda g: (g.at(g.turned, g.y, g.x), g.at(g.turned, g.x, g.y))),
    "a view that is taken away": ("unchecked", lambda g: (g.wide, g.narrow)),
    "a view of a view": (
        "proved",
        lambda g: (g.at(g.again, g.y, g.x), g.at(g.given, g.op("ADD", g.times(g.y, 10), g.x))),
    ),
    "an axis more": ("proved", lambda g: (g.at(g.many, g.y, g.x, g.y), g.at(g.square, g.x, g.y))),
    "one of a stack": ("proved", lambda g: (g.at(g.both, g.const(1)), g.y)),
    "the other one": ("unchecked", lambda g: (g.at(g.both, g.const(0)), g.y)),
    "views of other memory": ("unchecked", lambda g: (g.at(g.square, g.x, g.y), g.a)),
    "a polynomial": (
        "unchecked",
        lambda g: (g.float("EXP2", g.a), g.float("ADD", g.a, g.const(1, "float"))),
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
