"""Interns UOps in a trace: every node is written once, after its sources.

Many at a time: what nodes have in common is looked up by a few calls for all of them. Holds no
node: each carries a serial number of its own (`UOp.serial`), and a table says which number of the
trace that is. Safe to call from any thread. Never recurses.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, Final

import numpy as np

from core.dtype import DType
from core.errors import UopvizError
from core.uop.data.args import encode_arg
from core.uop.ops import Ops
from core.uop.uop import UOp
from viz.format.pack import Ints
from viz.recording.malformed import malformed
from viz.write.numbering import LOCK, Numbering

_KEPT: Final = 50_000
"""Entries of a cache before it is emptied."""
_COARSE: Final = frozenset({float, tuple})
"""Types of which equal values may be different arguments: 0.0 and -0.0, (1,) and (True,)."""
_KEY: Final = np.dtype("V48")
"""Six integers as one key."""
_serial = attrgetter("serial")
_src = attrgetter("src")
_op = attrgetter("op")
_dtype = attrgetter("dtype")
_origin = attrgetter("origin")
_arg = attrgetter("arg")
_tag = attrgetter("tag")


class _Serials:
    """The serial numbers of all nodes that any recording has seen."""

    last = 0


class Interner:
    """UOps to node numbers of one trace."""

    def __init__(self, numbers: Numbering) -> None:
        self._numbers = numbers
        self._table = array("I", (0,))
        """By serial number. As long as there are serial numbers, while LOCK is held here."""
        self._ops = [0] * (max(Ops) + 1)
        for op in Ops:
            self._ops[op] = numbers.string(op.name)
        self._dtypes: dict[DType, int] = {}
        self._origins: dict[str | None, int] = {None: 0}
        self.new_origins: list[str] = []
        """Origins of nodes that were not there before; the reader removes them."""
        self._heads: dict[bytes, int] = {}
        """The heads of nodes by the identities of their fields, which a rebuilt node shares. Bytes,
        because so many tuples would make the garbage collector walk the whole program."""
        self._alive: list[object] = []
        """What has its identity there, so that it means something."""
        self._args: dict[Any, int] = {}
        self._sizes: dict[int, int] = {}

    def op(self, op: Ops) -> int:
        """The number of the name of an op."""
        return self._ops[op]

    def __call__(self, u: UOp) -> int:
        """The number of `u`."""
        serial = getattr(u, "serial", 0)  # of what is no node, `all` says what it is
        if serial < len(self._table) and (found := self._table[serial]):
            return found
        return int(self.all((u,), (u,))[0])

    def all(self, nodes: Sequence[UOp], roots: Sequence[UOp]) -> Ints:
        """The numbers of `nodes`. What is new gets its number in the order of `roots`, which reach
        all or most of them. Raises MalformedNodeError."""
        try:
            return self._all(nodes, roots)
        except (AttributeError, TypeError, LookupError) as error:
            if (found := malformed([*roots, *nodes])) is not None:
                raise found from error
            raise

    def _all(self, nodes: Sequence[UOp], roots: Sequence[UOp]) -> Ints:
        with LOCK:
            missing = _Serials.last + 1 - len(self._table)
            self._table.frombytes(bytes(self._table.itemsize * max(0, missing)))
            self._add(roots)
            found = self._known(nodes)
            left = np.flatnonzero(found == 0).tolist()
            if left:
                self._add([nodes[i] for i in left])
                found = self._known(nodes)
        return found

    def size(self, u: UOp) -> int:
        """Nodes of the graph of `u`; asked again for the same node, it costs no walk."""
        number = self(u)
        found = self._sizes.get(number)
        if found is None:
            if len(self._sizes) > _KEPT:
                self._sizes.clear()
            new = seen = {u}
            while new := set(chain.from_iterable(map(_src, new))) - seen:
                seen |= new
            found = self._sizes[number] = len(seen)
        return found

    def _known(self, nodes: Sequence[UOp]) -> Ints:
        serials = np.fromiter(map(_serial, nodes), np.int64, len(nodes))
        return np.frombuffer(self._table, np.uint32)[serials].astype(np.int64)

    def _add(self, roots: Sequence[UOp]) -> None:
        table, number = self._table, self._numbers.node_count
        order, stack = list[UOp](), list[UOp]()
        push, put, add = stack.append, order.append, table.append
        for root in roots:
            if table[root.serial]:
                continue
            for s in root.src:
                if not table[s.serial]:
                    push(root)
                    break
            else:  # most: a rule or a rebuild made it of nodes that have numbers
                number += 1
                if serial := root.serial:
                    table[serial] = number
                else:
                    root.serial = _Serials.last = len(table)
                    add(number)
                put(root)
            while stack:
                node = stack[-1]
                for s in node.src:
                    if not table[s.serial]:
                        push(s)
                if stack[-1] is not node:
                    continue
                stack.pop()
                serial = node.serial
                if not serial:
                    number += 1
                    node.serial = _Serials.last = len(table)
                    add(number)
                elif not table[serial]:
                    number += 1
                    table[serial] = number
                else:  # it was on the stack twice
                    continue
                put(node)
        if order:
            self._write(order)

    def _write(self, order: list[UOp]) -> None:
        """Writes new nodes, whose numbers follow in this order."""
        if len(self._heads) > _KEPT:
            self._heads, self._alive = {}, []
        count, heads, sources = len(order), self._heads, list(map(_src, order))
        counts = np.fromiter(map(len, sources), np.uint32, count)
        fields = np.empty((count, 6), np.int64)
        for at, field in enumerate((_op, _dtype, _arg, _tag, _origin)):
            fields[:, at] = np.fromiter(map(id, map(field, order)), np.int64, count)
        fields[:, 5] = counts
        keys: list[bytes] = fields.view(_KEY).ravel().tolist()
        for key, node in dict(zip(keys, order, strict=True)).items():
            if key not in heads:
                self._alive += (node.dtype, node.arg, node.tag, node.origin)
                heads[key] = self._head(node)
        numbers = np.fromiter(map(heads.__getitem__, keys), np.uint32, count)
        flat = map(_serial, chain.from_iterable(sources))
        serials = np.fromiter(flat, np.int64, int(counts.sum()))
        src = np.frombuffer(self._table, np.uint32)[serials]
        self._numbers.add_nodes(numbers, counts, src)

    def _head(self, node: UOp) -> int:
        """The number of what a node has apart from its sources."""
        dtype = self._dtypes.get(node.dtype)
        if dtype is None:
            dtype = self._dtypes[node.dtype] = self._numbers.string(str(node.dtype))
        origin = self._origins.get(node.origin)
        if origin is None:
            origin = self._origins[node.origin] = self._numbers.string(node.origin or "")
            self.new_origins.append(node.origin or "")
        arg = 0 if node.arg is None else self._text(node.arg)
        tag = 0 if node.tag is None else self._text(node.tag)
        fields = (self._ops[node.op], dtype, arg, tag, origin, 0, 0)
        return self._numbers.head(fields, len(node.src))

    def _text(self, arg: Any) -> int:
        """The string of an argument. Equal arguments of different types are different ones."""
        kind = arg.__class__
        if kind is tuple:
            kinds = tuple(map(type, arg))
            key = (kinds, arg if _COARSE.isdisjoint(kinds) else repr(arg))
        else:
            key = (kind, repr(arg) if kind is float else arg)
        found = self._args.get(key)
        if found is None:
            if len(self._args) > _KEPT:
                self._args.clear()
            found = self._args[key] = self._encode(arg)
        return found

    def _encode(self, arg: Any) -> int:
        try:
            data = encode_arg(arg)
        except UopvizError:  # a type that has no typed form (a plugin's): shown, never read back
            data = {"repr": repr(arg)[:1000]}
        return self._numbers.string(json.dumps(data, separators=(",", ":")))
