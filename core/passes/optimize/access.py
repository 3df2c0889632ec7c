"""How a kernel's loads and stores move through memory as its loops go on.

Reads strides off the offsets of a lowered kernel. Never changes the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.dtype import DType
from core.passes.address import gate_of
from core.uop import Ops, UOp
from core.uop.pointer import image_of

Strides = Mapping[UOp, int | None]
"""Step of an offset per iteration of a loop; None where it is not always the same."""


@dataclass(frozen=True, slots=True)
class Access:
    """One address: what is there, how it moves, the loops that its gate depends on, and whether it
    is in an image."""

    store: bool
    dtype: DType
    strides: Strides
    gated_by: frozenset[UOp]
    image: bool = False

    def stride(self, loop: UOp) -> int | None:
        """Elements from one iteration of `loop` to the next."""
        return self.strides.get(loop, 0)


def strides_of(offset: UOp) -> Strides:
    """The stride of every loop that the offset depends on."""
    found: dict[UOp, dict[UOp, int | None]] = {}
    for u in offset.toposort():
        steps: dict[UOp, int | None] = {}
        if u.op is Ops.RANGE:
            steps = {u: 1}
        elif u.op is Ops.ADD:
            steps = dict(found[u.src[0]])
            for loop, step in found[u.src[1]].items():
                old = steps.get(loop, 0)
                steps[loop] = None if step is None or old is None else old + step
        elif u.op is Ops.MUL and u.src[1].op is Ops.CONST:
            by = u.src[1].arg
            steps = {r: None if s is None else s * by for r, s in found[u.src[0]].items()}
        elif u.op is Ops.CAST and u.dtype.itemsize >= u.src[0].dtype.itemsize:
            steps = found[u.src[0]]
        else:
            steps = dict.fromkeys(u.ranges)
        found[u] = steps
    return found[offset]


def accesses(sink: UOp) -> list[Access]:
    """Every address of global memory in a lowered kernel, stores first."""
    out: list[Access] = []
    stored = {u.src[0] for u in sink.toposort() if u.op is Ops.STORE}
    for u in sink.toposort():
        if u.op is Ops.INDEX:
            gate = gate_of(u)
            gated_by = frozenset[UOp]() if gate is None else gate.ranges
            image = image_of(u) is not None
            out.append(Access(u in stored, u.dtype.base, strides_of(u.src[1]), gated_by, image))
    return sorted(out, key=lambda a: not a.store)
