"""Graphs as typed JSON data: `to_data` writes one, `from_data` reads it back.

`{"version": 1, "nodes": [...], "roots": [...]}`; a node is `[op, dtype, sources, arg]`, sources are
positions of earlier nodes, and `arg` is in the form of `core/uop/data/args.py`; a fifth element is
the node's tag and a sixth the user's line, where there are any. Data from a stranger is only ever
looked at: anything that is not such a graph raises FormatError. Never pickles, never evaluates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from types import NoneType
from typing import Final, cast

from core.errors import FormatError
from core.shape import ShapeTracker
from core.uop.call.scatter import Scatter
from core.uop.data.args import (
    MAX_LANES,
    MAX_RANK,
    Json,
    decode_arg,
    decode_dtype,
    encode_arg,
    encode_dtype,
)
from core.uop.engine.asking import kernel_lines
from core.uop.facts.shapes import is_devices
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

VERSION: Final = 1
MAX_NODES: Final = 4_000_000
MAX_SOURCES: Final = 16_000_000
MAX_ORIGIN: Final = 4096
"""Characters of the user's line of a node."""
_sourceless: Final = frozenset(
    {Ops.UNIQUE, Ops.DEVICE, Ops.VCONST, Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR}
)
_exact_sources: Final = {
    **dict.fromkeys(GroupOp.Unary | GroupOp.Movement, 1),
    **dict.fromkeys(GroupOp.Binary, 2),
    **dict.fromkeys(GroupOp.Ternary, 3),
    Ops.GEP: 1,
    Ops.SHUFFLE: 1,
    Ops.LDMATRIX: 1,
    Ops.CAST: 1,
    Ops.BITCAST: 1,
    Ops.VIEW: 1,
    Ops.REDUCE_AXIS: 1,
    Ops.SPECIAL: 1,
    Ops.BIND: 2,
    Ops.COPY: 2,
    Ops.LENGTH: 2,
    Ops.RANGE: 1,
    Ops.BUFFER_VIEW: 1,
    Ops.MSELECT: 1,
    Ops.STORE: 2,
}
_gated: Final = frozenset({Ops.STORE})
"""Those that may have a gate after them."""
_some_sources: Final = frozenset(
    {
        Ops.VECTORIZE,
        Ops.REDUCE,
        Ops.LOAD,
        Ops.INDEX,
        Ops.ADDRESS,
        Ops.END,
        Ops.AFTER,
        Ops.UNROLL,
        Ops.CONTRACT,
        Ops.OUTPUT,
        Ops.COPY_ASYNC,
        Ops.MULTI,
        Ops.ALLREDUCE,
    }
)
"""At least one."""


def to_data(uops: Iterable[UOp]) -> dict[str, Json]:
    """The graph below `uops` (roots, or a whole linear program, whose order is kept) as data.

    Raises FormatError for an argument of a type that has no typed form.
    """
    place: dict[UOp, int] = {}
    nodes: list[Json] = []
    roots: list[Json] = []
    for root in uops:
        if root not in place:
            for u in root.toposort(lambda u: u not in place):
                place[u] = len(nodes)
                nodes.append(_encode(u, place))
        roots.append(place[root])
    return {"version": VERSION, "nodes": nodes, "roots": roots}


def digest(root: UOp) -> int:
    """64 bits of a hash of the graph below `root`: of ops, dtypes, arguments, tags and edges; not
    of the user's lines, and not of what this process did before.

    Raises FormatError for an argument of a type that has no typed form.
    """
    place: dict[UOp, int] = {}
    found = sha256()
    for u in root.toposort():
        place[u] = len(place)
        found.update(json.dumps([*_encode(u, place)[:4], encode_arg(u.tag)]).encode())
    return int.from_bytes(found.digest()[:8], "big")


def from_data(data: object) -> list[UOp]:
    """The roots of the graph that `to_data` wrote. An origin may be several, a line each; those of
    a kernel are its own, whatever its nodes are used for besides. Raises FormatError for anything
    else."""
    if not isinstance(data, dict):
        raise _bad("a graph is not an object")
    graph = cast("dict[str, Json]", data)
    if set(graph) != {"version", "nodes", "roots"}:
        raise _bad("a graph has the fields version, nodes and roots")
    if graph["version"] != VERSION:
        raise FormatError(
            f"a graph of version {graph['version']!r}",
            hint=f"this program reads version {VERSION}; use a newer one",
        )
    nodes, roots = graph["nodes"], graph["roots"]
    if not isinstance(nodes, list) or not isinstance(roots, list):
        raise _bad("the nodes or the roots are not a list")
    if len(nodes) > MAX_NODES or len(roots) > MAX_NODES:
        raise _bad(f"more than {MAX_NODES} nodes")
    made: list[UOp] = []
    left = MAX_SOURCES
    for node in nodes:
        made.append(decode_node(node, made))
        left -= len(made[-1].src)
        if left < 0:
            raise _bad(f"more than {MAX_SOURCES} sources")
    found = [made[_position(root, len(made))] for root in roots]
    if len(found) == 1 and found[0].op is Ops.SINK:
        asked = {u: _origin(node) for u, node in zip(made, nodes, strict=True)}
        if any(asked.values()):
            kernel_lines.put(found[0], asked)
    return found


def _encode(u: UOp, place: dict[UOp, int]) -> list[Json]:
    node: list[Json] = [
        u.op.name,
        encode_dtype(u.dtype),
        [place[s] for s in u.src],
        encode_arg(u.arg),
    ]
    if u.tag is not None or u.origin is not None:
        node.append(encode_arg(u.tag))
    if u.origin is not None:
        node.append(u.origin)
    return node


def decode_node(node: Json, made: Sequence[UOp]) -> UOp:
    """One node whose sources are positions in `made`. Raises FormatError where it is not a node."""
    at = f"node {len(made)}"
    if not isinstance(node, list) or not 4 <= len(node) <= 6:
        raise _bad("a node is a list of op, dtype, sources, arg, tag and origin", at)
    name, dtype, src, arg = node[:4]
    op = Ops.__members__.get(name) if isinstance(name, str) else None
    if op is None or not isinstance(dtype, str) or not isinstance(src, list):
        raise _bad("a node has an unknown op, or a dtype or sources of the wrong type", at)
    sources = tuple(made[_position(s, len(made))] for s in src)
    wanted = 0 if op in _sourceless else _exact_sources.get(op, len(sources))
    most = wanted + (op in _gated)
    if not wanted <= len(sources) <= most or (op in _some_sources and not sources):
        raise _bad(f"{name} with {len(sources)} sources instead of {wanted or 1}", at)
    u = UOp(
        op,
        decode_dtype(dtype),
        sources,
        _checked(op, decode_arg(arg), at),
        decode_arg(node[4]) if len(node) > 4 else None,
    )
    if len(node) == 6:
        origin = node[5]
        if not isinstance(origin, str) or len(origin) > MAX_ORIGIN:
            raise _bad("an origin is not a line of a file", at)
        if u.origin is None:
            u.origin = origin.partition("\n")[0]
    return u


def _origin(node: Json) -> str:
    """The origins of a node that `decode_node` has read."""
    return str(node[5]) if isinstance(node, list) and len(node) == 6 else ""


def _checked(op: Ops, arg: object, at: str) -> object:
    """`arg`, where it is of the form that every pass relies on for `op`."""
    form = _forms.get(op)
    if form is not None and not form[1](arg):
        raise _bad(f"{op.name} with an argument that is not {form[0]}", at)
    return arg


def _of(*kinds: type) -> Callable[[object], bool]:
    return lambda arg: type(arg) in kinds


def _tuple_of(item: Callable[[object], bool], most: int) -> Callable[[object], bool]:
    def check(arg: object) -> bool:
        if type(arg) is not tuple:
            return False
        items = cast("tuple[object, ...]", arg)
        return len(items) <= most and all(map(item, items))

    return check


def _fields(*items: Callable[[object], bool]) -> Callable[[object], bool]:
    def check(arg: object) -> bool:
        if type(arg) is not tuple:
            return False
        parts = cast("tuple[object, ...]", arg)
        return len(parts) == len(items) and all(f(p) for f, p in zip(items, parts, strict=True))

    return check


def _either(*kinds: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda arg: any(kind(arg) for kind in kinds)


def _is_loop(arg: object) -> bool:
    if type(arg) is not tuple:
        return False
    *numbers, kind = cast("tuple[object, ...]", arg) or (None,)
    return 0 < len(numbers) < MAX_RANK and all(map(_int, numbers)) and isinstance(kind, AxisType)


_int, _number, _axis = _of(int), _of(bool, int, float), _of(int, NoneType)
_axes = "a tuple of numbers, one per axis", _tuple_of(_int, MAX_RANK)
_pairs = "a tuple of pairs, one per axis", _tuple_of(_fields(_int, _int), MAX_RANK)
_forms: Final[Mapping[Ops, tuple[str, Callable[[object], bool]]]] = {
    Ops.SINK: ("a KernelInfo or nothing", _of(KernelInfo, NoneType)),
    Ops.KERNEL: ("a KernelInfo, a Scatter or nothing", _of(KernelInfo, Scatter, NoneType)),
    Ops.OUTPUT: ("(number, shape)", _fields(_int, _tuple_of(_int, MAX_RANK))),
    Ops.UNIQUE: ("a number or a name", _of(int, str)),
    Ops.DEVICE: ("a name, or several", is_devices),
    Ops.SPECIAL: ("a name", _of(str)),
    Ops.BUFFER: ("a number of elements, or (rows, columns)", _either(_int, _fields(_int, _int))),
    Ops.BUFFER_VIEW: ("(elements, offset)", _fields(_int, _int)),
    Ops.MULTI: ("an axis, or nothing", _axis),
    Ops.MSELECT: ("(number, axis or nothing)", _fields(_int, _axis)),
    Ops.ALLREDUCE: ("an op", _of(Ops)),
    Ops.IOTA: ("a number of elements", _int),
    Ops.CONST: ("a number", _number),
    Ops.VCONST: ("a tuple of numbers", _tuple_of(_number, MAX_LANES)),
    Ops.GEP: ("a tuple of positions", _tuple_of(_int, MAX_LANES)),
    Ops.SHUFFLE: ("a number of lanes", _int),
    Ops.LDMATRIX: ("(matrices, transposed)", _fields(_int, _of(bool))),
    Ops.STORE: ("nothing, or how it is stored", _of(str, NoneType)),
    Ops.COPY_ASYNC: ("a number of bytes", _int),
    Ops.WAIT: ("a number of groups", _int),
    Ops.RANGE: ("(number, AxisType)", _is_loop),
    Ops.DEFINE_GLOBAL: ("a number", _int),
    Ops.DEFINE_VAR: ("(name, smallest, largest)", _fields(_of(str), _number, _number)),
    Ops.RESHAPE: _axes,
    Ops.PERMUTE: _axes,
    Ops.EXPAND: _axes,
    Ops.PAD: _pairs,
    Ops.SHRINK: _pairs,
    Ops.FLIP: ("a tuple of booleans, one per axis", _tuple_of(_of(bool, int), MAX_RANK)),
    Ops.VIEW: ("a ShapeTracker", _of(ShapeTracker)),
    Ops.REDUCE: ("an op", _of(Ops)),
    Ops.REDUCE_AXIS: ("(op, axes)", _fields(_of(Ops), _tuple_of(_int, MAX_RANK))),
    Ops.UNROLL: ("a tuple of pairs", _tuple_of(_fields(_int, _int), MAX_RANK)),
    Ops.CONTRACT: ("a tuple of pairs", _tuple_of(_fields(_int, _int), MAX_RANK)),
}
"""What the argument of a node is. Ops that are not here take any."""


def _position(data: Json, count: int) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or not 0 <= data < count:
        raise _bad("a source or root is not the position of an earlier node")
    return data


def _bad(what: str, at: str = "") -> FormatError:
    return FormatError(
        f"not a UOp graph: {what}",
        where=at,
        hint="the data is damaged or was not written by this program",
    )
