"""The verifier of linear programs: what every renderer may rely on, checked before it renders.

A program is a list of nodes in the order of execution. Every node has types that its op allows
(`program_spec`; `machine_spec` after the passes for one kind of text) and uses only values in
scope: defined before, in a block (a loop or an IF) that is still open. Blocks are closed once, in
order. Addresses lie in their memory, memory fits the target, moves and arithmetic are no wider than
the target's, all threads of a group reach each barrier, and all lanes of a warp each product of
matrices and each exchange of values. Runs on every compile, in time linear in the program. Never
changes a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from core.dtype import TEXEL, AddrSpace, DType, PtrDType, dtypes
from core.errors import CompileError
from core.helpers import UNSAFE_DISABLE_MASK, ceildiv
from core.passes.loops.span import Exactness
from core.passes.optimize.apply import SHARED_ALIGN
from core.target import Target
from core.uop import GroupOp, Ops, PatternMatcher, UOp
from core.uop.call.atlaunch import known_at_launch
from core.uop.pointer import coordinates_of, image_of, is_texel, parts_of_address, pointer_of
from core.uop.show import excerpt
from core.uop.spec.flight import arrives_later
from core.uop.spec.ldmatrix import ROW
from core.uop.spec.spec import program_spec, violation

_SPECIAL: Final = re.compile(r"[gl]idx[0-2]")
_order_only: Final = frozenset({Ops.GROUP, Ops.SINK, Ops.BARRIER, Ops.COMMIT, Ops.WAIT})
"""Ops that only come after their sources and do not use their values."""


@dataclass(slots=True, eq=False)
class Block:
    """The program (opener None), one loop or one IF."""

    opener: UOp | None
    open: bool = True


def verify_program(
    uops: Sequence[UOp], target: Target, name: str, spec: PatternMatcher = program_spec
) -> None:
    """Raises CompileError at the first node of the program of kernel `name` that is invalid, by
    `spec` or by itself."""
    _Verifier(uops, target, name, spec).run()


class _Verifier:
    def __init__(
        self, uops: Sequence[UOp], target: Target, name: str, spec: PatternMatcher
    ) -> None:
        self.uops, self.target, self.name, self.spec = uops, target, name, spec
        self.home: dict[UOp, Block] = {}
        """Where each node so far is defined."""
        self.blocks = [Block(None)]
        self.named: dict[tuple[Ops, object], UOp] = {}
        self.shared_bytes = 0
        self.threads = 1
        self.unread: set[UOp] = set()
        """Shared memory that was written since the last barrier."""
        self.in_flight: set[UOp] = set()
        """Shared memory that was stored to asynchronously since the last wait."""
        self.products: list[UOp] = []
        self.shuffles: list[UOp] = []
        self.exact = Exactness()

    def run(self) -> None:
        """Checks every node."""
        for u in self.uops:
            if u in self.home:
                self.refuse(u, f"{u.op.name} appears twice")
            if (what := violation(u, self.spec)) is not None:
                self.refuse(u, what)
            self.sources(u)
            self.home[u] = self.blocks[-1]
            check = _checks.get(u.op)
            if check is not None:
                check(self, u)
            elif u.op in GroupOp.Elementwise:
                self.arithmetic(u)
        if len(self.blocks) > 1 and (opener := self.blocks[-1].opener) is not None:
            self.refuse(opener, f"{opener.op.name} is never ended")
        for u in self.products:
            if self.threads % u.arg.threads:
                self.refuse(u, f"{self.threads} threads are not whole warps of {u.arg.threads}")

        for u in self.shuffles:
            if self.threads % self.target.wave:
                what = f"{self.threads} threads are not whole warps of {self.target.wave}"
                self.refuse(u, what)

    def refuse(self, u: UOp, what: str) -> NoReturn:
        """Raises the error for a node."""
        at = len(self.home) - (u in self.home)
        raise CompileError(
            f"kernel {self.name}: {what}",
            where=f"node {at} of the linear program for {self.target.name}:\n{excerpt(u)}",
            hint="a pass made an invalid program: record it with VIZ=1 to see which, and report it",
        )

    def sources(self, u: UOp) -> None:
        """Every source is defined before, and every value is still in scope."""
        for at, s in enumerate(u.src):
            home = self.home.get(s)
            if home is None:
                self.refuse(u, f"{s.op.name} is used before it is defined")
            if not home.open and not _orders(u, at):
                block = "program" if home.opener is None else home.opener.op.name
                self.refuse(u, f"{s.op.name} is used after its {block} has ended")

    # blocks

    def begin(self, u: UOp) -> None:
        """RANGE and IF open a block."""
        if u.op is Ops.RANGE and u.src[0].op is Ops.CONST and u.src[0].arg < 0:
            self.refuse(u, f"a loop of {u.src[0].arg} iterations")
        # the loop's variable and what follows belong to the loop
        block = Block(u)
        self.blocks.append(block)
        self.home[u] = block

    def end(self, u: UOp) -> None:
        """END and ENDIF close the innermost block."""
        begun = u.src[1] if u.op is Ops.END else u.src[0]
        if (u.op is Ops.END and len(u.src) != 2) or len(self.blocks) < 2:
            self.refuse(u, f"{u.op.name} does not end exactly one open block")
        if self.blocks[-1].opener is not begun:
            self.refuse(u, f"{u.op.name} ends a block around one still open")
        self.blocks.pop().open = False
        self.home[u] = self.blocks[-1]

    def barrier(self, u: UOp) -> None:
        """All threads of a group execute a barrier equally often."""
        for block in self.blocks:
            opener = block.opener
            if opener is None:
                continue
            if opener.op is Ops.IF:
                self.refuse(u, "a BARRIER in an IF, which some threads may not enter")
            if any(_differs(s) for s in opener.src[0].toposort()):
                self.refuse(u, "a BARRIER in a loop whose length differs between threads")
        self.unread.clear()

    # memory

    def define(self, u: UOp) -> None:
        """Memory has a number of its own, and fits."""
        if self.named.setdefault((u.op, u.arg), u) is not u:
            self.refuse(u, f"two {u.op.name} have the number {u.arg}")
        assert isinstance(u.dtype, PtrDType)
        if u.op is Ops.DEFINE_GLOBAL:
            return
        if u.dtype.size < 1:
            self.refuse(u, "memory without a size")
        if u.op is Ops.DEFINE_LOCAL and self.target.has_local:
            size = u.dtype.size * u.dtype.base.itemsize
            self.shared_bytes += ceildiv(size, SHARED_ALIGN) * SHARED_ALIGN
            if self.shared_bytes > self.target.shared_bytes:
                most = self.target.shared_bytes
                self.refuse(u, f"{self.shared_bytes} bytes of shared memory, {most} at most")

    def special(self, u: UOp) -> None:
        """Hardware indices are those of the target, within its limits."""
        if not self.target.has_local or not _SPECIAL.fullmatch(u.arg):
            self.refuse(u, f"{self.target.name} has no hardware index {u.arg}")
        if self.named.setdefault((u.op, u.arg), u) is not u:
            self.refuse(u, f"two hardware indices {u.arg}")
        n, axis = u.src[0], int(u.arg[-1])
        limits = self.target.global_max if u.arg[0] == "g" else self.target.local_max
        if u.arg[0] == "g" and n.op is not Ops.CONST:
            if not known_at_launch(n) or not 0 <= n.vmin <= n.vmax <= limits[axis]:
                self.refuse(u, f"{u.arg} is not from 0 to {limits[axis]} long, known at launch")
        elif n.op is not Ops.CONST or not 1 <= n.arg <= limits[axis]:
            self.refuse(u, f"{u.arg} is not from 1 to {limits[axis]} long")
        if u.arg[0] == "l":
            self.threads *= n.arg
            if self.threads > self.target.threads_max:
                self.refuse(u, f"{self.threads} threads, {self.target.threads_max} at most")

    def load(self, u: UOp) -> None:
        """A LOAD is at an address in its memory, after the barrier that it needs."""
        place = u.src[0]
        gated = len(u.src) > 2 or (place.op is Ops.INDEX and len(place.src) > 2)
        self.move(u, u.dtype, gated)
        if pointer_of(place) in self.unread:
            self.refuse(u, "shared memory is read without a BARRIER after it was written")

    def store(self, u: UOp) -> None:
        """A STORE is at an address in its memory, without a gate (that is an IF)."""
        place, value = u.src[0], u.src[1]
        if len(u.src) > 2 or (place.op is Ops.INDEX and len(place.src) > 2):
            self.refuse(u, "STORE with a gate")
        self.move(u, value.dtype, self.chosen)
        self.wrote(u)

    @property
    def chosen(self) -> bool:
        """Whether a condition decides about what comes next."""
        return any(b.opener is not None and b.opener.op is Ops.IF for b in self.blocks)

    def wrote(self, u: UOp) -> None:
        """Shared memory was written, or will have been at the next wait."""
        pointer = pointer_of(u.src[0])
        if pointer.op is Ops.DEFINE_LOCAL and self.target.has_local:
            (self.in_flight if arrives_later(u) else self.unread).add(pointer)

    def wait(self, u: UOp) -> None:
        """What was stored asynchronously has arrived; other threads see it after a barrier."""
        self.unread |= self.in_flight
        self.in_flight.clear()

    def copy(self, u: UOp) -> None:
        """A COPY_ASYNC is one that the target has, without a gate (that is an IF)."""
        to, source, taken, *gates = u.src
        if gates:
            self.refuse(u, "COPY_ASYNC with a gate")
        if u.arg not in self.target.async_bytes:
            self.refuse(u, f"{self.target.name} has no copies of {u.arg} bytes")
        for at, place in enumerate((to, source)):
            base = pointer_of(place).dtype.base
            if u.arg % base.itemsize:
                self.refuse(u, f"{u.arg} bytes of elements of {base.itemsize}")
            partly = place is source and taken.op is not Ops.CONST
            self.move(u, base.vec(u.arg // base.itemsize), self.chosen or partly, at)
        self.wrote(u)

    def move(self, u: UOp, moved: DType, gated: bool, at: int = 0) -> None:
        """What is moved lies in its memory, and is no wider than a move of the target. Source `at`
        is its address."""
        address, pointer = u.src[at], pointer_of(u.src[at])
        if pointer.op not in GroupOp.Defines or not isinstance(pointer.dtype, PtrDType):
            self.refuse(u, f"{u.op.name} at {pointer.op.name}, which is not memory")
        if pointer.dtype.image is not None and self.target.image_side:
            self.texel(u, address, moved, gated)
            return
        item, size = pointer.dtype.base.itemsize, pointer.dtype.size
        if pointer.dtype.addrspace is not AddrSpace.REG and moved.count > 1 \
                and moved.itemsize > self.target.vector_bytes:  # fmt: skip
            most = self.target.vector_bytes
            self.refuse(u, f"{moved.itemsize} bytes at once, {most} at most")
        offsets, start = parts_of_address(address)
        for offset, _ in offsets:
            if offset.dtype.count != 1:
                self.refuse(u, f"{u.op.name} at {offset.dtype.count} offsets at once")
        if size < 0 or gated or UNSAFE_DISABLE_MASK:
            return
        if len(offsets) > 1 or start % item or any(step != item for _, step in offsets):
            self.refuse(u, f"{u.op.name} at an address that is no element of its memory")
        lanes, first = moved.itemsize // item, start // item
        offset = offsets[0][0] if offsets else UOp.const(dtypes.index, 0)
        if self.exact.outside(offset, lanes, size, first):
            low, high = int(offset.vmin) + first, int(offset.vmax) + first + lanes - 1
            self.refuse(u, f"elements {low} to {high} of memory with {size} elements")

    def texel(self, u: UOp, address: UOp, moved: DType, gated: bool) -> None:
        """What is moved is one texel; where it is stored, in its image. Outside, 0 is read."""
        image, at = image_of(address), address.src[1]
        if image is None or moved.count != TEXEL or not is_texel(address):
            self.refuse(u, f"{u.op.name} of {moved.count} elements, which is no texel")
        sides = image.width, image.height
        for side, coordinate in zip(sides, coordinates_of(at), strict=True):
            if u.op is Ops.STORE and not gated and self.exact.outside(coordinate, 1, side):
                low, high = int(coordinate.vmin), int(coordinate.vmax)
                self.refuse(u, f"texels {low} to {high} of an image with {side}")

    # values

    def product(self, u: UOp) -> None:
        """A WMMA is of one tile, one that the target has, and whole warps run it."""
        if u.arg not in self.target.tensor_cores:
            self.refuse(u, f"{self.target.name} has no {u.arg}")
        tile = u.arg.c.count * u.arg.dtype_out.itemsize
        if u.dtype.itemsize != tile:
            self.refuse(u, f"a WMMA of {u.dtype.itemsize // tile} tiles")
        self.products.append(u)
        for block in self.blocks:
            opener = block.opener
            if opener is not None and any(_differs(s) for s in opener.src[0].toposort()):
                self.refuse(u, f"a WMMA in a block ({opener.op.name}) that differs between threads")

    def shuffle(self, u: UOp) -> None:
        """A SHUFFLE is of one element, between lanes of whole warps that all run it."""
        if u.arg >= self.target.wave:
            self.refuse(u, f"{self.target.name} has no lanes {u.arg} apart")
        if u.dtype.count != 1:
            self.refuse(u, f"a SHUFFLE of {u.dtype.count} elements")
        self.together(u)

    def together(self, u: UOp) -> None:
        """All lanes of whole warps run it."""
        self.shuffles.append(u)
        for block in self.blocks:
            opener = block.opener
            if opener is not None and any(_differs(s) for s in opener.src[0].toposort()):
                what = f"{u.op.name} in a block ({opener.op.name}) that differs between threads"
                self.refuse(u, what)

    def matrices(self, u: UOp) -> None:
        """An LDMATRIX is of whole warps that all run it, of rows in its memory, after the barrier
        that it needs."""
        if not self.target.ldmatrix:
            self.refuse(u, f"{self.target.name} has no LDMATRIX")
        self.together(u)
        self.move(u, pointer_of(u.src[0]).dtype.base.vec(ROW), False)
        if pointer_of(u.src[0]) in self.unread:
            self.refuse(u, "shared memory is read without a BARRIER after it was written")

    def arithmetic(self, u: UOp) -> None:
        """Arithmetic is no wider than the target's."""
        if u.op is Ops.BITCAST and u.dtype.count != u.src[0].dtype.count:
            return  # a word and what it holds
        lanes = max(u.dtype.count, *(s.dtype.count for s in u.src)) if u.src else u.dtype.count
        if lanes > 1 and self.target.alu_lanes(dtypes.uint8) == 1:
            self.refuse(u, f"{u.op.name} of {lanes} lanes, on a target without vector arithmetic")


def _orders(u: UOp, at: int) -> bool:
    """Whether source `at` only orders execution."""
    return u.op in _order_only or (u.op is Ops.AFTER and at > 0) or (u.op is Ops.END and at == 0)


def _differs(u: UOp) -> bool:
    """Whether threads of one group may see different values here."""
    return u.op in (Ops.LOAD, Ops.LDMATRIX) or (u.op is Ops.SPECIAL and u.arg[0] == "l")


_checks: Final[Mapping[Ops, Callable[[_Verifier, UOp], None]]] = {
    Ops.RANGE: _Verifier.begin,
    Ops.IF: _Verifier.begin,
    Ops.END: _Verifier.end,
    Ops.ENDIF: _Verifier.end,
    Ops.BARRIER: _Verifier.barrier,
    Ops.DEFINE_GLOBAL: _Verifier.define,
    Ops.DEFINE_LOCAL: _Verifier.define,
    Ops.DEFINE_REG: _Verifier.define,
    Ops.SPECIAL: _Verifier.special,
    Ops.LOAD: _Verifier.load,
    Ops.STORE: _Verifier.store,
    Ops.COPY_ASYNC: _Verifier.copy,
    Ops.WAIT: _Verifier.wait,
    Ops.WMMA: _Verifier.product,
    Ops.SHUFFLE: _Verifier.shuffle,
    Ops.LDMATRIX: _Verifier.matrices,
}
