"""How far a kernel has come: shaped values, or loops and single elements; and what it stores.

Nothing here assumes that a kernel is STOREs of VIEWs: kernels written by hand come in as loops.
Never makes a node.
"""

from __future__ import annotations

from math import prod
from weakref import WeakKeyDictionary

from core.dtype import AddrSpace, PtrDType
from core.uop.kernelinfo import AxisType
from core.uop.ops import Ops
from core.uop.pointer import pointer_of
from core.uop.uop import UOp

_REDUCING = (AxisType.REDUCE, AxisType.GROUP_REDUCE, AxisType.UNROLL)


def is_lowered(root: UOp) -> bool:
    """Whether this is a kernel of loops and single elements: nothing in it has a shape. Looks at
    what the root holds only."""
    return root.op is Ops.SINK and all(
        s.op in (Ops.END, Ops.GROUP) or (s.op is Ops.STORE and s.src[0].op is Ops.INDEX)
        for s in root.src
    )


def stores_of(sink: UOp) -> list[UOp]:
    """The STOREs to global memory of a kernel at any stage, sources first."""
    return [u for u in sink.toposort() if u.op is Ops.STORE and _is_global(u.src[0])]


def read_arguments(sink: UOp) -> frozenset[int]:
    """The numbers of the arguments that a kernel, at any stage, reads."""
    loads = (u for u in sink.toposort() if u.op in (Ops.LOAD, Ops.LDMATRIX))
    pointers = (pointer_of(u.src[0]) for u in loads)
    return frozenset(int(p.arg) for p in pointers if p.op is Ops.DEFINE_GLOBAL)


def stored_in_part(ast: UOp) -> frozenset[int]:
    """The numbers of the arguments of a kernel of shaped values that it stores as far as variables
    say; behind that, they stay as they are."""
    if ast.op is not Ops.SINK or is_lowered(ast):
        return frozenset()
    return frozenset(
        int(place.src[0].arg)
        for place, value in (store.src for store in ast.src)
        if value.op is Ops.WHERE
        and value.src[2].op is Ops.LOAD
        and value.src[2].src[0] is place
        and any(u.op is Ops.DEFINE_VAR for u in value.src[0].toposort())
    )


def output_count(ast: UOp) -> int:
    """How many of a kernel's arguments, the first ones, it writes: one for each STORE of shaped
    values, one for a COPY; of loops, each memory that it stores to. Looked up once per AST."""
    if ast.op is not Ops.SINK:
        return 1
    if not is_lowered(ast):
        return len(ast.src)
    if (known := _outputs.get(ast)) is None:
        known = _outputs[ast] = len({pointer_of(u.src[0]) for u in stores_of(ast)})
    return known


_outputs: WeakKeyDictionary[UOp, int] = WeakKeyDictionary()


def sizes_of(sink: UOp) -> tuple[list[int], list[int]]:
    """The sizes of a kernel: of its largest output, and of what is reduced.

    Of shaped values, the axes; of loops, the loops around the store and all others. A loop whose
    length is not constant counts with the most iterations it may have.
    """
    order = sink.toposort()
    if not is_lowered(sink):
        shapes = [list(u.src[0].arg.shape) for u in order if u.op is Ops.STORE]
        reduced: list[int] = []
        for u in order:
            if u.op is Ops.REDUCE_AXIS:
                shape = u.src[0].shape or ()
                axes: tuple[int, ...] = u.arg[1]
                reduced += [shape[i] for i in axes]
        return max(shapes, key=prod, default=[]), reduced
    special = [u for u in order if u.op is Ops.SPECIAL]
    around = [sorted(u.ranges, key=_number) for u in stores_of(sink)]
    outer = max(around, key=lambda loops: prod(map(length_of, loops)), default=[])
    inner = [u for u in order if u.op is Ops.RANGE and not any(u in loops for loops in around)]
    grown = [u for u in outer if _kind(u) in _REDUCING]
    outer = [u for u in outer if u not in grown]
    by_number = sorted([*inner, *grown], key=_number)
    return [length_of(u) for u in (*special, *outer)], [length_of(u) for u in by_number]


def length_of(loop: UOp) -> int:
    """The most iterations that a RANGE has, or work items that a SPECIAL counts."""
    return max(0, int(loop.src[0].vmax))


def _number(loop: UOp) -> tuple[int, ...]:
    return tuple(loop.arg[:-1])


def _kind(loop: UOp) -> AxisType:
    return loop.arg[-1]


def _is_global(place: UOp) -> bool:
    dtype = place.dtype
    return isinstance(dtype, PtrDType) and dtype.addrspace is AddrSpace.GLOBAL


def work_of(state: UOp) -> int:
    """About how many operations a state takes."""
    total = 0
    for u in state.toposort():
        count = 1
        if u.op is Ops.REDUCE_AXIS or u.op is Ops.STORE:
            shape = u.src[0].shape if u.src[0].op is not Ops.INDEX else None
            for n in shape or ():
                count *= n
        loops = [r for r in u.ranges if r.op is Ops.RANGE]
        if u.op in (Ops.REDUCE, Ops.END):
            loops += [r for r in u.src[1:] if r.op is Ops.RANGE and r not in loops]
        for r in loops:
            count *= max(1, int(r.vmax) + 1)
        total = max(total, count * max(1, u.dtype.count))
    return total
