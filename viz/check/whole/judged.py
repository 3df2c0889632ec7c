"""The task of a worker: one kernel of a trace as a whole. The text that the run had is run, on
random numbers, corner values and the values of the run where these were captured, and held against
the reference of the kernel's AST.

The comparison is that of bisect (viz/whatif/results/textrun.py). Graphs, texts and values may come
from a stranger's trace: they are checked as those of every other run. Never checks a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from core.compile import compile_kernel
from core.errors import RunError
from core.isolation.edited import Edited, with_text
from core.isolation.limits import DRIVER_FILE, limit_files
from core.isolation.safety import MAX_BYTES, check_kernel
from core.runtime.emulated import is_emulated
from core.runtime.numeric import Array
from core.target import Target
from core.toolchain.program import Program
from core.uop.uop import UOp
from viz.coredialect.flags import flags_of
from viz.known.whole import SEARCH, STEPS
from viz.whatif.narrowing.verdict import outcome_data
from viz.whatif.results.arguments import ArgumentSet, givens
from viz.whatif.results.outcome import Outcome
from viz.whatif.results.textrun import TextRun, device_for, program_agrees, rendering, run_text
from viz.whatif.variants.given import kernel_of
from viz.workbench.inputs import captured_inputs

Data = dict[str, Any]
_PART: Final = 0.5
"""Of the time of a task, after which no further arguments are tried."""


@dataclass(frozen=True)
class CapturedSet:
    """The values that the kernel read in the run; see ArgumentSet."""

    data: Mapping[str, Any]
    precise: bool = False
    said: str = "the values of the run"

    def variables(self, ast: UOp) -> dict[str, int]:
        """The values that the variables of the kernel had in the run."""
        return dict(captured_inputs(ast, self.data).variables)

    def memory(self, ast: UOp, most_bytes: int) -> list[Array]:
        """The captured contents of its buffers, in the order of their numbers."""
        buffers = captured_inputs(ast, self.data).buffers
        return [buffers[number] for number in sorted(buffers)]


def whole_job(request: Mapping[str, Any]) -> Data:
    """`WholeKernel` of docs/json.md without its number. Raises UopvizError where the kernel cannot
    be run."""
    limit_files(DRIVER_FILE)
    subject: Mapping[str, Any] = request["subject"]
    seconds = float(request["seconds"]) * _PART
    ast, target = kernel_of(subject)
    device = device_for(ast, target)
    check_kernel(ast, MAX_BYTES, inside=not is_emulated(device))  # which checks every access
    with flags_of(subject):
        program = program_of_run(ast, target, device, request)
        made = run_text(ast, program, device, givens(ast), seconds)
        if made.wrong_for is None and (kept := request.get("captured")) is not None:
            made = _on_captured(ast, program, made, CapturedSet(kept))
        place = "" if made.wrong_for is None else _place(ast, program, made.wrong_for)
        same = program.source.text == compile_kernel(ast, target).source.text
    return _data(made, place) | {SEARCH: place == STEPS and same}


def program_of_run(ast: UOp, target: Target, device: str, request: Mapping[str, Any]) -> Program:
    """The program of a kernel with the text that the run had: that of the code on disk, where it is
    the same text. Raises UopvizError where the recorded one cannot stand in its place."""
    text = request["subject"].get("text")
    if text is None:
        raise RunError("the trace has no text of it")
    program = compile_kernel(ast, target)
    if [program.source.kind, program.source.text] == list(text):
        return program
    sizes = [list(program.global_size), list(program.local_size)]
    if sizes != request["launch"]:
        raise RunError("the code on disk launches it otherwise than the run did")
    return with_text(program, device, Edited(*text))


def _on_captured(ast: UOp, program: Program, made: TextRun, given: ArgumentSet) -> TextRun:
    """What is known with the values of the run, too. Rounding may be worse on these than on any
    that were made for a comparison: a difference counts where the program itself has none."""
    try:
        found = run_text(ast, program, made.device, [given])
    except RunError:
        return made
    rounded = max(made.rounded, found.rounded)
    if found.wrong_for is None:
        return replace(made, sets=made.sets + 1, rounded=rounded)
    if not program_agrees(ast, program, given):
        return made
    return TextRun(made.device, made.sets + 1, found.shown, rounded, given)


def _place(ast: UOp, program: Program, given: ArgumentSet) -> str:
    """What is wrong: the rendering, or the passes before it; "" where that is not known."""
    match program_agrees(ast, program, given):
        case True:
            return rendering(program)
        case False:
            return STEPS
        case None:
            return ""


def _data(made: TextRun, place: str) -> Data:
    wrong = made.wrong_for
    state = "differs" if wrong is not None else "rounding" if made.rounded else "equal"
    return {
        "state": state,
        "device": made.device,
        "sets": made.sets,
        "ulps": made.rounded,
        "place": place,
        "inputs": "" if wrong is None else wrong.said,
        "outcome": None if wrong is None else _outcome(made.shown),
        "why": made.untried,
    }


def _outcome(outcome: Outcome) -> Data:
    made = outcome_data(outcome)
    at = made["coordinates"]
    kept = ("output", "index", "got", "wanted", "said")
    return {name: made[name] for name in kept} | {"coordinates": None if at is None else list(at)}
