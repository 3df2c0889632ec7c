"""The optimisations of a kernel for a target: those that the compiler chooses, which of the user's
apply, and which could be applied next. Compiles no code and runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.passes.optimize import Kernel, chosen_opts, prepared
from core.passes.optimize.kernel import OUTER
from core.passes.optimize.legal import apply_all, legal_opts
from core.passes.pipeline import BEFORE_OPTS, run_passes
from core.target import Target
from core.uop.kernelinfo import AxisType, KernelInfo, Opt
from core.uop.uop import UOp


def opts_of(ast: UOp, target: Target, opts: Sequence[Opt] | None) -> dict[str, Any]:
    """`KernelOpts` of the page: of `opts`, or of those that the compiler chooses. Raises
    CompileError where the kernel cannot be lowered."""
    sink = run_passes(ast, target, None, BEFORE_OPTS)
    kernel = prepared(sink, target)
    chosen = _chosen(kernel.copied(), sink)
    asked = chosen if opts is None else opts
    why = apply_all(kernel, asked)
    return {
        "target": target.name,
        "chosen": [str(opt) for opt in chosen],
        "opts": [
            {"opt": str(opt), "why": said or ""} for opt, said in zip(asked, why, strict=True)
        ],
        "legal": [str(opt) for opt in legal_opts(kernel)],
        "outer": kernel.sizes(*OUTER),
        "inner": kernel.sizes(AxisType.REDUCE),
    }


def _chosen(kernel: Kernel, sink: UOp) -> tuple[Opt, ...]:
    """What the compiler chooses, or a search or the author of the kernel has chosen."""
    info = sink.arg if isinstance(sink.arg, KernelInfo) else KernelInfo()
    opts = info.opts_for(kernel.target.name)
    return chosen_opts(kernel) if opts is None else opts
