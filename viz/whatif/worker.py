"""The worker process of this room: compiles kernels again with the code that is on disk now, runs
them, and looks for what made a result wrong.

Reads one request as JSON, answers in one line of JSON, and ends. Graphs may come from a stranger's
trace: they are decoded strictly and checked before anything is run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from core.errors import CompileError, RunError, UopvizError
from core.isolation.limits import DRIVER_FILE, limit_files
from core.isolation.safety import MAX_BYTES, check_kernel
from core.runtime.device import Device
from core.target import Target, target_named
from core.toolchain.diskcache import keep_nothing
from core.toolchain.program import Program
from core.uop.data.serial import to_data
from core.uop.uop import UOp
from viz.coredialect.flags import flags_of
from viz.format.cells import as_text
from viz.jobs.lines import answer_request, progress
from viz.whatif.isolated import TRACE
from viz.whatif.narrowing.culprit import Culprit, Kernel
from viz.whatif.narrowing.minimise import minimise
from viz.whatif.narrowing.verdict import culprit_data, outcome_data, verdict_data
from viz.whatif.results.arguments import givens
from viz.whatif.results.textrun import NOT_RUN, device_for, rendering, run_text, said_of
from viz.whatif.results.trying import Judge, check_device, old_program, own_target
from viz.whatif.scripts.launchcase import launch_case
from viz.whatif.variants.given import MAX_TRACE, error_data, kernel_of, name_of
from viz.whatif.variants.recompile import (
    Compiled,
    Recording,
    applied_opts,
    changed_lines,
    code_facts,
    compile_variant,
    record_text,
    text_facts,
)
from viz.whatif.variants.variant import EditedText, Variant
from viz.work.opts import parse_opts

Data = dict[str, Any]


def variant_job(request: Mapping[str, Any]) -> Data:
    """One kernel as a variant: {"error", "device", "outcome", "times", "code", "oldCode", "opts",
    "matches", "edited", "notes"}; what was recorded is in the file TRACE."""
    limit_files(MAX_TRACE)
    subject: Mapping[str, Any] = request["subject"]
    variant = Variant.from_data(request["variant"])
    ast, target = kernel_of(subject)
    target, new_target = own_target(target), _target_of(variant, target)
    made: Data = {"error": None, "device": None, "outcome": None, "times": None, "code": None,
                  "oldCode": None, "opts": None, "matches": 0, "edited": None,
                  "notes": []}  # fmt: skip
    progress("compiling")
    with flags_of(subject):
        path, name = Path(str(request[TRACE])), name_of(subject)
        if variant.text is not None:
            check_device(variant.text.device, new_target)
            compiled = compile_variant(ast, new_target, variant)
            record_text(path, ast, new_target, name, variant, compiled)
            made["edited"] = changed_lines(compiled.base, variant.text)
        else:
            with Recording(path, str(variant), [name]):
                compiled = compile_variant(ast, new_target, variant)
        made["matches"] = compiled.matches
        if compiled.program is None:
            made["error"] = error_data(compiled.error)
            return made
        if variant.text is None:
            made["opts"] = applied_opts(compiled.program)
            made["code"] = code_facts(compiled.program)
        else:
            _text_facts(made, compiled.program, variant.text)
        if request.get("run", True):
            _run(made, ast, target, subject, compiled, variant.text)
    return made


def _target_of(variant: Variant, target: Target) -> Target:
    """What a variant is compiled for; `target` is what the kernel was."""
    return own_target(target_named(variant.target) if variant.target else target)


def _text_facts(made: Data, program: Program, text: EditedText) -> None:
    try:
        made["code"] = text_facts(program, text)
    except CompileError as error:
        made["notes"].append(f"not assembled: {error.what}")


def _run(
    made: Data,
    ast: UOp,
    target: Target,
    subject: Mapping[str, Any],
    compiled: Compiled,
    text: EditedText | None,
) -> None:
    """Runs the program, and the old one in turn with it. An edited text runs on its device, and
    nothing stands for that."""
    program = compiled.program
    assert program is not None
    on = None if text is None else text.device
    progress("running it beside the recorded program")
    try:
        check_kernel(ast, MAX_BYTES)
        judge = Judge(ast)
        made["device"], outcome = judge.judge(program, on)
        made["outcome"] = outcome_data(outcome)
    except UopvizError as error:
        made["notes"].append(
            f"not run: {error.what}" + (f" ({error.where})" if error.where else "")
        )
        return
    try:
        if on is not None and program.target != target:  # a device runs code for one target
            old, note = old_program(ast, program.target, None)
        else:
            old, note = old_program(ast, target, _text(subject))
        made["oldCode"] = code_facts(old)
        made["notes"] += [note] if note else []
        made["times"] = judge.times(old, program, on=on)
        if on is not None and (counts := judge.counts(old, program, on)) is not None:
            made["notes"].append(
                f"{on} counts instructions and has no time: {counts[0]:,} before, {counts[1]:,} now"
            )
    except UopvizError as error:
        made["notes"].append(f"not compared in time: {error.what}")


def bisect_job(request: Mapping[str, Any]) -> Data:
    """What made the result of one kernel, as a variant, differ from the reference: {"outcome",
    "wrong", "failed", "culprit", "device", "asked", "notes", "target"}. With a "device", it is
    compiled for that in place of a target; with "searching": False, nothing is looked for in a
    kernel that is wrong."""
    limit_files(DRIVER_FILE)
    subject: Mapping[str, Any] = request["subject"]
    variant = Variant.from_data(request["variant"])
    ast, target = kernel_of(subject)
    check_kernel(ast, MAX_BYTES)
    opts = None if variant.opts is None else parse_opts(variant.opts)
    with flags_of(subject):
        target = _target_of(variant, target)
        if device := as_text(request.get("device"), 200):
            target = Device[device].target or target
        searching = request.get("searching") is not False
        verdict = Kernel(ast, target, opts, variant.policy).find(searching)
        made = verdict_data(verdict)
        if not made["wrong"]:
            made |= _on_device(ast, target, variant)
    return made | {"target": target.name}


def _on_device(ast: UOp, target: Target, variant: Variant) -> Data:
    """The program is right; whether what is rendered of it is, too, where a device runs it."""
    compiled = compile_variant(ast, target, variant)
    if compiled.program is None:
        failed = {"pass": "rendering", "error": error_data(compiled.error), "step": None}
        return {"failed": failed, "wrong": True}
    try:
        device = device_for(ast, target)
    except RunError:
        return {}
    try:
        made = run_text(ast, compiled.program, device, givens(ast))
    except NOT_RUN as error:
        return {"notes": [f"not run: {said_of(error)}"]}
    said = {"device": device, "outcome": outcome_data(made.shown)}
    if made.wrong_for is None:
        return said
    culprit = culprit_data(Culprit(rendering(compiled.program), after=made.shown))
    return said | {"wrong": True, "culprit": culprit}


def minimise_job(request: Mapping[str, Any]) -> Data:
    """A kernel and a variant, smaller: {"graph", "variant", "trouble", "tried", "nodes"}."""
    limit_files(DRIVER_FILE)
    subject: Mapping[str, Any] = request["subject"]
    variant = Variant.from_data(request["variant"])
    ast, target = kernel_of(subject)
    check_kernel(ast, MAX_BYTES)
    progress("making the kernel smaller")
    with flags_of(subject):
        target = _target_of(variant, target)
        made = minimise(ast, target, variant, float(request["seconds"]))
    return {
        "graph": to_data([made.ast]),
        "variant": made.variant.data(),
        "trouble": str(made.trouble),
        "tried": made.tried,
        "nodes": [len(ast.toposort()), len(made.ast.toposort())],
    }


def bindings_job(request: Mapping[str, Any]) -> Data:
    """The data of a script that needs only the vendor's bindings, `launch_case`."""
    limit_files(0)
    subject: Mapping[str, Any] = request["subject"]
    variant = Variant.from_data(request["variant"])
    ast, target = kernel_of(subject)
    check_kernel(ast, MAX_BYTES)
    with flags_of(subject):
        target = target_named(variant.target) if variant.target else target
        compiled = compile_variant(ast, target, variant)
        if compiled.program is None:
            raise compiled.error or CompileError("it could not be compiled")
        return launch_case(ast, compiled.program)


def _text(subject: Mapping[str, Any]) -> tuple[str, str] | None:
    match subject.get("text"):
        case [str(kind), str(text)]:
            return kind, text
        case _:
            return None


JOBS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "variant": variant_job,
    "bisect": bisect_job,
    "minimise": minimise_job,
    "bindings": bindings_job,
}


def main() -> int:
    """Answers the request on standard input."""
    keep_nothing()
    return answer_request(JOBS, "the kernel")


if __name__ == "__main__":
    sys.exit(main())
