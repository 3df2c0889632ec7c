"""Compiles a kernel again, as a variant, and records it as a run of its own. Runs nothing.

Of an edited text nothing is recorded but the text: no pass made it.
"""

from __future__ import annotations

import datetime
import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from core.compile import ASSEMBLERS, compile_kernel, kernel_name
from core.errors import UopvizError
from core.isolation.edited import Edited, with_text
from core.target import Target
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.program import Program
from core.toolchain.sass import sass
from core.uop.engine.observe import context, observing
from core.uop.kernelinfo import KernelInfo
from core.uop.patterns.policy import following, ignoring
from core.uop.uop import UOp
from viz.files.alive import new_run
from viz.format.schema import COMPILER, CORE_DIALECT, EDITED, WHAT_IF
from viz.recording.runinfo import versions
from viz.trace import Recorder
from viz.whatif.variants.variant import EditedText, Variant
from viz.work.opts import opts_text, parse_opts

REGISTERS: Final = ("registers", "vgprs")


@dataclass(frozen=True, eq=False)
class Compiled:
    """A variant: its program, or what the compiler says of it. `matches` is 0 where they were not
    counted. `base`: of an edited text, the program whose text it takes the place of."""

    program: Program | None
    error: UopvizError | None
    matches: int = 0
    base: Program | None = None


def compile_variant(ast: UOp, target: Target, variant: Variant) -> Compiled:
    """Compiles a kernel in another way, or checks the text that stands for it. An error of the
    compiler is in the answer."""
    policy, text = variant.policy, variant.text
    opts = None if variant.opts is None else parse_opts(variant.opts)
    base, matches = None, 0
    try:
        if policy is None:
            base = compile_kernel(ast, target, opts)
        else:
            with following(policy) as applied:
                base = compile_kernel(ast, target, opts)
            matches = applied.matches
        if text is None:
            return Compiled(base, None, matches)
        program = with_text(base, text.device, Edited(text.kind, text.text))
    except UopvizError as error:
        return Compiled(None, error, base=base)
    return Compiled(program, None, matches, base)


def record_text(
    path: Path, ast: UOp, target: Target, name: str, variant: Variant, made: Compiled
) -> None:
    """Records an edited text as a trace in the new file `path`: its kernel, without passes, the
    text, and what is loaded in its place where that is another kind."""
    text = variant.text
    assert text is not None
    info = {**_info(str(variant), [name]), EDITED: [name]}
    recorder = Recorder(path, info=info, user_lines=False)
    try:
        with observing(recorder), context(kernel_name(ast), "kernel", target=target.name):
            recorder.artifact(text.kind, target.name, text.text, (), {})
            program = made.program or made.base
            if made.program is not None and made.program.source.kind != text.kind:
                source = made.program.source
                recorder.artifact(source.kind, target.name, source.text, (), source.facts)
            if program is not None:
                recorder.kernel(ast, program)
    finally:
        recorder.close()


class Recording:
    """Records what compiles in its block into the file `path`; a path of None: nowhere. `kernels`:
    their names."""

    def __init__(self, path: Path | None, title: str, kernels: Sequence[str]) -> None:
        self._recorder = (
            None if path is None else Recorder(path, info=_info(title, kernels), user_lines=False)
        )

    def __enter__(self) -> Recording:
        self._observing = nullcontext() if self._recorder is None else observing(self._recorder)
        self._observing.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._observing.__exit__(*error)
        if self._recorder is not None:
            self._recorder.close()


def _info(title: str, kernels: Sequence[str]) -> Mapping[str, object]:
    return {
        "run": new_run(),
        "started": datetime.datetime.now().astimezone().isoformat(timespec="milliseconds"),
        "compiler": COMPILER,
        "dialect": CORE_DIALECT,
        "python": platform.python_version(),
        "versions": versions(),
        "command": ["uopviz", "what-if", kernels[0] if len(kernels) == 1 else "the run", title],
        WHAT_IF: [*kernels],
    }


def code_facts(program: Program) -> dict[str, Any]:
    """What the machine code of a program takes: {"instructions", "registers"}, None where no tool
    of this machine says it; `opts`: those that were applied; `text`: kind of the source, `lines`
    its length."""
    facts = dict(program.source.facts)
    family = program.target.family
    with ignoring():
        assemble = ASSEMBLERS.get(family)
        if assemble is not None and program.source.kind == "llvm":
            facts |= assemble(program.source, program.name, program.lowered).facts
        elif family == "nvidia" and find_tool("ptxas") and find_tool("nvdisasm"):
            facts |= sass(program).facts
    registers = next((facts[name] for name in REGISTERS if name in facts), None)
    return {
        "instructions": _number(facts.get("instructions")),
        "registers": _number(registers),
        "text": program.source.kind,
        "lines": program.source.text.count("\n"),
    }


def text_facts(program: Program, text: EditedText) -> dict[str, Any]:
    """The same of an edited text: the kind and the lines are those of the text as it was edited.
    Raises CompileError where a tool rejects what a device may still take."""
    return code_facts(program) | {"text": text.kind, "lines": text.text.count("\n")}


def changed_lines(base: Program | None, text: EditedText) -> dict[str, int] | None:
    """How many lines an edited text has more and less than that of the compiler, wherever they
    stand: {"added", "removed"}; None where that is of another kind."""
    if base is None or base.source.kind != text.kind:
        return None
    old, new = (Counter(one.splitlines()) for one in (base.source.text, text.text))
    return {"added": (new - old).total(), "removed": (old - new).total()}


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def applied_opts(program: Program) -> str | None:
    """The optimisations of a program as text; None where its graph does not say."""
    for u in reversed(program.uops):
        if isinstance(u.arg, KernelInfo) and u.arg.opts is not None:
            return opts_text(u.arg.opts)
    return None
