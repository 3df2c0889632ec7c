"""Optimize: decides how a kernel's loops are run, by splitting them.

The choice is a list of Opts: given by the caller, or those that are predicted to be fastest. It is
written into the kernel's info. Afterwards loops have their final kinds and numbers; what is
computed is as before, apart from the order in which reduces combine.
"""

from __future__ import annotations

from dataclasses import replace

from core.helpers import NOOPT
from core.passes.optimize.apply import apply_opt
from core.passes.optimize.choose import choose, predicted_us, settings
from core.passes.optimize.kernel import Kernel, run_by_groups
from core.passes.optimize.merge import merge_loops
from core.passes.optimize.texels import texel_lanes
from core.target import Target
from core.uop import UOp
from core.uop.kernelinfo import KernelInfo, Opt

__all__ = ["Kernel", "apply_opt", "chosen_opts", "optimize", "predicted_us", "prepared", "settings"]


def optimize(sink: UOp, target: Target) -> UOp:
    """The kernel with its loops split and ordered.

    Raises CompileError where an opt of the kernel's info does not apply.
    """
    info = sink.arg if isinstance(sink.arg, KernelInfo) else KernelInfo()
    kernel = prepared(sink, target)
    opts = info.opts_for(target.name)
    if opts is None:
        opts = chosen_opts(kernel)
    else:
        for opt in opts:
            apply_opt(kernel, opt)
    return kernel.numbered().replace(arg=replace(info, opts=opts, found_for=""))


def chosen_opts(kernel: Kernel) -> tuple[Opt, ...]:
    """Applies the opts that a kernel gets by default; returns them in order."""
    return () if NOOPT or kernel.as_written else choose(kernel)


def prepared(sink: UOp, target: Target) -> Kernel:
    """The kernel as it is before the first opt: with loops merged, given to work groups where the
    target has them, and lanes for the texels that are stored."""
    kernel = Kernel(sink, target)
    merge_loops(kernel)
    if target.has_local:
        run_by_groups(kernel)
    if target.image_side:
        texel_lanes(kernel)
    return kernel
