"""Compiles a kernel again, as a variant, and records it as a run of its own. Runs nothing."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from core.compile import ASSEMBLERS, compile_kernel
from core.errors import UopvizError
from core.target import Target
from core.toolchain.nvidia_tools import find_tool
from core.toolchain.program import Program
from core.toolchain.sass import sass
from core.uop.kernelinfo import KernelInfo
from core.uop.observe import observing
from core.uop.policy import following, ignoring
from core.uop.uop import UOp
from viz.files.alive import new_run
from viz.format.schema import COMPILER, WHAT_IF
from viz.recording.runinfo import versions
from viz.trace import Recorder
from viz.whatif.variant import Variant
from viz.work.opts import opts_text, parse_opts

REGISTERS: Final = ("registers", "vgprs")


@dataclass(frozen=True, eq=False)
class Compiled:
    """A variant: its program, or what the compiler says of it. `matches` is 0 where they were not
    counted."""

    program: Program | None
    error: UopvizError | None
    matches: int = 0


def compile_variant(ast: UOp, target: Target, variant: Variant) -> Compiled:
    """Compiles a kernel in another way. An error of the compiler is in the answer."""
    policy = variant.policy
    opts = None if variant.opts is None else parse_opts(variant.opts)
    try:
        if policy is None:
            return Compiled(compile_kernel(ast, target, opts), None)
        with following(policy) as applied:
            return Compiled(compile_kernel(ast, target, opts), None, applied.matches)
    except UopvizError as error:
        return Compiled(None, error)


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
        if (assemble := ASSEMBLERS.get(family)) is not None:
            facts |= assemble(program.source, program.name, program.lowered).facts
        elif family == "nvidia" and find_tool("ptxas") and find_tool("nvdisasm"):
            facts |= sass(program.source, program.name, program.lowered).facts
    registers = next((facts[name] for name in REGISTERS if name in facts), None)
    return {
        "instructions": _number(facts.get("instructions")),
        "registers": _number(registers),
        "text": program.source.kind,
        "lines": program.source.text.count("\n"),
    }


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None


def applied_opts(program: Program) -> str | None:
    """The optimisations of a program as text; None where its graph does not say."""
    for u in reversed(program.uops):
        if isinstance(u.arg, KernelInfo) and u.arg.opts is not None:
            return opts_text(u.arg.opts)
    return None
