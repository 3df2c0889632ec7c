"""The opts that a kernel gets by default: those that are predicted to be fastest.

One kernel, target, flags and description of the machine give the same opts in every process.
Nothing is compiled or run.
"""

from __future__ import annotations

from typing import Final

from core.errors import CompileError
from core.hardware.host import cpu_for, usable_cores
from core.helpers import ALLOW_TF32, BEAM, BEAM_SECONDS, CPU_MACHINE, NOOPT, TC, TC_OPT
from core.passes.cost.plan import opts_of
from core.passes.cost.plans import candidates
from core.passes.optimize.apply import apply_opt
from core.passes.optimize.groups import for_groups
from core.passes.optimize.kernel import Kernel
from core.passes.optimize.reading import read
from core.passes.optimize.tuner import Tuner
from core.uop.kernelinfo import Opt

TRIED: Final = 8
"""Candidates that are applied until one of them can be."""


def settings() -> tuple[int | str, ...]:
    """What the choice depends on, besides the kernel and its target."""
    flags = NOOPT, BEAM, BEAM_SECONDS, TC, TC_OPT, ALLOW_TF32, CPU_MACHINE
    return *(flag.value for flag in flags), usable_cores()


def choose(kernel: Kernel) -> tuple[Opt, ...]:
    """Applies the opts that are predicted to make the kernel fastest; returns them in order."""
    if kernel.target.has_local:
        tuner = Tuner(kernel)
        for_groups(tuner)
        return tuple(tuner.opts)
    nest = read(kernel)
    for candidate in candidates(nest, kernel.target, cpu_for(kernel.target))[:TRIED]:
        made, opts = kernel.copied(), opts_of(nest, candidate.plan)
        try:
            for opt in opts:
                apply_opt(made, opt)
        except CompileError:
            continue
        kernel.take(made)
        return opts
    return ()
