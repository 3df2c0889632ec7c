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

from core.check.safety import MAX_BYTES, check_kernel
from core.check.trial import limit_files
from core.errors import CompileError, EnvError, UopvizError
from core.helpers import Context
from core.target import Target, target_named
from core.uop.serial import from_data, to_data
from core.uop.uop import UOp
from viz.format.cells import as_int, as_text
from viz.whatif.culprit import Culprit, Kernel
from viz.whatif.isolated import TRACE
from viz.whatif.minimise import minimise
from viz.whatif.recompile import (
    Compiled,
    Recording,
    applied_opts,
    code_facts,
    compile_variant,
)
from viz.whatif.standalone import launch_case
from viz.whatif.subject import COMPILING
from viz.whatif.trying import Trial, device_of, old_program
from viz.whatif.variant import Variant
from viz.whatif.verdict import culprit_data, outcome_data, verdict_data
from viz.work.lines import answer_request
from viz.work.opts import parse_opts

MAX_TRACE: Final = 1 << 28
"""Bytes of what one request may record."""
Data = dict[str, Any]


def variant_job(request: Mapping[str, Any]) -> Data:
    """One kernel as a variant: {"error", "device", "outcome", "times", "code", "oldCode", "opts",
    "matches", "notes"}; what was recorded is in the file TRACE."""
    limit_files(MAX_TRACE)
    subject: Mapping[str, Any] = request["subject"]
    variant = Variant.from_data(request["variant"])
    ast, target = _kernel(subject)
    new_target = target_named(variant.target) if variant.target else target
    made: Data = {"error": None, "device": None, "outcome": None, "times": None, "code": None,
                  "oldCode": None, "opts": None, "matches": 0, "notes": []}  # fmt: skip
    with _flags(subject):
        with Recording(Path(str(request[TRACE])), str(variant), as_text(subject["name"], 300)):
            compiled = compile_variant(ast, new_target, variant)
        made["matches"] = compiled.matches
        if compiled.program is None:
            made["error"] = _said(compiled.error)
            return made
        made["opts"] = applied_opts(compiled.program)
        made["code"] = code_facts(compiled.program)
        if request.get("run", True):
            _run(made, ast, target, subject, compiled)
    return made


def _run(
    made: Data, ast: UOp, target: Target, subject: Mapping[str, Any], compiled: Compiled
) -> None:
    """Runs the program, and the old one in turn with it."""
    program = compiled.program
    assert program is not None
    try:
        check_kernel(ast, MAX_BYTES)
        trial = Trial(ast)
        made["device"], outcome = trial.judge(program)
        made["outcome"] = outcome_data(outcome)
    except UopvizError as error:
        made["notes"].append(
            f"not run: {error.what}" + (f" ({error.where})" if error.where else "")
        )
        return
    try:
        old, note = old_program(ast, target, _text(subject))
        made["oldCode"] = code_facts(old)
        made["notes"] += [note] if note else []
        made["times"] = trial.times(old, program)
    except UopvizError as error:
        made["notes"].append(f"not compared in time: {error.what}")


def bisect_job(request: Mapping[str, Any]) -> Data:
    """What made the result of one kernel, as a variant, differ from the reference: {"outcome",
    "wrong", "failed", "culprit", "device", "asked", "notes"}."""
    limit_files(0)
    subject: Mapping[str, Any] = request["subject"]
    variant = Variant.from_data(request["variant"])
    ast, target = _kernel(subject)
    check_kernel(ast, MAX_BYTES)
    opts = None if variant.opts is None else parse_opts(variant.opts)
    with _flags(subject):
        target = target_named(variant.target) if variant.target else target
        verdict = Kernel(ast, target, opts, variant.policy).find()
        made = verdict_data(verdict)
        if verdict.culprit is None and verdict.error is None:
            made |= _on_device(ast, target, variant)
    return made


def _on_device(ast: UOp, target: Target, variant: Variant) -> Data:
    """The program is right; whether what is rendered of it is, too, where a device runs it."""
    compiled = compile_variant(ast, target, variant)
    if compiled.program is None:
        failed = {"pass": "rendering", "error": _said(compiled.error), "step": None}
        return {"failed": failed, "wrong": True}
    if device_of(target) is None:
        return {}
    try:
        device, outcome = Trial(ast).judge(compiled.program)
    except UopvizError as error:
        return {"notes": [f"not run: {error.what}"]}
    said = {"device": device, "outcome": outcome_data(outcome)}
    if outcome.equal:
        return said
    place = f"rendering {compiled.program.source.kind}"
    return said | {"wrong": True, "culprit": culprit_data(Culprit(place, after=outcome))}


def minimise_job(request: Mapping[str, Any]) -> Data:
    """A kernel and a variant, smaller: {"graph", "variant", "trouble", "tried", "nodes"}."""
    limit_files(0)
    subject: Mapping[str, Any] = request["subject"]
    variant = Variant.from_data(request["variant"])
    ast, target = _kernel(subject)
    check_kernel(ast, MAX_BYTES)
    with _flags(subject):
        target = target_named(variant.target) if variant.target else target
        made = minimise(ast, target, variant, float(request["seconds"]))
    return {
        "graph": to_data([made.ast]),
        "variant": made.variant.data(),
        "trouble": str(made.trouble),
        "tried": made.tried,
        "nodes": [len(ast.toposort()), len(made.ast.toposort())],
    }


def bindings_job(request: Mapping[str, Any]) -> Data:
    """The data of a script that needs only the vendor's bindings, `standalone.launch_case`."""
    limit_files(0)
    subject: Mapping[str, Any] = request["subject"]
    variant = Variant.from_data(request["variant"])
    ast, target = _kernel(subject)
    check_kernel(ast, MAX_BYTES)
    with _flags(subject):
        target = target_named(variant.target) if variant.target else target
        compiled = compile_variant(ast, target, variant)
        if compiled.program is None:
            raise compiled.error or CompileError("it could not be compiled")
        return launch_case(ast, compiled.program)


def replay_job(request: Mapping[str, Any]) -> Data:
    """Kernels compiled with the code on disk, recorded in the order of the request. {"kernels":
    [{"number", "error", "recorded"}]}."""
    limit_files(MAX_TRACE)
    subjects: list[Mapping[str, Any]] = request["subjects"]
    found: list[Data] = []
    with Recording(Path(str(request[TRACE])), "the code on disk", "the run"):
        for subject in subjects:
            error: UopvizError | None = None
            recorded = False
            try:
                ast, target = _kernel(subject)
                with _flags(subject):
                    recorded = True
                    error = compile_variant(ast, target, Variant()).error
            except UopvizError as raised:
                error = raised
            number = as_int(subject["number"])
            said = None if error is None else _said(error)
            found.append({"number": number, "error": said, "recorded": recorded})
    return {"kernels": found}


def _kernel(subject: Mapping[str, Any]) -> tuple[UOp, Target]:
    """The AST of a request and its target. Raises UopvizError where it is no kernel."""
    ast = from_data(subject["graph"])[0]
    check_kernel(ast, max_bytes=1 << 62, inside=False)  # nothing is run yet
    return ast, target_named(as_text(subject["target"], 200))


def _flags(subject: Mapping[str, Any]) -> Context:
    """The flags of the recording that code depends on; those of this process where they are no
    values of these flags."""
    given: Mapping[str, Any] = subject.get("flags") or {}
    try:
        return Context(**{name: as_int(given[name]) for name in COMPILING if name in given})
    except EnvError:
        return Context()


def _text(subject: Mapping[str, Any]) -> tuple[str, str] | None:
    match subject.get("text"):
        case [str(kind), str(text)]:
            return kind, text
        case _:
            return None


def _said(error: UopvizError | None) -> Data:
    shown = error or CompileError("it could not be compiled")
    return {"what": shown.what, "where": shown.where, "hint": shown.hint}


JOBS: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "variant": variant_job,
    "bisect": bisect_job,
    "minimise": minimise_job,
    "bindings": bindings_job,
    "replay": replay_job,
}


def main() -> int:
    """Answers the request on standard input."""
    return answer_request(JOBS, "the kernel")


if __name__ == "__main__":
    sys.exit(main())
