"""Checks of a kernel written by hand against the parameters that it is called with.

What is wrong for every target is reported here, at the call, with the node and the line that made
it; what only compiling can find is left to the passes. Never changes a kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NoReturn

from core.dtype import PtrDType
from core.errors import CompileError
from core.passes.loops.span import Exactness
from core.target import Target
from core.uop import GroupOp, Ops, UOp
from core.uop.call.givenkernel import hint
from core.uop.call.kernelcall import Parameter
from core.uop.kernelinfo import KernelInfo
from core.uop.kernels import is_lowered
from core.uop.pointer import pointer_of
from core.uop.show import excerpt
from core.uop.spec.spec import index_spec, violation


def check_written(
    ast: object,
    parameters: Sequence[Parameter],
    outputs: int,
    variables: Collection[UOp],
    target: Target,
    name: str,
) -> UOp:
    """`ast`, which is a kernel of loops and single elements: it stores to each of the first
    `outputs` of its parameters, reads all others, and uses no other variables than `variables`.

    Raises CompileError, which names the function `name` that built it, for anything else, for a
    loop that is never ended, and for an access that must be outside of its memory.
    """
    if not isinstance(ast, UOp) or ast.op is not Ops.SINK or not ast.src:
        shown = f"{ast.op.name} {ast.dtype}" if isinstance(ast, UOp) else type(ast).__name__
        raise CompileError(
            f"{name} returned {shown}, which is no kernel",
            hint=hint(
                ast, "return UOp.sink(...) of what is stored, each store ended: store.end(i)"
            ),
        )
    if not is_lowered(ast) or not (ast.arg is None or isinstance(ast.arg, KernelInfo)):
        raise CompileError(
            f"{name} returned a SINK of something else than loops and single elements",
            where=excerpt(ast),
            hint="a store is at an element, as in out[i].store(x[i].load()).end(i); the SINK's arg "
            "is a KernelInfo",
        )
    _Check(ast, parameters, outputs, variables, target, name).run()
    return ast


class _Check:
    def __init__(
        self,
        ast: UOp,
        parameters: Sequence[Parameter],
        outputs: int,
        variables: Collection[UOp],
        target: Target,
        name: str,
    ) -> None:
        self.ast, self.parameters, self.outputs = ast, parameters, outputs
        self.variables, self.target, self.name = variables, target, name
        self.stored: set[int] = set()
        self.read: set[int] = set()
        self.exact = Exactness()

    def run(self) -> None:
        """Checks every node, and then what is stored and read."""
        for u in self.ast.toposort():
            if (what := violation(u, index_spec)) is not None:
                self.refuse(u, what, "the ops of a kernel of loops are listed in docs/ir.md")
            if u.op is Ops.DEFINE_GLOBAL:
                self.parameter(u)
            elif u.op in (Ops.LOAD, Ops.STORE):
                self.access(u)
            elif u.op is Ops.DEFINE_VAR and u not in self.variables:
                self.refuse(
                    u, f"variable {u.arg[0]} is not given", "give it a value: variables=[v.bind(5)]"
                )
            elif u.op is Ops.SPECIAL and not self.target.has_local:
                self.refuse(
                    u,
                    f"{self.target.name} has no hardware index {u.arg}",
                    "write loops (RANGE) for it: the kernel is built with its target",
                )
        if self.ast.ranges:
            loop = min(self.ast.ranges, key=lambda r: r.arg[:-1])
            self.refuse(loop, f"loop {loop.arg[0]} is never ended", "end it: store.end(i)")
        self.missing(range(self.outputs), self.stored, "output", "stores nothing in")
        rest = range(self.outputs, len(self.parameters))
        self.missing(rest, self.read, "input", "does not read")

    def refuse(self, u: UOp, what: str, hint: str) -> NoReturn:
        """Raises the error for a node."""
        raise CompileError(f"{self.name}: {what}", where=excerpt(u), hint=hint)

    def parameter(self, u: UOp) -> None:
        """An argument is one of the parameters."""
        count = len(self.parameters)
        if not 0 <= u.arg < count:
            self.refuse(
                u,
                f"there is no parameter {u.arg} among {count}",
                "outputs are numbered first, then inputs, from 0",
            )
        own = self.parameters[u.arg]
        if u is not own.pointer:
            self.refuse(
                u,
                f"parameter {u.arg} is {own.pointer.dtype}, and the kernel takes it as {u.dtype}",
                "take the parameter's own .pointer, or one of its dtype and size",
            )

    def access(self, u: UOp) -> None:
        """Checks that only outputs are stored to, and that accesses are inside of their memory."""
        place = u.src[0]
        pointer = pointer_of(place)
        if pointer.op not in GroupOp.Defines or not isinstance(pointer.dtype, PtrDType):
            self.refuse(u, f"{u.op.name} at {pointer.op.name}, which is no memory", "index memory")
        if pointer.op is not Ops.DEFINE_GLOBAL:
            return
        number: int = pointer.arg
        if u.op is Ops.LOAD:
            self.read.add(number)
        elif number < self.outputs:
            self.stored.add(number)
        else:
            self.refuse(
                u,
                f"it stores in input {number - self.outputs}",
                "a kernel changes no Tensor: make what it stores an output",
            )
        gates = (*place.src[2:], *(u.src[2:] if u.op is Ops.STORE else ()))
        if place.op is not Ops.INDEX or gates:
            return
        value, offset = u if u.op is Ops.LOAD else u.src[1], place.src[1]
        lanes, size = value.dtype.count, pointer.dtype.size
        if offset.dtype.count == 1 and self.exact.outside(offset, lanes, size):
            low, high = int(offset.vmin), int(offset.vmax) + lanes - 1
            self.refuse(
                u,
                f"elements {low} to {high} of parameter {number}, which has {size}",
                "shorten a loop, or gate the access: p.at(i, gate=i < n)",
            )

    def missing(self, numbers: range, used: set[int], kind: str, what: str) -> None:
        """Raises the error for the first parameter that is not used."""
        for number in numbers:
            if number not in used:
                own = self.parameters[number]
                raise CompileError(
                    f"{self.name} {what} {kind} {number - numbers.start}: "
                    f"{own.dtype} of shape {own.shape}",
                    where=excerpt(self.ast),
                    hint="every parameter is used by the kernel: leave out what it does not need",
                )
