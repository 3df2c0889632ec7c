"""Graphs as data: round trip of every argument type, and refusal of hostile data."""

from __future__ import annotations

import json
import math
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dtype import AddrSpace, dtypes
from core.errors import FormatError
from core.shape import ShapeTracker, View
from core.target import targets
from core.uop.data.args import decode_arg, decode_dtype, encode_arg, encode_dtype
from core.uop.data.serial import decode_node, from_data, to_data
from core.uop.kernelinfo import AxisType, KernelInfo, Opt, OptOps
from core.uop.ops import Ops
from core.uop.uop import UOp


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def kernel() -> UOp:
    st_ = ShapeTracker.from_shape((4, 8)).permute((1, 0)).pad(((0, 1), (2, 0)))
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(54), (), 0).view(ShapeTracker.from_shape((9, 6)))
    data = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(32), (), 1).view(st_).load(dtype=dtypes.float)
    info = KernelInfo(
        "k", (Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.TC, 0, (1, 2)), Opt(OptOps.NOLOCALS))
    )
    return UOp.sink(out.store(data * -0.0 + math.inf), arg=info)


def test_a_kernel_comes_back_as_the_same_nodes() -> None:
    ast = kernel()
    assert from_data(through_json(to_data([ast]))) == [ast]


def test_the_order_of_a_linear_program_is_kept() -> None:
    loop = UOp.range(8, 0, AxisType.REDUCE)
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(8), (), 0)
    index = pointer.index(loop)
    program = [loop.src[0], loop, pointer, index, index.store(loop), UOp.sink()]
    assert from_data(through_json(to_data(program))) == program


args = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(
        [
            Ops.ADD,
            AxisType.LOOP,
            OptOps.TC,
            AddrSpace.LOCAL,
            dtypes.half.vec(4),
            dtypes.int.ptr(16, AddrSpace.REG),
            View.create((2, 3), (3, 1), 1),
            Opt(OptOps.TC, 1, 2),
            KernelInfo("a", ()),
        ]
    ),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
    max_leaves=12,
)


@given(args)
def test_every_argument_round_trips(arg: object) -> None:
    back = decode_arg(through_json(encode_arg(arg)))
    assert repr(back) == repr(arg)
    assert type(back) is type(arg)


@pytest.mark.parametrize(
    "dtype",
    [
        dtypes.bool,
        dtypes.void,
        dtypes.bfloat16.vec(8),
        dtypes.fp8e4m3.ptr(7),
        dtypes.float.vec(4).ptr(3, AddrSpace.LOCAL),
        dtypes.long.ptr(-1, AddrSpace.REG),
    ],
)
def test_dtypes_round_trip(dtype: Any) -> None:
    assert decode_dtype(encode_dtype(dtype)) == dtype


@pytest.mark.parametrize(
    "text",
    [
        "",
        "float33",
        "object",
        "float32.vec(0)",
        "float32.vec(99999)",
        "float32* [",
        "vec",
        "void.vec(2)",
        "float32* shared",
        "__class__",
        "float32" * 50,
    ],
)
def test_other_text_is_no_dtype(text: str) -> None:
    with pytest.raises(FormatError):
        decode_dtype(text)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "data",
    [
        {"eval": "1"},
        {"op": "NOPE"},
        {"op": 3},
        {"float": "0x1p0"},
        {"float": True},
        {"int": "1e9"},
        {"int": "9" * 2000},
        1.5,
        {},
        {"op": "ADD", "axis": "LOOP"},
        nested(40),
        {"shapetracker": []},
        {"view": {"shape": [-1], "strides": [1], "offset": 0, "mask": None}},
        {"view": {"shape": [2], "strides": [1], "offset": 0, "mask": [[0, 5]]}},
        {"view": {"shape": [2], "strides": [1], "offset": 0}},
        {
            "shapetracker": [
                {"shape": [2], "strides": [1], "offset": 0, "mask": None},
                {"shape": [9], "strides": [1], "offset": 0, "mask": None},
            ]
        },
        {"kernelinfo": {"name": "a", "opts": [1]}},
        {"kernelinfo": {"name": 1, "opts": None}},
    ],
)
def test_hostile_arguments_are_refused(data: Any) -> None:
    with pytest.raises(FormatError):
        decode_arg(data)


def graph(*nodes: Any, roots: Any = (0,)) -> dict[str, Any]:
    return {"version": 1, "nodes": list(nodes), "roots": list(roots)}


@pytest.mark.parametrize("name", ["sm_75", "sm_90", "gfx1100", "gfx1201", "gfx942", "gfx950"])
def test_every_matrix_instruction_comes_back(name: str) -> None:
    for core in targets[name].tensor_cores:
        assert decode_arg(through_json(encode_arg(core))) == core


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", 5),
        ("dims", [16, 8]),
        ("dims", [16, 8, 12]),
        ("dims", [1 << 40, 8, 16]),
        ("dtypes", ["float16", "void"]),
        ("dtypes", ["float16.vec(2)", "float32"]),
        ("dtypes", "float16"),
        ("layouts", [["m0", "k0"]] * 3),
        ("layouts", [["- " * 4000, "k0"], ["", ""], ["", ""]]),
        ("layouts", [[1, 2], [3, 4], [5, 6]]),
        ("layouts", [None, None, None]),
        ("bits", "19"),
        ("more", 1),
    ],
)
def test_hostile_matrix_instructions_are_refused(field: str, value: Any) -> None:
    data = cast("dict[str, dict[str, Any]]", encode_arg(targets["sm_90"].tensor_cores[0]))
    with pytest.raises(FormatError):
        decode_arg({"tensorcore": {**data["tensorcore"], field: value}})


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"version": 2, "nodes": [], "roots": []},
        graph(roots=[0]),
        graph(5),
        graph(["CONST", "int32", [], 1], roots=[-1]),
        graph(["CONST", "int32", [], 1], roots=[True]),
        graph(["NEG", "int32", [0], None]),
        graph(["CONST", "int32", [], "text"]),
        graph(["CONST", "int32", []]),
        graph(["CONST", "int32", [], 1, None, 7]),
        graph(["CONST", "int32", [], 1], ["GEP", "int32", [0], 0]),
        graph(["CONST", "int32", [], 1], ["WHERE", "int32", [0, 0], None]),
        graph(["__init__", "int32", [], 1]),
    ],
)
def test_what_is_no_graph_is_refused(data: Any) -> None:
    with pytest.raises(FormatError):
        from_data(data)


def test_deep_graphs_round_trip_without_recursion() -> None:
    u = UOp.variable("n", 0, 9)
    for _ in range(20_000):
        u = u.alu(Ops.ADD, u)
    assert from_data(to_data([u])) == [u]


def test_the_users_line_travels() -> None:
    u = UOp(Ops.UNIQUE, dtypes.void, (), "a name of its own")
    u.origin = "model.py:3"
    data = through_json(to_data([u]))
    u.origin = None
    assert cast("UOp", from_data(data)[0]).origin == "model.py:3"


def test_unknown_argument_types_name_the_type() -> None:
    with pytest.raises(FormatError, match="set"):
        encode_arg({1})


@pytest.mark.parametrize("node", [
    ["VIEW", "int32", [0], [1]],
    ["VIEW", "int32", [0], None],
    ["RESHAPE", "int32", [0], [1] * 300],
    ["RESHAPE", "int32", [], [1]],
    ["PAD", "int32", [0], [1]],
    ["SHRINK", "int32", [0], [[0, 1, 2]]],
    ["REDUCE_AXIS", "int32", [0], {"op": "ADD"}],
    ["REDUCE_AXIS", "int32", [0], [{"op": "ADD"}, 1]],
    ["BUFFER", "int32", [], None],
    ["BUFFER_VIEW", "int32", [0], 4],
    ["IOTA", "int32", [], "4"],
    ["RANGE", "int32", [0], [1]],
    ["RANGE", "int32", [0], [{"axis": "LOOP"}]],
    ["DEFINE_VAR", "int32", [], ["i", 1]],
    ["ADD", "int32", [0], None],
    ["NEG", "int32", [0, 0], None],
    ["STORE", "void", [0], None],
    ["STORE", "void", [0, 0, 0, 0], None],
    ["VECTORIZE", "int32.vec(2)", [], None],
])  # fmt: skip
def test_arguments_and_sources_have_the_form_of_their_op(node: list[Any]) -> None:
    one = UOp.const(dtypes.int32, 1)
    with pytest.raises(FormatError):
        decode_node(node, [one])


def test_a_store_with_a_gate_travels() -> None:
    """As it is after the pass `final`, where each pass is recorded."""
    place = UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(4), (), 0).index(UOp.const(dtypes.index, 3))
    gate = UOp.variable("n", 0, 9) < 4
    store = UOp(Ops.STORE, dtypes.void, (place, UOp.const(dtypes.float32, 1.0), gate))
    assert from_data(through_json(to_data([store]))) == [store]
