"""Shapes and bounds of tinygrad's nodes, by hand. What tinygrad itself says of all nodes of
programs is the truth in tests/peers."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.compilers.tinygradfacts import TinygradFacts
from viz.read.tracefile import TraceFile
from viz.write.writer import TraceWriter

Made = tuple[str, str, tuple[int, ...], str]


def facts(tmp_path: Path, version: str, *nodes: Made) -> TinygradFacts:
    path = tmp_path / "run.viz"
    with TraceWriter(path, {}) as writer:
        writer.meta("compiler", f"tinygrad {version}")
        for op, dtype, src, arg in nodes:
            writer.node(op, f"dtypes.{dtype}", src, arg=arg)
    file = TraceFile(path)
    file.refresh()
    return TinygradFacts(file)


def test_shapes_of_0_14(tmp_path: Path) -> None:
    found = facts(
        tmp_path,
        "0.14.0",
        ("CONST", "weakint", (), "12"),
        ("PARAM", "float", (1,), '"ParamArg(0, dtypes.float)"'),
        ("CONST", "weakint", (), "3"),
        ("CONST", "weakint", (), "4"),
        ("STACK", "weakint", (3, 4), ""),
        ("RESHAPE", "float", (2, 5), ""),
        ("PERMUTE", "float", (6,), '"(1, 0)"'),
        ("EXPAND", "float", (7, 5), ""),
        ("REDUCE", "float", (8,), '"(Ops.ADD, 3)"'),
        ("ADD", "float", (6, 1), ""),
    )
    assert [found.shape(n) for n in (2, 6, 7, 8, 9, 10)] == [
        (12,),
        (3, 4),
        (4, 3),
        (3, 4, 4, 3),
        (3,),
        (3, 4),
    ]
    assert found.of([8])[0].shape == "3x4x4x3"


def test_shapes_of_0_11_stand_in_arguments(tmp_path: Path) -> None:
    found = facts(
        tmp_path,
        "0.11.0",
        ("UNIQUE", "void", (), "0"),
        ("BUFFER", "float", (1,), "12"),
        ("RESHAPE", "float", (2,), '"(3, 4)"'),
        ("PAD", "float", (3,), '"((1, 0), (0, 2))"'),
        ("SHRINK", "float", (4,), '"((1, 3), (0, 6))"'),
        ("REDUCE_AXIS", "float", (5,), '"(<Ops.ADD: 62>, (1,))"'),
        ("RESHAPE", "float", (2,), '"(5, 4)"'),
    )
    wanted = [(3, 4), (4, 6), (2, 6), (2, 1), None]
    assert [found.shape(n) for n in (3, 4, 5, 6, 7)] == wanted


def test_bounds(tmp_path: Path) -> None:
    found = facts(
        tmp_path,
        "0.14.0",
        ("CONST", "weakint", (), "10"),
        ("RANGE", "weakint", (1,), '"(0, AxisType.LOOP)"'),
        ("CONST", "weakint", (), "4"),
        ("FLOORMOD", "weakint", (2, 3), ""),
        ("FLOORDIV", "weakint", (2, 3), ""),
        ("CMPLT", "bool", (5, 3), ""),
        ("CAST", "uchar", (2,), ""),
        ("CONST", "weakint", (), "-4"),
        ("MUL", "weakint", (2, 8), ""),
        ("FLOORDIV", "weakint", (9, 3), ""),
    )
    assert [found.bounds(n) for n in (2, 4, 5, 6, 7, 9, 10)] == [
        (0, 9),
        (0, 3),
        (0, 2),
        (1, 1),
        (0, 9),
        (-36, 0),
        (-9, 0),
    ]


ODD = {
    "open": '"(3, 4"',
    "long": '"(1,' + "1, " * 900 + '1)"',
    "deep": "[" * 3000,
    "negative": '"(-3, 4)"',
    "object": '{"a": 1}',
}


@pytest.mark.parametrize("arg", ODD.values(), ids=ODD)
def test_arguments_that_make_no_sense_have_no_shape(tmp_path: Path, arg: str) -> None:
    nodes = (("BUFFER", "float", (), "12"), ("RESHAPE", "float", (1,), arg))
    assert facts(tmp_path, "0.11.0", *nodes).shape(2) is None


def test_a_version_that_is_not_known_has_none(tmp_path: Path) -> None:
    assert facts(tmp_path, "0.99.0", ("BUFFER", "float", (), "12")).of([1])[0].shape == ""
