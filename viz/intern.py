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

_KEPT: Final = 50_000
"""Entries of a cache before it is emptied."""
_SPARE: Final = 4096
_serials = itertools.count(1)


class Interner:
    """UOps to node numbers of one trace."""

    def __init__(self, numbers: Numbering) -> None:
        self._numbers = numbers
        self._table = array("I", (0,))
        self._ops = [0] * (max(Ops) + 1)
        for op in Ops:
            self._ops[op] = numbers.string(op.name)
        self._kinds: dict[tuple[object, ...], int] = {}
        """By op, origin, and the identities of dtype, arg and tag, which a rebuilt node shares; a
        plain integer stands for itself."""
        self._alive: list[object] = []
        """What has its identity in a key, so that it means something."""
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
        table, kinds, add, stack, number = self._table, self._kinds, self._numbers.add_node, [u], 0
        while stack:
            node = stack[-1]
            serial = node.serial
            try:
                number = table[serial]
                src = [] if number else [table[s.serial] for s in node.src]
            except IndexError:  # another recording has seen nodes that this one has not
                self._reach(max(serial, *[s.serial for s in node.src]))
                continue
            if not number:
                if 0 in src:
                    stack += [s for s in node.src if not table[s.serial]]
                    continue
                arg = node.arg
                if arg.__class__ is int and node.tag is None:
                    key = (node.op, id(node.dtype), node.origin, arg)
                else:
                    key = (node.op, id(node.dtype), node.origin, id(arg), id(node.tag))
                kind = kinds.get(key)
                if kind is None:
                    kind = kinds[key] = self._kind(node)
                if not serial:
                    serial = node.serial = next(_serials)
                    if serial >= len(table):
                        self._reach(serial)
                number = table[serial] = add(kind, src)
            stack.pop()
        return number

    def _reach(self, serial: int) -> None:
        """Makes room for a serial number, and for some that will follow."""
        missing = serial + _SPARE - len(self._table)
        self._table.frombytes(bytes(self._table.itemsize * missing))

    def _kind(self, u: UOp) -> int:
        string = self._numbers.string
        dtype = string(str(u.dtype))
        arg, tag = [0 if a is None else self._arg(a) for a in (u.arg, u.tag)]
        origin = string(u.origin) if u.origin else 0
        if len(self._kinds) > _KEPT:
            self._kinds.clear()
            self._alive.clear()
        self._alive += (u.dtype, u.arg, u.tag)
        return self._numbers.kind((self._ops[u.op], dtype, arg, tag, origin, 0, 0))

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
