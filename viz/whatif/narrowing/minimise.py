"""Makes a kernel and a variant smaller, as long as what is wrong with it stays.

Greedy: takes the first smaller kernel of which the same is still true, until there is none
(Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002, in its simplest
form). Runs in a worker.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from core.compile import kernel_name
from core.errors import CompileError, UopvizError
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target
from core.uop.kernelinfo import OptOps
from core.uop.patterns.policy import Policy, following, ignoring
from core.uop.uop import UOp
from viz.whatif.narrowing.reductions import smaller_kernels
from viz.whatif.results.outcome import Expected
from viz.whatif.variants.recompile import compile_variant
from viz.whatif.variants.variant import Variant
from viz.work.opts import opts_text, parse_opts

_PLACE: Final = re.compile(" cannot do without| left undone")
MOST: Final = 2000
"""Smaller kernels that are tried."""


@dataclass(frozen=True)
class Trouble:
    """What is the matter with a kernel. `kind`: it fails, its result is wrong, or its program is
    another one than without the variant; `what`: of a failure, the pass."""

    kind: str
    what: str = ""

    def __str__(self) -> str:
        said = {"fails": f"{self.what} fails", "wrong": "its result is wrong"}
        return said.get(self.kind, "its program differs from the one without the variant")


@dataclass(frozen=True, eq=False)
class Minimal:
    """A kernel and a variant of which `trouble` is still true; `tried`: smaller ones that were
    looked at."""

    ast: UOp
    variant: Variant
    trouble: Trouble
    tried: int


def trouble_with(ast: UOp, target: Target, variant: Variant) -> Trouble | None:
    """What is the matter with a kernel; None for nothing, or where it cannot be run."""
    with following(Policy()):  # programs of smaller kernels are not kept
        plain = compile_variant(ast, target, Variant(opts=variant.opts))
    compiled = compile_variant(ast, target, variant)
    if compiled.program is None:
        what = compiled.error.what if compiled.error is not None else ""
        return Trouble("fails", _PLACE.split(what, maxsplit=1)[0][:200])
    uops = compiled.program.uops
    try:
        with ignoring():
            outcome = Expected(ast).judge(
                lambda held, variables: evaluate_kernel(uops, held, variables)
            )
    except UopvizError:
        return None
    if not outcome.equal:
        return Trouble("wrong")
    if plain.program is not None and plain.program.uops != uops:
        return Trouble("differs")
    return None


def minimise(ast: UOp, target: Target, variant: Variant, seconds: float) -> Minimal:
    """The smallest kernel that was found in so many seconds. Raises CompileError where nothing is
    the matter with the kernel."""
    trouble = trouble_with(ast, target, variant)
    if trouble is None:
        raise CompileError(
            f"{kernel_name(ast)} compiles, its result is right, and its program is the same as "
            "without the variant",
            hint="there is nothing that a smaller kernel could keep",
        )
    until, tried = time.monotonic() + seconds, 0
    goes_on = True
    while goes_on and tried < MOST and time.monotonic() < until:
        goes_on = False
        for other, less in smaller(ast, variant):
            tried += 1
            if trouble_with(other, target, less) == trouble:
                ast, variant, goes_on = other, less, True
                break
            if tried >= MOST or time.monotonic() > until:
                break
    return Minimal(ast, variant, trouble, tried)


def smaller(ast: UOp, variant: Variant) -> Iterator[tuple[UOp, Variant]]:
    """The same kernel with less that is changed, then smaller kernels."""
    if len(variant.skip) > 1:
        for name in variant.skip:
            yield ast, replace(variant, skip=tuple(n for n in variant.skip if n != name))
    opts = parse_opts(variant.opts) if variant.opts else ()
    for at in range(len(opts)):
        yield ast, replace(variant, opts=opts_text(opts[:at] + opts[at + 1 :]))
    for at, opt in enumerate(opts):
        if isinstance(opt.arg, int) and opt.arg > 2 and opt.op is not OptOps.TC:
            halved = (*opts[:at], replace(opt, arg=opt.arg // 2), *opts[at + 1 :])
            yield ast, replace(variant, opts=opts_text(halved))
    for made in smaller_kernels(ast):
        yield made, variant
