"""The passes that a kernel goes through, in order, and the functions that run them.

Adding a pass is adding a row. A kernel is entered where its graph is: shaped values at the first
pass, loops and single elements (kernels written by hand) at the one after `lower`. Never decides
anything about a kernel itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import core.passes.guarantees as given
import core.passes.ptx.guarantees as ptx
import core.passes.wgsl.guarantees as wgsl
from core.helpers import SPEC
from core.passes.contract import Pass, position, run_table
from core.passes.decompose import decompose
from core.passes.loops.collapse import collapse
from core.passes.loops.gpudims import gpudims
from core.passes.loops.grouped import grouped
from core.passes.loops.loops import loops
from core.passes.loops.reduce import reduce
from core.passes.loops.stage import stage
from core.passes.loops.trim import trim
from core.passes.lower import lower
from core.passes.optimize import optimize
from core.passes.program.final import final, gates_to_ifs
from core.passes.program.linearize import linearize
from core.passes.ptx import casts, copies, memory, operands, operations
from core.passes.simplify import simplify
from core.passes.vectors.devectorize import devectorize
from core.passes.vectors.expand import expand
from core.passes.vectors.loadstore import loadstore
from core.passes.wgsl import narrowed, pairs
from core.passes.wgsl import operations as wgsl_operations
from core.target import Target
from core.uop import Ops, UOp
from core.uop.kernelinfo import KernelInfo, Opt
from core.uop.kernels import is_lowered
from core.uop.patterns.policy import stage as stage_of
from core.uop.spec.spec import ast_spec, index_spec, machine_spec, verify

_VALUES: Final = "what is stored where"
_ORDER: Final = "what is stored where, and how loops are run"


def _simplify(after: str) -> Pass[Target]:
    return Pass(f"simplify: {after}", simplify, _ORDER, "no symbolic rule applies", index_spec)


PASSES: Final[tuple[Pass[Target], ...]] = (
    Pass(
        "lower",
        lower,
        _VALUES,
        "no node has a shape: loops and single elements only",
        index_spec,
        (Ops.VIEW, Ops.REDUCE_AXIS, Ops.IOTA),
        leaves=(given.MEMORY,),
    ),
    _simplify("lower"),
    Pass(
        "collapse",
        collapse,
        "integers exactly; sums of floats may be rounded less often",
        "no reduce has a loop that its value does not need",
        index_spec,
        leaves=(given.NEEDED_LOOPS,),
    ),
    _simplify("collapse"),
    Pass(
        "optimize",
        optimize,
        "what is stored where, up to the order in which reduces combine",
        "loops have their final kinds; their numbers order the nest",
        index_spec,
        leaves=(given.LOOPS,),
    ),
    _simplify("optimize"),
    Pass(
        "trim",
        trim,
        _VALUES,
        "a reduce over an axis whose length is a variable ends there, where its loop is not shared "
        "by threads or lanes; a store that variables limit runs over work groups and elements "
        "within the limits",
        index_spec,
    ),
    Pass(
        "stage",
        stage,
        _ORDER,
        "what rows of a tile read from far apart comes from a panel nearby",
        index_spec,
    ),
    Pass(
        "expand",
        expand,
        _VALUES,
        "no UPCAST or UNROLL loop: their iterations are lanes of vectors",
        index_spec,
        (Ops.UNROLL, Ops.CONTRACT),
        leaves=(given.NO_LANES,),
    ),
    Pass(
        "grouped",
        grouped,
        _VALUES,
        "no REDUCE over a GROUP_REDUCE loop: shared memory and barriers",
        index_spec,
        leaves=(given.IN_SEQUENCE,),
    ),
    Pass(
        "gpudims",
        gpudims,
        _VALUES,
        "no parallel loop on a GPU: SPECIAL indices",
        index_spec,
        leaves=(given.HARDWARE,),
    ),
    Pass(
        "reduce",
        reduce,
        "the order in which loops and lanes combine",
        "no REDUCE: accumulators in registers",
        index_spec,
        (Ops.REDUCE,),
    ),
    Pass(
        "loadstore",
        loadstore,
        _ORDER,
        "each INDEX has one offset and one gate",
        index_spec,
        leaves=(given.ONE_OFFSET, given.MOVES, given.GATES),
    ),
    Pass(
        "devectorize",
        devectorize,
        _ORDER,
        "no arithmetic wider than the target's",
        index_spec,
        leaves=(given.LANES,),
    ),
    _simplify("devectorize"),
    Pass(
        "decompose",
        decompose,
        "values up to the accuracy that docs/numerics.md states",
        "every op and dtype of arithmetic is one that the target has",
        index_spec,
        leaves=(given.OPERATIONS, given.CONVERSIONS),
    ),
    Pass(
        "final",
        final,
        _ORDER,
        "gated LOADs, and only these, have an alternative; the gate of a store is the STORE's",
        index_spec,
        leaves=(given.ALTERNATIVES, given.STORE_GATES, given.SINGLE_LANES),
    ),
    Pass(
        "loops",
        loops,
        "what an iteration does",
        "each RANGE has one END",
        index_spec,
        leaves=(given.ONE_LOOP, given.ENDED_ONCE),
    ),
)
"""Each pass with its contract; `keeps` and `guarantees` are the columns of docs/passes.md."""

TEXT_PASSES: Final[Mapping[str, tuple[Pass[Target], ...]]] = MappingProxyType(
    {
        "ptx": (
            Pass(
                "ptx: operations",
                operations,
                _ORDER,
                "every operation is one that PTX has an instruction for",
                machine_spec,
                leaves=(
                    ptx.PREDICATES,
                    ptx.IN_16_BITS,
                    ptx.SHIFTS,
                    ptx.DIVISIONS,
                    ptx.HALVES,
                    ptx.MAXIMA,
                ),
            ),
            Pass(
                "ptx: casts",
                casts,
                _ORDER,
                "every cast is one instruction, or none",
                machine_spec,
                leaves=(ptx.NO_BOOLS, ptx.CASTS),
            ),
            Pass(
                "ptx: copies",
                copies,
                _ORDER,
                "an asynchronous store of what is loaded is a copy, where the target has it",
                machine_spec,
            ),
            Pass(
                "ptx: memory",
                memory,
                _ORDER,
                "a load or store is one instruction; the gate of a load is its predicate",
                machine_spec,
                leaves=(ptx.MOVES, ptx.GATES, ptx.WORDS),
            ),
            Pass(
                "ptx: operands",
                operands,
                _ORDER,
                "an address in memory is a register and a constant, in bytes",
                machine_spec,
                leaves=(ptx.ADDRESSES, ptx.BITS),
            ),
        ),
        "wgsl": (
            Pass(
                "wgsl: operations",
                wgsl_operations,
                _ORDER,
                "every operation on 32 bits is one that WGSL has; no float64",
                machine_spec,
                leaves=(
                    wgsl.NO_FLOAT64,
                    wgsl.IN_32_BITS,
                    wgsl.SHIFTS,
                    wgsl.DIVISIONS,
                    wgsl.REMAINDERS,
                    wgsl.NANS,
                ),
            ),
            Pass(
                "wgsl: narrow",
                narrowed,
                _ORDER,
                "what bounds prove to fit 32 bits is computed in 32",
                machine_spec,
                leaves=(wgsl.INDICES, wgsl.REMAINDERS),
            ),
            Pass(
                "wgsl: pairs",
                pairs,
                _ORDER,
                "no arithmetic of 64 bits: pairs of words",
                machine_spec,
                leaves=(wgsl.PAIRS,),
            ),
        ),
    }
)
"""By kind of text: the passes that follow for it alone, so that its renderer looks lines up."""

BEFORE_OPTS: Final = PASSES[position(PASSES, "optimize") - 1].name
"""The pass before the one that applies opts."""
LOWERED: Final = PASSES[1].name
"""Where a kernel of loops and single elements enters."""


def run_passes(
    sink: UOp,
    target: Target,
    start: str | None = None,
    stop: str | None = None,
    opts: Sequence[Opt] | None = None,
) -> UOp:
    """The graph of a kernel after the passes from `start` to `stop`, both included.

    Without `start`, the kernel enters where its graph is: see `entry`. `opts` are applied instead
    of those that would be chosen; () applies none. With SPEC=1 every graph on the way is
    verified. Raises CompileError for a name that is no pass, where the kernel cannot be lowered, or
    where an opt does not apply.
    """
    if opts is not None:
        info = sink.arg if isinstance(sink.arg, KernelInfo) else KernelInfo()
        sink = sink.replace(arg=replace(info, opts=tuple(opts), found_for=""))
    start = start or entry(sink)
    if start != PASSES[0].name:
        return run_table(PASSES, sink, target, start, stop)
    if SPEC:
        verify(sink, ast_spec, "kernel")
    return run_table(PASSES, sink, target, None, stop)


def entry(sink: UOp) -> str:
    """The pass at which a kernel begins: the first for shaped values, the one after `lower` for
    loops and single elements."""
    return LOWERED if is_lowered(sink) else PASSES[0].name


def lower_kernel(
    ast: UOp, target: Target, opts: Sequence[Opt] | None = None, start: str | None = None
) -> list[UOp]:
    """The linear program of a kernel for `target`. Arguments and errors as for `run_passes`."""
    return program_of(run_passes(ast, target, start, None, opts))


def program_of(sink: UOp) -> list[UOp]:
    """The linear program of a kernel that went through the passes."""
    with stage_of("linearize"):
        return gates_to_ifs(linearize(sink))


def lower_to_text(sink: UOp, kind: str, target: Target) -> UOp:
    """What a kernel that went through all passes is for one kind of text; itself where that has no
    passes of its own. Raises as `run_passes` does."""
    passes = TEXT_PASSES.get(kind, ())
    return run_table(passes, sink, target) if passes else sink
