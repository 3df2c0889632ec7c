"""The optimisations of a kernel for a target: those that the compiler chooses, which of the user's
apply, and which could be applied next. Compiles no code and runs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.helpers import NOOPT
from core.passes.optimize import Kernel, heuristic, prepared
from core.passes.optimize.kernel import OUTER
from core.passes.optimize.legal import apply_all, legal_opts
from core.passes.pipeline import PASSES, run_passes
from core.target import Target
from core.uop.kernelinfo import AxisType, KernelInfo, Opt
from core.uop.uop import UOp

_OPTIMIZE = next(at for at, one in enumerate(PASSES) if one.name == "optimize")


def opts_of(ast: UOp, target: Target, opts: Sequence[Opt] | None) -> dict[str, Any]:
    """`KernelOpts` of the page: of `opts`, or of those that the compiler chooses. Raises
    CompileError where the kernel cannot be lowered."""
    sink = run_passes(ast, target, None, PASSES[_OPTIMIZE - 1].name)
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
    """What the compiler chooses, or the author of the kernel has chosen."""
    if isinstance(sink.arg, KernelInfo) and sink.arg.opts is not None:
        return sink.arg.opts
    return () if NOOPT or kernel.as_written else tuple(heuristic(kernel))
