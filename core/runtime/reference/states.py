"""The states of a kernel: what it is after each of its passes, down to the program that text is
made of. `evaluate_kernel` runs every one of them.

Runs the passes; evaluates nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.passes.contract import position, run_table
from core.passes.pipeline import PASSES, TEXT_PASSES, entry, program_of
from core.render.renderers import rendered_kinds
from core.target import Target
from core.uop.call.givenkernel import check_ast
from core.uop.kernelinfo import KernelInfo, Opt
from core.uop.uop import UOp


@dataclass(frozen=True, slots=True)
class State:
    """A kernel after a step: "ast", the name of a pass, "linear", the name of a pass for one kind
    of text, or "linear ptx" and the like; a graph, or a program in execution order."""

    name: str
    root: UOp | tuple[UOp, ...]


def kernel_states(ast: UOp, target: Target, opts: Sequence[Opt] | None = None) -> Iterator[State]:
    """The states of a kernel compiled for `target`, the AST first; including those of passes that
    change nothing. Arguments and errors as for `compile_kernel`."""
    check_ast(ast, "kernel_states")
    if opts is not None:
        info = ast.arg if isinstance(ast.arg, KernelInfo) else KernelInfo()
        ast = ast.replace(arg=replace(info, opts=tuple(opts), found_for=""))
    yield State("ast", ast)
    graph = ast
    for step in PASSES[position(PASSES, entry(ast)) :]:
        graph = run_table((step,), graph, target)
        yield State(step.name, graph)
    yield State("linear", tuple(program_of(graph)))
    kind = rendered_kinds(target.family)[0]
    passes = TEXT_PASSES.get(kind, ())
    for step in passes:
        graph = run_table((step,), graph, target)
        yield State(step.name, graph)
    if passes:
        yield State(f"linear {kind}", tuple(program_of(graph)))
