"""Numbers UOps in a trace: every node is written once, after its sources.

Holds nodes weakly, so that recording never keeps a program's buffers alive. Never recurses.
"""

from __future__ import annotations

import json
import weakref
from typing import Any

from core.dtype import DType
from core.errors import UopvizError
from core.uop.args import encode_arg
from core.uop.ops import Ops
from core.uop.uop import UOp
from viz.numbering import Numbering


class Interner:
    """UOps to node numbers of one trace."""

    def __init__(self, numbers: Numbering) -> None:
        self._numbers = numbers
        self._ids: dict[weakref.ref[UOp], int] = {}
        self._forget = self._ids.__delitem__
        self._ops = {op: numbers.string(op.name) for op in Ops}
        self._dtypes: dict[int, tuple[DType, int]] = {}
        self._args: dict[Any, int] = {}
        self.memo: dict[int, int] = {}
        """Numbers by `id`: a lookup takes a quarter of that of a weak reference. Valid as long as
        whoever calls keeps the nodes alive, and to be cleared before they may die."""

    def __call__(self, u: UOp) -> int:
        """The number of `u`."""
        memo, ids, ref = self.memo, self._ids, weakref.ref
        found = memo.get(id(u))
        if found is not None:
            return found
        stack = [u]
        while stack:
            node = stack[-1]
            known = ids.get(ref(node))
            if known is None:
                src: list[int] = []
                for s in node.src:
                    number = memo.get(id(s))
                    if number is None:
                        stack.append(s)
                    else:
                        src.append(number)
                if stack[-1] is not node:
                    continue
                known = ids[ref(node, self._forget)] = self._number(node, src)
            memo[id(node)] = known
            stack.pop()
        return memo[id(u)]

    def _number(self, u: UOp, src: list[int]) -> int:
        dtype = self._dtypes.get(id(u.dtype))
        if dtype is None:
            dtype = self._dtypes[id(u.dtype)] = u.dtype, self._numbers.string(str(u.dtype))
        arg = 0 if u.arg is None else self._arg(u.arg)
        tag = 0 if u.tag is None else self._arg(u.tag)
        origin = self._numbers.string(u.origin) if u.origin else 0
        return self._numbers.add_node(self._ops[u.op], dtype[1], arg, tag, origin, 0, 0, src)

    def _arg(self, arg: Any) -> int:
        """The string of an argument. Equal arguments of different types are different ones."""
        kind = arg.__class__
        key = (kind, repr(arg) if kind is tuple or kind is float else arg)
        found = self._args.get(key)
        if found is None:
            if len(self._args) > 100_000:
                self._args.clear()
            found = self._args[key] = self._encode(arg)
        return found

    def _encode(self, arg: Any) -> int:
        try:
            data = encode_arg(arg)
        except UopvizError:  # a type that has no typed form (a plugin's): shown, never read back
            data = {"repr": repr(arg)[:1000]}
        return self._numbers.string(json.dumps(data, separators=(",", ":")))
