"""The opts that a kernel gets by default.

Each choice is applied as soon as it is made, so that the next one sees its effect.
"""

from __future__ import annotations

from core.helpers import ALLOW_TF32, BEAM, BEAM_SECONDS, NOOPT, TC, TC_OPT
from core.passes.optimize.groups import for_groups
from core.passes.optimize.kernel import Kernel
from core.passes.optimize.tuner import Tuner
from core.passes.optimize.vectors import for_vectors
from core.uop.kernelinfo import Opt


def settings() -> tuple[int, ...]:
    """The flags that the choice depends on, besides the kernel and its target."""
    flags = NOOPT, BEAM, BEAM_SECONDS, TC, TC_OPT, ALLOW_TF32
    return tuple(flag.value for flag in flags)


def heuristic(kernel: Kernel) -> list[Opt]:
    """Applies what is likely to make the kernel fast; returns the opts in order."""
    tuner = Tuner(kernel)
    if kernel.target.has_local:
        for_groups(tuner)
    else:
        for_vectors(tuner)
    return tuner.opts
