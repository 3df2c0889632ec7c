"""Graphs as typed JSON data: `to_data` writes one, `from_data` reads it back.

`{"version": 1, "nodes": [...], "roots": [...]}`; a node is `[op, dtype, sources, arg]`, sources are
positions of earlier nodes, and `arg` is in the form of `core/uop/args.py`; a fifth element is the
node's tag and a sixth the user's line, where there are any. Data from a stranger is only ever
looked at: anything that is not such a graph raises FormatError. Never pickles, never evaluates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, cast

from core.errors import FormatError
from core.uop.args import Json, decode_arg, decode_dtype, encode_arg, encode_dtype
from core.uop.ops import Ops
from core.uop.uop import UOp

VERSION: Final = 1
MAX_NODES: Final = 4_000_000
MAX_SOURCES: Final = 16_000_000
_MAX_ORIGIN: Final = 4096
_sourceless: Final = frozenset(
    {Ops.UNIQUE, Ops.DEVICE, Ops.VCONST, Ops.DEFINE_GLOBAL, Ops.DEFINE_VAR}
)
_exact_sources: Final = {
    Ops.GEP: 1,
    Ops.CAST: 1,
    Ops.BITCAST: 1,
    Ops.VIEW: 1,
    Ops.REDUCE_AXIS: 1,
    Ops.SPECIAL: 1,
    Ops.WHERE: 3,
    Ops.MULACC: 3,
    Ops.STORE: 2,
}


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


def from_data(data: object) -> list[UOp]:
    """The roots of the graph that `to_data` wrote. Raises FormatError for anything else."""
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
    return [made[_position(root, len(made))] for root in roots]


def _encode(u: UOp, place: dict[UOp, int]) -> Json:
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
    if len(sources) != wanted:
        raise _bad(f"{name} with {len(sources)} sources instead of {wanted}", at)
    u = UOp(
        op,
        decode_dtype(dtype),
        sources,
        _checked(op, decode_arg(arg), at),
        decode_arg(node[4]) if len(node) > 4 else None,
    )
    if len(node) == 6:
        origin = node[5]
        if not isinstance(origin, str) or len(origin) > _MAX_ORIGIN:
            raise _bad("an origin is not a line of a file", at)
        if u.origin is None:
            u.origin = origin
    return u


def _checked(op: Ops, arg: object, at: str) -> object:
    """`arg`, where it is hashable and of the type that every pass relies on for `op`."""
    kinds = _arg_kinds.get(op)
    if kinds is not None and type(arg) not in kinds:
        raise _bad(f"{op.name} with an argument of type {type(arg).__name__}", at)
    return arg


_arg_kinds: Final = {
    Ops.CONST: (bool, int, float),
    Ops.VCONST: (tuple,),
    Ops.GEP: (tuple,),
    Ops.RANGE: (tuple,),
    Ops.DEFINE_VAR: (tuple,),
    Ops.DEFINE_GLOBAL: (int,),
    Ops.DEVICE: (str,),
    Ops.SPECIAL: (str,),
    Ops.RESHAPE: (tuple,),
    Ops.PERMUTE: (tuple,),
    Ops.EXPAND: (tuple,),
    Ops.REDUCE_AXIS: (tuple,),
}


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
