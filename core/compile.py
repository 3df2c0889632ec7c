"""From a kernel AST and a Target to a Program, with every rewrite on the way observable.

Needs no device: code for any target can be made on any machine. One AST and target always give the
same code, its name included, whatever the process did before. Never runs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from threading import RLock
from typing import Final

from core.dtype import PtrDType
from core.errors import CompileError
from core.garbage import collector_paused
from core.hardware.host import setting_for
from core.helpers import CPU_MACHINE, NOOPT
from core.kernelname import kernel_name
from core.passes.optimize import settings
from core.passes.pipeline import lower_to_text, program_of, run_passes
from core.passes.program.verify import verify_program
from core.render.kinds import SEARCH
from core.render.listing import Listing
from core.render.renderers import Render, rendered_kinds, renderer
from core.target import Family, Target
from core.toolchain.assembled import amd_isa, cpu_assembly
from core.toolchain.estimates import bytes_of, flops_of
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.program import Argument, Artifact, Program
from core.toolchain.sass import sass_of
from core.uop import UOp
from core.uop.call.givenkernel import check_ast
from core.uop.engine.asking import kernel_lines
from core.uop.engine.observe import attached, context
from core.uop.engine.origin import calls_of, lines_in
from core.uop.kernelinfo import Opt
from core.uop.kernels import is_lowered
from core.uop.patterns.policy import in_force, stage
from core.uop.spec.spec import machine_spec, program_spec
from core.uop.uop import line_of

ASSEMBLERS: Final[Mapping[Family, Callable[[Artifact, str, Sequence[UOp]], Artifact]]] = {
    "cpu": cpu_assembly,
    "amd": amd_isa,
}
"""Texts that the bundled LLVM compiles from the first source."""

_compiling: Final = RLock()
"""Held while compiling, so that threads that want one kernel get one object."""


def compile_kernel(
    ast: UOp, target: Target, opts: Sequence[Opt] | None = None, report: str = ""
) -> Program:
    """The program of a kernel AST. The same arguments give the same object, unless a policy is in
    force: programs compiled under one are not cached.

    `opts` are applied instead of those that would be chosen; () applies none. `report`: a text for
    observers on the search that found the opts of the AST. Raises CompileError where a pass fails,
    RenderError where a node cannot be rendered.
    """
    check_ast(ast, "compile_kernel")
    chosen = () if opts is None and NOOPT else None if opts is None else tuple(opts)
    with _compiling:
        applied = in_force()
        if applied is None:
            return _kept(ast, target, chosen, settings(), report)
        with applied.in_kernel(kernel_name(ast)):
            return _compile(ast, target, chosen)


@lru_cache(maxsize=8192)
def _kept(
    ast: UOp,
    target: Target,
    opts: tuple[Opt, ...] | None,
    chosen_by: tuple[int | str, ...],
    report: str,
) -> Program:
    """The program; `chosen_by` are the settings under which opts are chosen."""
    return _compile(ast, target, opts, report)


@collector_paused()
def _compile(ast: UOp, target: Target, opts: tuple[Opt, ...] | None, report: str = "") -> Program:
    name = kernel_name(ast)
    with context(name, "kernel", **_described(ast, target)):
        sink = run_passes(ast, target, None, None, opts)
        kind = rendered_kinds(target.family)[0]
        uops, lowered = _programs(sink, kind, target, name)
        with stage(f"rendering {kind}"):
            source = _artifact(kind, target, lowered, name, renderer(kind))
            program = _program(name, ast, target, uops, lowered, source)
        observer = attached()
        if observer is not None:
            observer.artifact(kind, target.name, source.text, source.lines, source.facts)
            observer.linear(target.name, lowered)
            if report:
                observer.artifact(SEARCH, target.name, report, (), {})
            observer.kernel(ast, program)
            if lines := kernel_lines.of(ast):
                observer.origins(ast, lines)
    return program


def _programs(
    sink: UOp, kind: str, target: Target, name: str
) -> tuple[tuple[UOp, ...], tuple[UOp, ...]]:
    """The linear program of a kernel, and its verified form for one kind of text."""
    own = lower_to_text(sink, kind, target)
    uops = tuple(program_of(sink))
    lowered = uops if own is sink else tuple(program_of(own))
    with stage("the verifier of programs"):
        spec = program_spec if lowered is uops else machine_spec
        verify_program(lowered, target, name, spec)
    return uops, lowered


def _described(ast: UOp, target: Target) -> Mapping[str, object]:
    """What an observer is told of a kernel as it begins; nothing without one."""
    if attached() is None:
        return {}
    told = {"target": target.name, "metadata": _calls(ast)}
    return told if target.has_local else {**told, CPU_MACHINE.name: setting_for(target)}


def _calls(ast: UOp) -> tuple[str, ...]:
    """The user's lines and calls behind a kernel; for one written by hand, its call comes first."""
    known = kernel_lines.of(ast)
    lines = calls_of(ast.toposort(), known.get if known else line_of)
    written = lines_in(known.get(ast, ast.origin)) if is_lowered(ast) else ()
    return tuple(dict.fromkeys((*written, *lines)))


def sources_for(ast: UOp, target: Target, opts: Sequence[Opt] | None = None) -> list[Artifact]:
    """Every text that can be made of a kernel for `target`, on any machine: PTX and CUDA C++ (and
    SASS, where NVIDIA's tools are installed); or LLVM IR, HIP C++ and AMD's ISA; or LLVM IR, C and
    the processor's assembly.

    Raises as `compile_kernel` does.
    """
    program, found = rendered(ast, target, opts)
    (made,) = machine_codes([program])
    if isinstance(made, CompileError):
        raise made
    return found if made is None else with_machine_code(found, made)


def rendered(
    ast: UOp, target: Target, opts: Sequence[Opt] | None = None
) -> tuple[Program, list[Artifact]]:
    """The program of a kernel, and all texts of it that take no tools of NVIDIA's. Raises as
    `compile_kernel` does."""
    check_ast(ast, "sources_for")
    program = compile_kernel(ast, target, opts)
    found = [program.source, *_further(program.source, program.name, program.lowered)]
    others = rendered_kinds(target.family)[1:]
    if others and program.lowered is not program.uops:
        verify_program(program.uops, target, program.name)
    for kind in others:
        found.append(_artifact(kind, target, program.uops, program.name, renderer(kind)))
    return program, found


def machine_codes(programs: Sequence[Program]) -> list[Artifact | CompileError | None]:
    """The SASS of programs for one target, or why NVIDIA's tools refuse them; None for each where
    there is none to make, or the tools are not installed. Many at once cost little more than
    one."""
    families = {program.target.family for program in programs}
    if families != {"nvidia"} or not find_tool("ptxas") or not find_tool("nvdisasm"):
        return [None] * len(programs)
    return [*sass_of(programs)]


def with_machine_code(texts: Sequence[Artifact], made: Artifact) -> list[Artifact]:
    """The texts of a program and its SASS, of which the first, its PTX, has the facts as well."""
    first, *others = texts
    return [replace(first, facts={**first.facts, **made.facts}), *others, made]


def _further(source: Artifact, name: str, uops: Sequence[UOp]) -> list[Artifact]:
    assembler = ASSEMBLERS.get(source.target.family)
    return [assembler(source, name, uops)] if assembler is not None else []


def _artifact(
    kind: str, target: Target, uops: Sequence[UOp], name: str, render: Render
) -> Artifact:
    made = render(uops, name, target)
    lines = tuple(tuple(uops[at] for at in line) for line in made.lines)
    return Artifact(kind, target, made.text, lines, made.facts)


def _program(
    name: str,
    ast: UOp,
    target: Target,
    uops: tuple[UOp, ...],
    lowered: tuple[UOp, ...],
    source: Artifact,
) -> Program:
    listing = Listing(uops, name, source.kind)
    arguments: list[Argument] = []
    for u in listing.pointers:
        size = u.dtype.size if isinstance(u.dtype, PtrDType) else -1
        arguments.append(Argument(u.arg, u.dtype.held, size, u in listing.stored))
    shared = listing.thread_range
    return Program(
        name=name,
        ast=ast,
        target=target,
        uops=uops,
        lowered=lowered,
        source=source,
        arguments=tuple(arguments),
        variables=listing.variables,
        grid=listing.grid,
        local_size=listing.local_size,
        threads=int(shared.src[0].vmax) if shared is not None else 0,
        flops=flops_of(uops),
        bytes=bytes_of(ast),
    )
