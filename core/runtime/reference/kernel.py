"""`evaluate_kernel`: runs a kernel as it is between any two passes, on NumPy arrays.

It is told what a kernel does by the ops that it consists of, and by nothing else: views are
evaluated by their definition, every other graph as arrays over all iterations of its loops at once
(axes.py), each node once. Loops in which an iteration needs memory of another one run in sequence.
So one machine runs a graph with loops of every kind, vectors of any width, hardware indices, shared
memory, matrix instructions and operations of one machine, whatever pass it comes from; and a linear
program, which brings its own order. The compiler could bring any graph into an order that can be
run, but then a pass that is wrong could be wrong in both of what is compared. Slow, and right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from core.errors import RunError
from core.runtime.numeric import Array, memory_dtype
from core.runtime.reference.evaluate.addresses import memory_of
from core.runtime.reference.evaluate.machine import Machine
from core.runtime.reference.evaluate.memory import CarriedError, Owners
from core.runtime.reference.evaluate.order import STORES
from core.runtime.reference.evaluate.plan import Plan, kept_plan
from core.runtime.reference.evaluate.shaped import evaluate_ast
from core.uop.call.givenkernel import check_stage
from core.uop.ops import Ops
from core.uop.uop import UOp

Buffers = Mapping[int, Array] | Sequence[Array]
_ELEMENT: Final = 8
"""Bytes of the largest element."""
_MOST: Final = 1 << 31
"""Bytes that the values of a kernel may take in all, where a caller sets no limit."""
_lowered: Final = frozenset({Ops.INDEX, Ops.RANGE, Ops.SPECIAL, Ops.ADDRESS})
"""What no AST holds."""


def evaluate_kernel(
    root: UOp | Sequence[UOp],
    buffers: Buffers,
    variables: Mapping[str, int] | None = None,
    room: int | None = None,
) -> None:
    """Runs a kernel at any stage: the SINK of an AST or of what a pass made of it, or a linear
    program. `buffers[n]` is the flat memory of DEFINE_GLOBAL n, in the dtype that
    `numeric.memory_dtype` names; it is changed in place. `variables` has the values of DEFINE_VARs.

    Raises RunError for a node that it cannot run, an access outside of memory, memory that is
    missing, a variable without a value or outside of its bounds, and where it would take more than
    `room` bytes (without it, 2 GiB) apart from `buffers`.
    """
    check_stage(root, "evaluate_kernel")
    given = dict(variables or {})
    program = root if isinstance(root, UOp) else tuple(root)
    nodes = program.toposort() if isinstance(program, UOp) else program
    _check_arguments(nodes, buffers, given)
    if isinstance(program, UOp) and _is_ast(nodes):
        evaluate_ast(program, buffers, given, room)
        return
    launch = tuple(sorted(given.items()))
    plan = kept_plan(program, launch, False)
    _check_room(plan, room)
    if not plan.checked:
        _run(plan, buffers, given)
        return
    written = {int(memory_of(u.src[0]).arg): u for u in plan.nodes if _writes_global(u)}
    before = {number: buffers[number].copy() for number in written}
    try:
        _run(plan, buffers, given)
    except CarriedError:
        for number, values in before.items():
            buffers[number][:] = values
        _run(kept_plan(program, launch, True), buffers, given)


def evaluations(root: UOp, variables: Mapping[str, int] | None = None) -> int:
    """How many nodes are evaluated one after the other to run a graph: about 25 microseconds each,
    and more where arrays are large. Raises RunError as `evaluate_kernel`."""
    nodes = root.toposort()
    if _is_ast(nodes):
        return len(nodes)
    return kept_plan(root, tuple(sorted((variables or {}).items())), False).evaluations


def _is_ast(nodes: Iterable[UOp]) -> bool:
    """Whether all that is stored are shaped values."""
    return not any(
        u.op in _lowered or (u.op is Ops.STORE and u.src[0].op is not Ops.VIEW) for u in nodes
    )


def _run(plan: Plan, buffers: Buffers, variables: Mapping[str, int]) -> None:
    owners = {
        memory: Owners(buffers[memory.arg].shape[-1])
        for memory, axes in plan.apart.items()
        if axes and memory.op is Ops.DEFINE_GLOBAL
    }
    for piece in plan.pieces():
        Machine(plan, piece, buffers, variables, owners).run()


def _writes_global(u: UOp) -> bool:
    return u.op in STORES and memory_of(u.src[0]).op is Ops.DEFINE_GLOBAL


def _check_room(plan: Plan, room: int | None) -> None:
    largest = max((plan.elements(piece) for piece in plan.pieces()), default=0)
    needed = largest * _ELEMENT
    if needed > (_MOST if room is None else room):
        raise RunError(f"the reference would need {needed:,} bytes more than the arguments",
                       hint="verify this kernel at a smaller size")  # fmt: skip


def _check_arguments(
    nodes: Sequence[UOp] | Mapping[UOp, None], buffers: Buffers, variables: Mapping[str, int]
) -> None:
    for u in nodes:
        if u.op is Ops.DEFINE_GLOBAL:
            _check_memory(u, buffers)
        elif u.op is Ops.DEFINE_VAR:
            name, low, high = u.arg
            if name not in variables:
                raise RunError(f"the kernel needs a value for {name}", hint="bind it")
            if not low <= variables[name] <= high:
                raise RunError(
                    f"{name} is {variables[name]}",
                    hint=f"the kernel was made for {low} to {high}",
                )


def _check_memory(u: UOp, buffers: Buffers) -> None:
    number, dtype = u.arg, u.dtype.held
    there = number in buffers if isinstance(buffers, Mapping) else 0 <= number < len(buffers)
    if not there:
        raise RunError(f"the kernel's argument {number} has no memory", hint=f"it is of {dtype}")
    held = buffers[number]
    if held.dtype != memory_dtype(dtype) or held.ndim != 1:
        raise RunError(
            f"the kernel's argument {number} is of {dtype}, its memory of {held.dtype} with "
            f"{held.ndim} axes",
            hint=f"give it a flat array of {memory_dtype(dtype)}",
        )
