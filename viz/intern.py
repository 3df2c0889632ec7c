"""Numbers UOps in a trace, at the moment they are seen: every node is written once, after its
sources.

Holds no node: each carries a serial number of its own (`UOp.serial`), and a table says which number
of the trace that is. Safe to call from any thread. Never recurses.
"""

from __future__ import annotations

import itertools
import json
from array import array
from typing import Any, Final

from core.errors import UopvizError
from core.uop.args import encode_arg
from core.uop.ops import Ops
from core.uop.uop import UOp
from viz.numbering import LOCK, Numbering

Fields = tuple[int, int, int, int, int, int, int]
"""op, dtype, arg, tag, origin, loc, extra of a node: string numbers."""
_KEPT: Final = 50_000
"""Entries of a cache before it is emptied."""
_serials = itertools.count(1)


class Interner:
    """UOps to node numbers of one trace."""

    def __init__(self, numbers: Numbering) -> None:
        self._numbers = numbers
        self._table = array("I", (0,))
        self._ops = [0] * (max(Ops) + 1)
        for op in Ops:
            self._ops[op] = numbers.string(op.name)
        self._fields: dict[tuple[int, int, int, int, str | None], tuple[Fields, Any]] = {}
        """By op, the identity of dtype, arg and tag, and origin: a rebuilt node shares them all."""
        self._args: dict[Any, int] = {}
        self._sizes: dict[int, int] = {}

    def __call__(self, u: UOp) -> int:
        """The number of `u`."""
        serial = u.serial
        if serial < len(self._table) and (found := self._table[serial]):
            return found
        with LOCK:
            return self._new(u)

    def size(self, u: UOp) -> int:
        """Nodes of the graph of `u`; asked again for the same node, it costs no walk."""
        number = self(u)
        found = self._sizes.get(number)
        if found is None:
            if len(self._sizes) > _KEPT:
                self._sizes.clear()
            seen, stack = {u}, [u]
            while stack:
                for s in stack.pop().src:
                    if s not in seen:
                        seen.add(s)
                        stack.append(s)
            found = self._sizes[number] = len(seen)
        return found

    def _new(self, u: UOp) -> int:
        table, stack, number = self._table, [u], 0
        known = len(table)
        while stack:
            node = stack[-1]
            serial = node.serial
            if serial < known and (number := table[serial]):
                stack.pop()
                continue
            src: list[int] = []
            for s in node.src:
                below = s.serial
                if below < known and (number := table[below]):
                    src.append(number)
                else:
                    stack.append(s)
            if stack[-1] is not node:
                continue
            if not serial:
                serial = node.serial = next(_serials)
            if serial >= known:
                table.frombytes(bytes(table.itemsize * (serial + 1 - known)))
                known = serial + 1
            number = table[serial] = self._numbers.add_node(self._fields_of(node), src)
            stack.pop()
        return number

    def _fields_of(self, u: UOp) -> Fields:
        key = (u.op, id(u.dtype), id(u.arg), id(u.tag), u.origin)
        found = self._fields.get(key)
        if found is None:
            string = self._numbers.string
            dtype = string(str(u.dtype))
            arg = 0 if u.arg is None else self._arg(u.arg)
            tag = 0 if u.tag is None else self._arg(u.tag)
            origin = string(u.origin) if u.origin else 0
            if len(self._fields) > _KEPT:
                self._fields.clear()
            fields = (self._ops[u.op], dtype, arg, tag, origin, 0, 0)
            alive = (u.dtype, u.arg, u.tag)  # an identity means something as long as they live
            found = self._fields[key] = fields, alive
        return found[0]

    def _arg(self, arg: Any) -> int:
        """The string of an argument. Equal arguments of different types are different ones."""
        kind = arg.__class__
        key = (kind, repr(arg) if kind is tuple or kind is float else arg)
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
