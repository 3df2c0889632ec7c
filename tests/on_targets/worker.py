"""The process that checks some kernels: a request as JSON from stdin, answers as lines of JSON.

A kernel that crashes it or takes too long ends it; whoever started it then knows from `begin` lines
which one it was. Everything that anything prints goes to stderr.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import UopvizError
from core.isolation.limits import limit_memory
from core.render import c
from core.render.renderers import Render, renderer
from core.target import Target, targets
from core.toolchain.processor import host_target
from core.toolchain.program import Program
from core.uop import UOp
from tests.on_targets import texts
from tests.on_targets.collect import kernel_of
from tests.on_targets.compiled import Compiled
from tests.on_targets.emulated import Ran, emulate, same_run
from tests.on_targets.on_device import DEVICES, execute
from tests.on_targets.results import STEPS, Result
from tests.on_targets.subject import Subject, subject_of
from tests.on_targets.webgpu import tint

MEMORY: Final = 10 << 30
READ: Final[Mapping[str, Render]] = {"CUDA": renderer("cuda"), "HIP": renderer("hip")}
"""Texts that are for reading, and for compilers that the product does not need."""
COMPILERS: Final = {"": texts.ptxas, "CUDA": texts.cuda, "HIP": texts.hip}
LOADERS: Final = {"webgpu": tint}
"""By family, in place of the first."""
BUILT: Final = ("amd", "opencl")
"""Families whose texts are built one by one, when they run."""
INTEGERS: Final = {4: ctypes.c_int32, 8: ctypes.c_int64}
Say = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """Answers one request."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    request = cast("dict[str, Any]", json.load(sys.stdin))
    limit_memory(MEMORY)

    def say(line: Mapping[str, Any]) -> None:
        answer.write(json.dumps(line) + "\n")
        answer.flush()

    run(request, say)
    say({"done": True})


def run(request: Mapping[str, Any], say: Say) -> None:
    """Checks the kernels of a request in its columns."""
    work = _Work([str(c) for c in request["columns"]], float(request["seconds"]), say)
    for number, graph in request["kernels"]:
        say({"begin": number})
        signal.alarm(int(request["limit"]))
        work.kernel(int(number), str(graph))
    signal.alarm(0)
    say({"begin": None})
    work.compilers()


class _Work:
    """The kernels of one request. Results of texts that go to compilers in batches come last."""

    def __init__(self, columns: Sequence[str], seconds: float, say: Say) -> None:
        self.columns, self.seconds, self.say = columns, seconds, say
        self.gpus = [targets[name] for name in columns if name in targets]
        self.waiting: dict[str, list[tuple[Result, str]]] = {}
        self.c: list[tuple[int, Subject, Program, str]] = []

    def result(self, result: Result) -> None:
        self.say({"result": result.to_json()})

    def kernel(self, number: int, graph: str) -> None:
        """Compiles a kernel for every target, runs each of the texts that differ, and compares."""
        try:
            subject = subject_of(kernel_of(graph))
        except Exception as error:  # the kernel cannot be judged: that is said in every column
            for column in self.columns:
                self.result(Result(number, "?", column, 0, len(STEPS), _why("reference", error)))
            return
        ran: dict[tuple[str, int], Ran | str] = {}
        compiled = Compiled(subject.ast)
        for target in self.gpus:
            self._on_target(number, subject, target, compiled, ran)
        if "C" in self.columns:
            try:
                program = compile_kernel(subject.ast, host_target())
                text = c.render(program.uops, program.name, program.target).text
                if not any(name in text for name in texts.c_lacks()):
                    self.c.append((number, subject, program, text))
            except Exception as error:
                self._failed(number, subject, "C", "compile", error)

    def _failed(
        self, number: int, subject: Subject, column: str, what: str, error: Exception
    ) -> None:
        wanted = 2 if column.startswith(("CUDA", "HIP")) else len(STEPS)
        self.result(Result(number, subject.name, column, 1, wanted, _why(what, error)))

    def _on_target(
        self,
        number: int,
        subject: Subject,
        target: Target,
        compiled: Compiled,
        ran: dict[tuple[str, int], Ran | str],
    ) -> None:
        try:
            program = compiled.program(target)
        except Exception as error:
            if not target.supports(dtypes.float64) and _takes_float64(subject.ast):
                why = f"needs float64, which {target.title} does not have"
                self.result(Result(number, subject.name, target.name, 1, 1, why))
                return
            for column in (target.name, f"CUDA {target.name}", f"HIP {target.name}"):
                if column in self.columns:
                    self._failed(number, subject, column, "compile", error)
            return
        for language, render in READ.items():
            column = f"{language} {target.name}"
            if column in self.columns:
                try:
                    text = render(program.uops, program.name, target).text
                except UopvizError as error:
                    self._failed(number, subject, column, "render", error)
                else:
                    self._wait(Result(number, subject.name, column, 2, 2), text)
        key = same_run(program)
        if key not in ran:
            try:
                if target.family in DEVICES:
                    ran[key] = execute(subject, program)
                else:
                    ran[key] = emulate(subject, program, target, self.seconds)
            except Exception as error:
                ran[key] = _why("execute", error)
        done = ran[key]
        found = Result(number, subject.name, target.name, len(STEPS), len(STEPS))
        if isinstance(done, str):
            found = replace(found, steps=2, why=done)
        else:
            found = replace(found, blocks=(done.done, done.blocks), reference=subject.reference)
            if done.wrong:
                found = replace(found, steps=3, why=f"not equal: {done.wrong}")
        if target.family in BUILT:
            said = texts.amd_object(program) if target.family == "amd" else ""
            self.result(_assembled(found, said))
        else:
            self._wait(found, program.source.text)

    def _wait(self, found: Result, text: str) -> None:
        self.waiting.setdefault(found.column, []).append((found, text))

    def compilers(self) -> None:
        """Hands the texts that wait to their compilers."""
        for column, waiting in self.waiting.items():
            language, _, name = column.rpartition(" ")
            names = [found.name for found, _ in waiting]
            check = LOADERS.get(targets[name].family, COMPILERS[language])
            said = check([text for _, text in waiting], names, targets[name])
            for (found, _), words in zip(waiting, said, strict=True):
                self.result(_assembled(found, words))
        if self.c:
            with tempfile.TemporaryDirectory(prefix="on-targets-") as folder:
                self._run_c(Path(folder))

    def _run_c(self, folder: Path) -> None:
        libraries = texts.c_libraries(
            [text for *_, text in self.c], [program.name for _, _, program, _ in self.c], folder
        )
        for (number, subject, program, _), (library, said) in zip(self.c, libraries, strict=True):
            self.say({"begin": number})
            found = Result(number, subject.name, "C", len(STEPS), len(STEPS))
            if not said:
                found = replace(found, reference=subject.reference)
                wrong = run_c(subject, program, library)
                found = replace(found, steps=3, why=f"not equal: {wrong}") if wrong else found
            self.result(_assembled(found, said))


def _takes_float64(ast: UOp) -> bool:
    return any(u.dtype.base.scalar() is dtypes.float64 for u in ast.toposort())


def run_c(subject: Subject, program: Program, library: Path) -> str:
    """Calls a compiled C function on the arguments; what is wrong with the result."""
    memory = [np.ascontiguousarray(a).copy() for a in subject.before]
    types: list[Any] = [ctypes.c_void_p] * len(program.arguments)
    types += [INTEGERS[v.dtype.itemsize] for v in program.variables]
    types += [ctypes.c_int32] * (2 if program.threads else 0)
    values = [memory[a.number].ctypes.data for a in program.arguments]
    values += [subject.variables[v.arg[0]] for v in program.variables]
    values += [0, program.threads] if program.threads else []
    function = getattr(ctypes.CDLL(str(library)), program.name)
    function.argtypes, function.restype = types, None
    function(*values)
    return subject.wrong(memory)


def _assembled(found: Result, said: str) -> Result:
    """The result, or that it got no further than a text that the compiler refuses."""
    if not said:
        return found
    return replace(found, steps=1, why="; ".join(filter(None, (f"assemble: {said}", found.why))))


def _why(step: str, error: Exception) -> str:
    if isinstance(error, UopvizError):
        return f"{step}: {str(error).strip()[: texts.SAID]}"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{step}: {type(error).__name__}: {error} at {Path(last.filename).name}:{last.lineno}"


if __name__ == "__main__":
    main()
