"""A linear program as renderers and compilers ask about it: arguments, sizes, positions, errors.

Reads the program and never changes it. Knows no language.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate

from core.dtype import dtypes
from core.errors import RenderError
from core.uop.kernelinfo import AxisType
from core.uop.ops import GroupOp, Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp

_transparent = frozenset({Ops.AFTER, Ops.NOOP})
_block_ends = frozenset({Ops.RANGE, Ops.END, Ops.IF, Ops.ENDIF, Ops.BARRIER})
"""Ops at which a block begins or ends."""


def resolve(u: UOp) -> UOp:
    """The node whose value `u` stands for."""
    while u.op in _transparent:
        u = u.src[0]
    return u


class Listing:
    """A linear program (a list of nodes in the order of execution) and what follows from it."""

    def __init__(self, uops: Sequence[UOp], name: str, language: str) -> None:
        self.uops = tuple(uops)
        self.name = name
        self.language = language
        self.position = {u: i for i, u in enumerate(self.uops)}
        self._divisors: dict[UOp, int] = {}

    @cached_property
    def pointers(self) -> tuple[UOp, ...]:
        """The DEFINE_GLOBALs, by number: the first arguments of the kernel."""
        found = [u for u in self.uops if u.op is Ops.DEFINE_GLOBAL]
        return tuple(sorted(found, key=lambda u: u.arg))

    @cached_property
    def variables(self) -> tuple[UOp, ...]:
        """The DEFINE_VARs, by name: the arguments after the pointers."""
        found = [u for u in self.uops if u.op is Ops.DEFINE_VAR]
        return tuple(sorted(found, key=lambda u: u.arg[0]))

    @cached_property
    def _blocks(self) -> list[int]:
        """By position, how many blocks have begun or ended so far."""
        return list(accumulate(int(u.op in _block_ends) for u in self.uops))

    def same_block(self, u: UOp, user: UOp) -> bool:
        """Whether no block begins or ends between the two."""
        return self._blocks[self.position[u]] == self._blocks[self.position[user]]

    @cached_property
    def thread_range(self) -> UOp | None:
        """The loop that is shared out between the cores of a CPU, if any."""
        for u in self.uops:
            if u.op is Ops.RANGE and u.arg[1] is AxisType.THREAD:
                return u
        return None

    @cached_property
    def stored(self) -> frozenset[UOp]:
        """The DEFINE_GLOBALs that the kernel writes."""
        found = (pointer_of(u.src[0]) for u in self.uops if u.op is Ops.STORE)
        return frozenset(p for p in found if p.op is Ops.DEFINE_GLOBAL)

    @property
    def grid(self) -> tuple[UOp, UOp, UOp]:
        """How many work groups there are along x, y and z: the bounds of the SPECIALs gidx0..2."""
        return self._bounds("gidx")

    @property
    def local_size(self) -> tuple[int, int, int]:
        """How many threads of a work group there are along x, y and z: the bounds of the SPECIALs
        lidx0..2. Raises RenderError for one that is not a constant."""
        bounds = self._bounds("lidx")
        for u in bounds:
            if u.op is not Ops.CONST:
                raise self.error("threads are counted by constants", u)
        x, y, z = (u.arg for u in bounds)
        return x, y, z

    def _bounds(self, prefix: str) -> tuple[UOp, UOp, UOp]:
        one = UOp.const(dtypes.index, 1)
        found = {u.arg: u.src[0] for u in self.uops if u.op is Ops.SPECIAL}
        x, y, z = (found.get(f"{prefix}{axis}", one) for axis in range(3))
        return x, y, z

    @cached_property
    def written(self) -> tuple[UOp, ...]:
        """The nodes that a text is made of: all but those that only say how large a launch is."""
        if all(u.src[0].op is Ops.CONST for u in self.uops if u.op is Ops.SPECIAL):
            return self.uops
        needed: set[UOp] = set()
        for u in reversed(self.uops):
            if u in needed or u.op not in GroupOp.Elementwise:
                needed.update(() if u.op is Ops.SPECIAL else u.src)
        return tuple(u for u in self.uops if u in needed or u.op not in GroupOp.Elementwise)

    def divisor(self, u: UOp) -> int:
        """A number that divides the integer `u` in every iteration; 0 if `u` is always 0."""
        todo = [u]
        while todo:
            node = todo[-1]
            missing = [s for s in node.src if s not in self._divisors]
            if node not in self._divisors and missing and node.op in _divisible:
                todo.extend(missing)
                continue
            self._divisors[todo.pop()] = self._divisor(node)
        return self._divisors[u]

    def _divisor(self, u: UOp) -> int:
        known = self._divisors
        if u.op is Ops.CONST and isinstance(u.arg, int):
            return abs(u.arg)
        if u.op in (Ops.ADD, Ops.SUB, Ops.MAX):
            return math.gcd(known[u.src[0]], known[u.src[1]])
        if u.op is Ops.WHERE:
            return math.gcd(known[u.src[1]], known[u.src[2]])
        if u.op is Ops.MUL:
            return known[u.src[0]] * known[u.src[1]]
        if u.op is Ops.MULACC:
            return math.gcd(known[u.src[0]] * known[u.src[1]], known[u.src[2]])
        if u.op is Ops.SHL and u.src[1].op is Ops.CONST and 0 <= u.src[1].arg < 64:
            return known[u.src[0]] << u.src[1].arg
        if u.op in (Ops.NEG, Ops.CAST, *_transparent):
            return known[u.src[0]]
        return 1

    def lanes_together(self, offset: UOp, itemsize: int, lanes: int, widest: int) -> int:
        """Of `lanes` neighbours from `offset` on, how many one access may take (a power of two):
        the access must be aligned to its size and at most `widest` bytes."""
        together = 1
        divisor = self.divisor(offset)
        while (
            together * 2 <= lanes
            and lanes % (together * 2) == 0
            and together * 2 * itemsize <= widest
            and divisor % (together * 2) == 0
        ):
            together *= 2
        return together

    def error(self, what: str, u: UOp, hint: str = "") -> RenderError:
        """A RenderError that shows the node and where it comes from."""
        here = self.position.get(u, -1)
        names = ", ".join(f"u{self.position[s]}" if s in self.position else "?" for s in u.src)
        arg = "" if u.arg is None else f" arg={u.arg!r}"
        where = (
            f'u{here} = {u.op.name}({names}){arg}  {u.dtype}  (kernel {self.name}, pass "render")'
        )
        if u.origin:
            where += f"\nfrom {u.origin}"
        return RenderError(f"{self.language}: {what}", where, hint)

    def unsupported(self, u: UOp) -> RenderError:
        """The error for a node that the language has no text for."""
        dtype = u.src[0].dtype if u.src and u.dtype.name in ("void", "bool") else u.dtype
        return self.error(
            f"no instruction for {u.op.name} on {dtype}",
            u,
            f"lower {u.op.name} in core/passes/decompose/, or add it to the renderer's tables",
        )


_divisible = frozenset(
    {Ops.ADD, Ops.SUB, Ops.MAX, Ops.WHERE, Ops.MUL, Ops.MULACC, Ops.SHL, Ops.NEG, Ops.CAST}
    | _transparent
)
