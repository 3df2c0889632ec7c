"""The opts that a kernel gets when nobody says which.

Each choice is applied as soon as it is made, so that the next one sees its effect.
"""

from __future__ import annotations

from core.passes.optimize.groups import for_groups
from core.passes.optimize.kernel import Kernel
from core.passes.optimize.tuner import Tuner
from core.passes.optimize.vectors import for_vectors
from core.uop.kernelinfo import Opt


def heuristic(kernel: Kernel) -> list[Opt]:
    """Applies what is likely to make the kernel fast; returns the opts in order."""
    tuner = Tuner(kernel)
    if kernel.target.has_local:
        for_groups(tuner)
    else:
        for_vectors(tuner)
    return tuner.opts
