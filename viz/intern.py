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
        self._ints: dict[int, int] = {}
        self._texts: dict[str, int] = {}

    def __call__(self, u: UOp) -> int:
        """The number of `u`."""
        get, ref = self._ids.get, weakref.ref
        found = get(ref(u))
        if found is not None:
            return found
        stack = [u]
        while stack:
            node = stack[-1]
            src: list[int] = []
            for s in node.src:
                known = get(ref(s))
                if known is None:
                    stack.append(s)
                else:
                    src.append(known)
            if stack[-1] is node:
                stack.pop()
                if get(ref(node)) is None:
                    self._ids[ref(node, self._forget)] = self._number(node, tuple(src))
        return self._ids[ref(u)]

    def _number(self, u: UOp, src: tuple[int, ...]) -> int:
        dtype = self._dtypes.get(id(u.dtype))
        if dtype is None:
            dtype = self._dtypes[id(u.dtype)] = u.dtype, self._numbers.string(str(u.dtype))
        arg = 0 if u.arg is None else self._arg(u.arg)
        tag = 0 if u.tag is None else self._arg(u.tag)
        origin = self._numbers.string(u.origin) if u.origin else 0
        return self._numbers.node((self._ops[u.op], dtype[1], arg, tag, origin, 0, 0, src))

    def _arg(self, arg: Any) -> int:
        kind = arg.__class__
        if kind is int:
            found = self._ints.get(arg)
            if found is None:
                found = self._ints[arg] = self._encode(arg)
            return found
        if kind is str:
            found = self._texts.get(arg)
            if found is None:
                found = self._texts[arg] = self._encode(arg)
            return found
        return self._encode(arg)

    def _encode(self, arg: Any) -> int:
        try:
            data = encode_arg(arg)
        except UopvizError:  # a type that has no typed form (a plugin's): shown, never read back
            data = {"repr": repr(arg)[:1000]}
        return self._numbers.string(json.dumps(data, separators=(",", ":")))
