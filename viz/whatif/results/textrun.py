"""The text of a compiled kernel, run as a whole: on the device of its target where that is here, on
an emulator of it elsewhere, on one set of arguments after the other, each held against the
reference of the kernel's AST.

What a renderer gets wrong shows here, and in no step. Never looks for the step that is to blame.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.errors import CompileError, FaultError, RunError, UopvizError
from core.runtime.reference.kernel import evaluate_kernel
from core.target import Target
from core.toolchain.program import Program
from core.uop.kernels import work_of
from core.uop.patterns.policy import ignoring
from core.uop.uop import UOp
from viz.whatif.results.arguments import ArgumentSet
from viz.whatif.results.outcome import LARGEST, MEMORY, Expected, Outcome
from viz.whatif.results.trying import Judge, device_of, emulated

MAX_EMULATED: Final = 1 << 22
"""Operations of a kernel that is run on an emulator beside the interpreter: about two seconds."""
OVER: Final = "its time was over before all sets of arguments were tried"
NOT_RUN: Final = (UopvizError, ArithmeticError, ValueError)
"""What is raised where a kernel cannot be run on some arguments."""


@dataclass(frozen=True)
class TextRun:
    """What a text computed on `sets` sets of arguments. `shown`: the outcome of the set for which
    it is wrong, which is `wrong_for`, else of the first set. `rounded`: the largest error of all,
    in units in the last place; at least 1 where a result is off by anything. `untried`: what was
    not run of the further sets, and why; "" where all were."""

    device: str
    sets: int
    shown: Outcome
    rounded: int
    wrong_for: ArgumentSet | None = None
    untried: str = ""


def device_for(ast: UOp, target: Target) -> str:
    """The device that runs the text of a kernel. Raises RunError where there is none, and where
    only an emulator is there and the kernel is too large for it."""
    if (device := device_of(target)) is not None:
        return device
    if (device := emulated(target)) is None:
        raise RunError(f"no device of this machine runs code for {target.name}, and no emulator")
    if (work := work_of(ast)) > MAX_EMULATED:
        raise RunError(
            f"it is too large for the emulator: {work:,} operations, at most {MAX_EMULATED:,}"
        )
    return device


def run_text(
    ast: UOp,
    program: Program,
    device: str,
    sets: Iterable[ArgumentSet],
    seconds: float = math.inf,
) -> TextRun:
    """Runs it on each set, up to the first for which it is wrong; after so many seconds on no
    further one. A later set that cannot be tried is left out, and counted. Raises one of NOT_RUN
    where the first cannot be tried."""
    until = time.monotonic() + seconds
    made: TextRun | None = None
    left_out: list[str] = []
    for given in sets:
        if made is not None and time.monotonic() > until:
            left_out.append(OVER)
            break
        try:
            outcome = _tried(ast, program, device, given)
        except NOT_RUN as error:
            if made is None:
                raise
            left_out.append(f"{given.said}: {said_of(error)}")
            continue
        rounded = max(outcome.ulps, int(outcome.error > 0))
        if made is None:
            made = TextRun(device, 1, outcome, rounded)
        else:
            made = replace(made, sets=made.sets + 1, rounded=max(made.rounded, rounded))
        if not outcome.equal:
            return replace(made, shown=outcome, wrong_for=given)
    if made is None:
        raise RunError("there are no arguments to run it on")
    return replace(made, untried=_untried(left_out)) if left_out else made


def _untried(left_out: Sequence[str]) -> str:
    """What was not tried, in words: the first reason, and of how many sets."""
    reasons = [why for why in left_out if why != OVER]
    said = f"{reasons[0]} ({len(reasons)} of its sets of arguments not run)" if reasons else ""
    return "; ".join(filter(None, (said, OVER if OVER in left_out else "")))


def _tried(ast: UOp, program: Program, device: str, given: ArgumentSet) -> Outcome:
    """What a text computes on one set. A fault on the way is wrong, and so is a text of the
    compiler's that LLVM rejects; of other devices that may be a limit of theirs. Raises one of
    NOT_RUN."""
    try:
        return Judge(ast, given).judge(program, device)[1]
    except FaultError as error:
        said = str(error.what)
    except CompileError as error:
        if device != "CPU":
            raise
        said = f"its text is rejected: {error.what}"
    return Outcome(False, LARGEST, 0.0, 0, fault=said)


def program_agrees(ast: UOp, program: Program, given: ArgumentSet) -> bool | None:
    """Whether the linear program that the text was made of computes what it should, run by the
    interpreter; None where that is not known."""
    try:
        with ignoring():
            expected = Expected(ast, given)
            outcome = expected.judge(
                lambda held, variables: evaluate_kernel(program.lowered, held, variables, MEMORY)
            )
    except (*NOT_RUN, LookupError, TypeError, AttributeError):
        return None
    return outcome.equal


def rendering(program: Program) -> str:
    """What is named where a text is wrong and its program is right."""
    return f"rendering {program.source.kind}"


def said_of(error: Exception) -> str:
    """An error of NOT_RUN in words."""
    return error.what if isinstance(error, UopvizError) else str(error)
