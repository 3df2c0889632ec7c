"""Kernels of loops and single elements on the reference device: kernels written by hand.

They are brought into execution order by the few passes that give loops, lanes and work items their
meaning, and then run op by op (linear.py). Nothing is simplified, optimized or decomposed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from core.dtype import PtrDType
from core.errors import RunError
from core.helpers import prod
from core.passes.contract import run_table
from core.passes.final import gates_to_ifs
from core.passes.linearize import linearize
from core.passes.pipeline import PASSES
from core.runtime.numeric import Array
from core.runtime.reference.linear import MAX_LANES, evaluate_linear
from core.target import Target
from core.uop.kernels import length_of
from core.uop.ops import GroupOp, Ops
from core.uop.policy import ignoring
from core.uop.uop import UOp

_MEANING: Final = ("expand", "grouped", "gpudims", "reduce", "final", "loops")
"""Passes without which a graph of loops cannot be put in order."""
_PASSES: Final = tuple(step for step in PASSES if step.name in _MEANING)
INTERPRETER: Final = Target(
    "reference",
    "cpu",
    "reference",
    "NumPy, op by op",
    GroupOp.ALU | {Ops.CAST, Ops.BITCAST},
    vector_bytes=1 << 16,
    simd_bytes=1 << 16,
    has_local=True,
    shared_bytes=1 << 30,
    global_max=(1 << 31, 1 << 31, 1 << 31),
    local_max=(1 << 16, 1 << 16, 1 << 16),
    threads_max=MAX_LANES,
)
"""What the reference runs, as data: every op, and work groups of one thread after the other."""


@lru_cache(maxsize=256)
def program_of(kernel: UOp) -> tuple[UOp, ...]:
    """A kernel of loops in execution order. Raises CompileError where it cannot be ordered."""
    with ignoring():  # a policy changes what is compiled, never what it is compared with
        return tuple(gates_to_ifs(linearize(run_table(_PASSES, kernel, INTERPRETER))))


def evaluate_loops(
    kernel: UOp,
    buffers: Mapping[int, Array] | Sequence[Array],
    variables: Mapping[str, int],
    room: int | None = None,
) -> None:
    """Runs a kernel of loops on `buffers`, which it changes. Raises RunError for an access outside
    a buffer, or where it takes more than `room` bytes apart from `buffers`."""
    program = program_of(kernel)
    if room is not None and (needed := loop_bytes(program)) > room:
        raise RunError(f"the reference would need {needed:,} bytes more than the arguments",
                       hint="verify this kernel at a smaller size")  # fmt: skip
    evaluate_linear(program, buffers, variables)


def loop_bytes(program: Sequence[UOp]) -> int:
    """An upper bound of the bytes that running a linear program takes, apart from its arguments."""
    items = prod(length_of(u) for u in program if u.op is Ops.SPECIAL)
    lanes = max(1, min(items, MAX_LANES))
    total = 0
    for u in program:
        if u.op in (Ops.DEFINE_LOCAL, Ops.DEFINE_REG) and isinstance(u.dtype, PtrDType):
            total += lanes * max(0, u.dtype.size) * 8
        else:
            total += lanes * max(1, u.dtype.count) * 8
    return total
