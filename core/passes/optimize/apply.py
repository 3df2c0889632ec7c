"""Applying one Opt to a kernel: checks that it is legal, then splits, pads or swaps loops.

An Opt names a loop by its position, outermost first, among those that it can be applied to: loops
over outputs, or (UNROLL, GROUP, GROUPTOP) loops of reduces; PADTO counts outputs, then reduces.

- UPCAST n: n neighbouring iterations become lanes, each with an accumulator of its own.
- UNROLL n: n neighbouring iterations of a reduce are done at once and combined.
- LOCAL n: n neighbouring iterations are threads of one work group.
- GROUP n, GROUPTOP n: n threads of a work group share a reduce, taking turns or each a part of it;
  without work groups, n lanes do, each with an accumulator of its own.
- PADTO n: the loop runs to the next multiple of n; what is beyond its end has no effect.
- SWAP n: exchanges the places of this loop and loop n.
- TC (row, level, use): a tensor core multiplies matrices; see tensor_core.py.
- THREAD 0: the outermost loop is shared out between cores.
- NOLOCALS: no loop may be given to a work group after this.

Raises CompileError, and leaves the kernel as it was, where an opt does not apply. Never picks one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.dtype import dtypes
from core.errors import CompileError
from core.helpers import ceildiv, prod
from core.passes.optimize.access import accesses
from core.passes.optimize.kernel import OUTER, Kernel
from core.passes.optimize.pad import pad_loop
from core.passes.optimize.tensorcores.tensor_core import apply_tensor_core
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.kernelinfo import AxisType, Opt, OptOps
from core.uop.patterns.rule import Assumes

UPCAST_MAX = 16
UNROLL_MAX = 32
LANES_MAX = 256
"""Lanes of one value: more would only make large programs."""
SHARED_ALIGN = 16
"""Bytes that renderers align each array of shared memory to."""

_lanes = (AxisType.UPCAST, AxisType.UNROLL)
_threads = (AxisType.LOCAL, AxisType.WARP, AxisType.GROUP_REDUCE)
_parts = (AxisType.LOCAL, AxisType.WARP, AxisType.UPCAST, AxisType.UNROLL)


def refuse(opt: Opt, why: str, hint: str = "") -> CompileError:
    """The error for an opt that does not apply."""
    return CompileError(f"{opt} does not apply: {why}", hint=hint)


def apply_opt(kernel: Kernel, opt: Opt) -> None:
    """Applies `opt`. Raises CompileError where it does not apply."""
    if opt.op not in _appliers:
        raise refuse(opt, f"{opt.op.name} is not supported here")
    _appliers[opt.op](kernel, opt)


def pick(kernel: Kernel, opt: Opt, *kinds: AxisType) -> UOp:
    """The loop that the opt names."""
    loops = kernel.loops(*kinds)
    if opt.axis is None or not 0 <= opt.axis < len(loops):
        sizes = [r.src[0].arg for r in loops]
        raise refuse(opt, f"the kernel has loops of sizes {sizes}", "axes count from 0")
    return loops[opt.axis]


def amount(opt: Opt, loop: UOp, most: int) -> int:
    """How many iterations the opt takes from the loop."""
    if not isinstance(opt.arg, int) or opt.arg < 0:
        raise refuse(opt, "its amount must be an integer that is not negative")
    size = loop.src[0].arg
    n = opt.arg or size
    if n == 1 or size % n:
        raise refuse(opt, f"{n} does not divide {size} into parts", "PADTO makes a loop longer")
    if n > most:
        raise refuse(opt, f"{n} is more than {most}")
    return n


def _split(kernel: Kernel, opt: Opt, loop: UOp, n: int, kind: AxisType, top: bool = False) -> UOp:
    """Splits the loop, where the kernel then keeps every limit of its target.

    Every opt checks all limits: lanes that are added after threads take as much shared memory as
    lanes that were there before them.
    """
    if kind in _lanes and kernel.lanes(*_lanes) * n > LANES_MAX:
        raise refuse(opt, f"a value would have more than {LANES_MAX} lanes")
    if kind in _threads and kernel.lanes(*_threads) * n > kernel.target.threads_max:
        raise refuse(opt, f"a work group would have {kernel.lanes(*_threads) * n} threads")
    shared = shared_bytes(kernel, loop, n, kind)
    if shared > kernel.target.shared_bytes:
        raise refuse(opt, f"it would take {shared} bytes of shared memory")
    return kernel.split(loop, n, kind, top, f"optimize: {opt}")


def shared_bytes(kernel: Kernel, loop: UOp, n: int, kind: AxisType) -> int:
    """Shared memory that the grouped reduces take once `n` iterations of `loop` are of a kind."""
    total = 0
    for red in kernel.reduces:
        own = red.src[1:]
        grouped = [r for r in own if r.arg[1] is AxisType.GROUP_REDUCE]
        if not grouped and not (kind is AxisType.GROUP_REDUCE and loop in own):
            continue
        # a part for each thread that reduces, for each other thread and for each lane
        parts = prod(r.src[0].arg for r in grouped)
        parts *= prod(r.src[0].arg for r in red.ranges if r.arg[1] in _parts)
        if (loop in own and kind is AxisType.GROUP_REDUCE) or (
            loop in red.ranges and kind in _parts
        ):
            parts *= n
        total += ceildiv(parts * red.dtype.itemsize, SHARED_ALIGN) * SHARED_ALIGN
    return total


def _upcast(kernel: Kernel, opt: Opt) -> None:
    loop = pick(kernel, opt, *OUTER)
    _split(kernel, opt, loop, amount(opt, loop, UPCAST_MAX), AxisType.UPCAST)


def _unroll(kernel: Kernel, opt: Opt) -> None:
    loop = pick(kernel, opt, AxisType.REDUCE)
    _split(kernel, opt, loop, amount(opt, loop, UNROLL_MAX), AxisType.UNROLL)


def _local(kernel: Kernel, opt: Opt) -> None:
    if not kernel.target.has_local:
        raise refuse(opt, f"{kernel.target.name} has no work groups")
    if not kernel.local_allowed:
        raise refuse(opt, "NOLOCALS was applied")
    loop = pick(kernel, opt, *OUTER)
    _split(kernel, opt, loop, amount(opt, loop, kernel.target.threads_max), AxisType.LOCAL)


def _group(kernel: Kernel, opt: Opt) -> None:
    loop = pick(kernel, opt, AxisType.REDUCE)
    users = [red for red in kernel.reduces if loop in red.src[1:]]
    top = opt.op is OptOps.GROUPTOP
    if not kernel.target.has_local:
        made = _split(kernel, opt, loop, amount(opt, loop, UNROLL_MAX), AxisType.UNROLL, top)
        name = "optimize: partial reduces"
        kernel.sink = graph_rewrite(kernel.sink, partial_reduces, made, name=name)
        if not top and _are_neighbours(kernel, made):
            kernel.fastest.add(made)
        return
    if not kernel.local_allowed:
        raise refuse(opt, "NOLOCALS was applied")
    n = amount(opt, loop, kernel.target.threads_max)
    sequential = (AxisType.LOOP, AxisType.REDUCE)
    if any(r.arg[1] in sequential for red in users for r in red.ranges):
        raise refuse(opt, "the reduce is inside another loop")
    if kernel.loops(AxisType.GROUP_REDUCE) and len(kernel.reduces) > 1:
        raise refuse(opt, "the kernel has several reduces")
    _split(kernel, opt, loop, n, AxisType.GROUP_REDUCE, top)
    kernel.group_outside |= top


def _are_neighbours(kernel: Kernel, lanes: UOp) -> bool:
    """Whether lanes of a reduce are neighbours where they are loaded, and no lanes of outputs are
    where these are stored."""
    upcast = kernel.loops(AxisType.UPCAST)
    found = accesses(kernel.sink)
    return any(a.stride(lanes) == 1 for a in found if not a.store) and not any(
        a.stride(loop) == 1 for a in found if a.store for loop in upcast
    )


def _nolocals(kernel: Kernel, opt: Opt) -> None:
    if kernel.loops(AxisType.LOCAL, AxisType.GROUP_REDUCE):
        raise refuse(opt, "the kernel already has loops run by a work group")
    kernel.local_allowed = False


def _thread(kernel: Kernel, opt: Opt) -> None:
    if not kernel.target.simd_bytes:
        raise refuse(opt, f"{kernel.target.name} does not run loops on cores")
    loop = pick(kernel, opt, *OUTER)
    if loop is not kernel.loops(*OUTER)[0]:
        raise refuse(opt, "only the outermost loop can be shared out", "SWAP it there first")
    if any(u.op is Ops.END and loop not in u.src[1:] for u in kernel.sink.toposort()):
        raise refuse(opt, "the kernel has outputs outside that loop")
    n = loop.src[0].arg
    if loop.dtype is not dtypes.int32:
        raise refuse(
            opt, f"a loop of {n} iterations is too long to be shared out", "UPCAST it first"
        )
    if opt.arg not in (0, n):
        raise refuse(opt, f"all {n} iterations are shared out, or none")
    kernel.split(loop, n, AxisType.THREAD, False, f"optimize: {opt}")


def _swap(kernel: Kernel, opt: Opt) -> None:
    loops = kernel.loops(*OUTER)
    a = pick(kernel, opt, *OUTER)
    if not isinstance(opt.arg, int) or not 0 <= opt.arg < len(loops) or loops[opt.arg] is a:
        raise refuse(opt, "its amount must be the position of another loop over outputs")
    kernel.swap(a, loops[opt.arg])


def _padto(kernel: Kernel, opt: Opt) -> None:
    loop = pick(kernel, opt, *OUTER, AxisType.REDUCE)
    if not isinstance(opt.arg, int) or opt.arg < 2:
        raise refuse(opt, "its amount must be an integer above 1")
    size = loop.src[0].arg
    padded = ceildiv(size, opt.arg) * opt.arg
    if padded == size:
        raise refuse(opt, f"{size} is a multiple of {opt.arg} already")
    if padded >= 2 * size + opt.arg:
        raise refuse(opt, f"padding {size} to {padded} would more than double the work")
    if dtypes.index_up_to(padded) is not loop.dtype:
        raise refuse(opt, f"the loop variable does not count to {padded}")
    pad_loop(kernel, loop, padded, f"optimize: {opt}")


_appliers: Mapping[OptOps, Callable[[Kernel, Opt], None]] = {
    OptOps.TC: apply_tensor_core,
    OptOps.UPCAST: _upcast,
    OptOps.UNROLL: _unroll,
    OptOps.LOCAL: _local,
    OptOps.GROUP: _group,
    OptOps.GROUPTOP: _group,
    OptOps.NOLOCALS: _nolocals,
    OptOps.PADTO: _padto,
    OptOps.SWAP: _swap,
    OptOps.THREAD: _thread,
}


@rule(UPat(Ops.REDUCE, name="red"), assumes=(Assumes.CONTEXT,))
def partial_reduce(ctx: UOp, red: UOp) -> UOp | None:
    """reduce(a, r, lanes l) -> reduce(reduce(a, r), l)"""
    rest = tuple(r for r in red.src[1:] if r is not ctx)
    if len(rest) in (0, len(red.src) - 1):
        return None
    return red.rebuild((red.src[0], *rest)).reduce(red.arg, ctx)


partial_reduces = PatternMatcher([partial_reduce], name="optimize: partial reduces")
