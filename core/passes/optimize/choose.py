"""The opts that a kernel gets by default: those that are predicted to be fastest.

One kernel, target, flags and description of the machine give the same opts in every process.
Nothing is compiled or run.
"""

from __future__ import annotations

from typing import Final

from core.errors import CompileError
from core.hardware.host import cpu_for, usable_cores
from core.helpers import BEAM, BEAM_SECONDS, COMPILING, CPU_MACHINE
from core.passes.cost.cpu import predicted
from core.passes.cost.plan import opts_of
from core.passes.cost.plans import candidates
from core.passes.cost.report import choice_report
from core.passes.optimize.apply import apply_opt
from core.passes.optimize.groups import for_groups
from core.passes.optimize.kernel import Kernel
from core.passes.optimize.reading import as_run, read
from core.passes.optimize.tuner import Tuner
from core.uop.engine.observe import attached
from core.uop.kernelinfo import Opt

TRIED: Final = 8
"""Candidates that are applied until one of them can be."""
KIND: Final = "choice"
"""Of the text that says why opts were chosen."""


def settings() -> tuple[int | str, ...]:
    """What code and the choice depend on, besides the kernel and its target."""
    flags = *COMPILING, BEAM, BEAM_SECONDS, CPU_MACHINE
    return *(flag.value for flag in flags), usable_cores()


def choose(kernel: Kernel) -> tuple[Opt, ...]:
    """Applies the opts that are predicted to make the kernel fastest; returns them in order. An
    observer is told why."""
    target = kernel.target
    if target.has_local:
        tuner = Tuner(kernel)
        for_groups(tuner)
        return tuple(tuner.opts)
    nest, cpu = read(kernel), cpu_for(target)
    found = candidates(nest, target, cpu)
    for candidate in found[:TRIED]:
        made, opts = kernel.copied(), opts_of(nest, candidate.plan)
        try:
            for opt in opts:
                apply_opt(made, opt)
        except CompileError:
            continue
        kernel.take(made)
        if (observer := attached()) is not None:
            text = choice_report(nest, found, candidate, target.name, cpu)
            observer.artifact(KIND, target.name, text, (), {})
        return opts
    return ()


def predicted_us(kernel: Kernel) -> float | None:
    """The microseconds that a launch of a kernel is predicted to take, as its opts have made it;
    None where nothing is predicted for its target."""
    if kernel.target.has_local:
        return None
    cpu = cpu_for(kernel.target)
    return predicted(*as_run(kernel), kernel.target, cpu).cycles / cpu.ghz / 1e3
