"""Which opts apply to a kernel as it is, found by trying each on a copy. Never picks one.

Amounts are those that people use: small numbers and powers of two that divide a loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from core.errors import CompileError
from core.passes.optimize.apply import UNROLL_MAX, UPCAST_MAX, apply_opt
from core.passes.optimize.kernel import OUTER, Kernel
from core.uop.kernelinfo import AxisType, Opt, OptOps
from core.uop.patterns.policy import ignoring

AMOUNTS: Final = (2, 3, 4, 5, 6, 8, 16, 32, 64, 128, 256)
_MULTIPLES: Final = (4, 8, 16, 32)
"""Of which PADTO makes a loop longer."""
_GROUPED: Final = (OptOps.GROUP, OptOps.GROUPTOP)
_PRODUCTS: Final = 3
"""Ways to use tensor cores that are offered, with the instruction that loses no precision."""
_LOSSLESS: Final = (-1, 2, 1)


def legal_opts(kernel: Kernel) -> list[Opt]:
    """The opts that can be applied next, by kind and loop. Leaves the kernel as it is."""
    return [opt for opt in _candidates(kernel) if why_not(kernel.copied(), opt) is None]


def apply_all(kernel: Kernel, opts: Sequence[Opt]) -> list[str | None]:
    """Applies opts in order; for each, None, or why it does not apply, which leaves it out."""
    return [why_not(kernel, opt) for opt in opts]


def why_not(kernel: Kernel, opt: Opt) -> str | None:
    """Applies one opt, and says why where that is not possible."""
    try:
        with ignoring():
            apply_opt(kernel, opt)
    except CompileError as error:
        return error.what
    return None


def _candidates(kernel: Kernel) -> Iterator[Opt]:
    target = kernel.target
    outer, inner = kernel.sizes(*OUTER), kernel.sizes(AxisType.REDUCE)
    if target.tensor_cores and inner:
        yield from (Opt(OptOps.TC, choice, _LOSSLESS) for choice in range(_PRODUCTS))
    for axis, size in enumerate(outer):
        yield from (Opt(OptOps.UPCAST, axis, n) for n in _parts(size, UPCAST_MAX))
    for axis, size in enumerate(inner):
        yield from (Opt(OptOps.UNROLL, axis, n) for n in _parts(size, UNROLL_MAX))
    if target.has_local:
        for axis, size in enumerate(outer):
            yield from (Opt(OptOps.LOCAL, axis, n) for n in _parts(size, target.threads_max))
    most = target.threads_max if target.has_local else UNROLL_MAX
    for op in _GROUPED:
        for axis, size in enumerate(inner):
            yield from (Opt(op, axis, n) for n in _parts(size, most))
    for axis, size in enumerate((*outer, *inner)):
        yield from (Opt(OptOps.PADTO, axis, n) for n in _MULTIPLES if size % n)
    for a in range(len(outer)):
        yield from (Opt(OptOps.SWAP, a, b) for b in range(a + 1, len(outer)))
    if outer and target.simd_bytes:
        yield Opt(OptOps.THREAD, 0, 0)
    if target.has_local:
        yield Opt(OptOps.NOLOCALS)


def _parts(size: int, most: int) -> list[int]:
    """Amounts that divide a loop of this size; the whole of it, where it is short."""
    found = [n for n in AMOUNTS if n <= most and size % n == 0]
    return found if size in found or not 1 < size <= most else [*found, size]
