"""GPU dims: GLOBAL, LOCAL and GROUP_REDUCE loops become hardware indices.

The loops of a kind are laid over at most as many dimensions as the target has, the last loop on
the first (fastest) dimension: neighbours are merged while there are too many, and a dimension
larger than the target's limit is split. Afterwards those loops are SPECIAL indices, decoded by
division where dimensions were merged. Sizes of a grid may be given at launch: those loops have a
dimension each. Never changes a loop that runs in sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from core.dtype import dtypes
from core.errors import CompileError
from core.helpers import prod
from core.passes.view_index import ravel, unravel
from core.target import Target
from core.uop import Ops, PatternMatcher, UOp, UPat, graph_rewrite, rule
from core.uop.call.atlaunch import known_at_launch
from core.uop.kernelinfo import AxisType
from core.uop.patterns.rule import Assumes

_grid = (AxisType.GLOBAL,)
_group = (AxisType.LOCAL, AxisType.WARP, AxisType.GROUP_REDUCE)


def dimensions(sizes: Sequence[int], limits: Sequence[int]) -> tuple[int, ...]:
    """Sizes of hardware dimensions (fastest first) that hold row-major loops of `sizes`.

    Raises CompileError where the limits cannot hold them.
    """
    dims = [n for n in reversed(sizes) if n != 1]
    while len(dims) > len(limits):  # merge the pair with the smallest product
        at = min(range(len(dims) - 1), key=lambda k: dims[k] * dims[k + 1])
        dims[at : at + 2] = [dims[at] * dims[at + 1]]
    if all(n <= limit for n, limit in zip(dims, limits, strict=False)):
        return tuple(dims)
    split = _split(_primes(dims), tuple(limits))
    if split is None:
        raise CompileError(
            f"loops of sizes {tuple(sizes)} do not fit dimensions of at most {tuple(limits)}",
            hint="give some of the loops to UPCAST, fewer to LOCAL, or make them longer by PADTO",
        )
    return split


def _primes(sizes: Iterable[int]) -> tuple[int, ...]:
    """The prime factors of all the sizes, in order."""
    found: list[int] = []
    for n in sizes:
        p = 2
        while p * p <= n:
            while n % p == 0:
                found.append(p)
                n //= p
            p += 1 if p == 2 else 2
        if n > 1:
            found.append(n)
    return tuple(sorted(found))


def _split(primes: tuple[int, ...], limits: tuple[int, ...]) -> tuple[int, ...] | None:
    """Products of the primes within the limits, the first as large as possible."""
    if not primes:
        return ()
    if not limits or prod(primes) > prod(limits):
        return None
    groups: dict[int, tuple[int, ...]] = {1: ()}  # a product, and the primes that make it
    for p in primes:
        larger = {n * p: (*group, p) for n, group in groups.items() if n * p <= limits[0]}
        groups = {**larger, **groups}
    for factor in sorted(groups, reverse=True):
        left = list(primes)
        for p in groups[factor]:
            left.remove(p)
        rest = _split(tuple(left), limits[1:])
        if rest is not None:
            return (factor, *rest) if factor > 1 else rest
    return None


def hardware_indices(loops: Sequence[UOp], letter: str, limits: Sequence[int]) -> dict[UOp, UOp]:
    """For each loop (outermost first) its value in terms of SPECIALs named `letter`idx0, ... Raises
    CompileError where the limits cannot hold them."""
    if any(loop.src[0].op is not Ops.CONST for loop in loops):
        return _given_at_launch(loops, letter, limits)
    sizes = [loop.src[0].arg for loop in loops]
    dims = dimensions(sizes, limits)
    specials = [UOp.special(n, f"{letter}idx{k}") for k, n in enumerate(dims)][::-1]
    if list(reversed(dims)) == [n for n in sizes if n != 1]:
        found = iter(specials)
        zero = UOp.const(dtypes.index, 0)
        values = [next(found) if n != 1 else zero for n in sizes]
    else:
        values = unravel(ravel(specials, dims[::-1]), sizes)
    return {loop: value.cast(loop.dtype) for loop, value in zip(loops, values, strict=True)}


def _given_at_launch(loops: Sequence[UOp], letter: str, limits: Sequence[int]) -> dict[UOp, UOp]:
    """The same for loops of which some have a size that is given at launch: each has a dimension of
    its own."""
    found: dict[UOp, UOp] = {}
    for axis, loop in enumerate(reversed(loops)):
        bound = loop.src[0]
        constant = bound.op is Ops.CONST or (letter == "g" and known_at_launch(bound))
        if axis >= len(limits) or not constant or not 0 <= bound.vmax <= limits[axis]:
            shown = ", ".join(x.src[0].render() for x in loops)
            raise CompileError(
                f"parallel loops of sizes {shown}",
                hint=f"of work groups, sizes may be made of variables: at most {len(limits)} such "
                f"loops, of at most {tuple(limits)}; give the others to LOOP",
            )
        found[loop] = UOp.special(bound, f"{letter}idx{axis}").cast(loop.dtype)
    return found


@rule(UPat(Ops.RANGE, name="r"), assumes=(Assumes.CONTEXT,))
def hardware_range(ctx: Mapping[UOp, UOp], r: UOp) -> UOp | None:
    """range(n) run by the hardware -> gidx0, lidx0, ..."""
    return ctx.get(r)


@rule(UPat((Ops.END, Ops.REDUCE), name="x"), assumes=(Assumes.CONTEXT,))
def end_in_sequence(ctx: Mapping[UOp, UOp], x: UOp) -> UOp | None:
    """end(a, hardware range, r) -> end(a, r)"""
    rest = tuple(r for r in x.src[1:] if r not in ctx)
    if len(rest) == len(x.src) - 1:
        return None
    return x.src[0].end(*rest) if x.op is Ops.END else x.rebuild((x.src[0], *rest))


hardware = PatternMatcher([end_in_sequence, hardware_range], name="gpudims")


def gpudims(sink: UOp, target: Target) -> UOp:
    """The kernel with hardware indices in place of parallel loops."""
    loops = [u for u in sink.toposort() if u.op is Ops.RANGE]
    loops.sort(key=lambda r: r.arg[0])
    ctx: dict[UOp, UOp] = {}
    for kinds, letter, limits in (
        (_grid, "g", target.global_max),
        (_group, "l", target.local_max),
    ):
        chosen = [r for r in loops if r.arg[1] in kinds]
        if chosen:
            ctx.update(hardware_indices(chosen, letter, limits))
    if not ctx:
        return sink
    return graph_rewrite(sink, hardware, ctx, bottom_up=True, name="gpudims")
