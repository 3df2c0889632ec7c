"""Some kernels on every GPU target, as the nightly check does it with all of them; and that this
check names whatever goes wrong."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import Tensor
from core.compile import compile_kernel
from core.dtype import dtypes
from core.errors import CompileError, RenderError
from core.render.rendered import Rendered
from core.target import Target, targets
from core.uop import UOp
from core.uop.data.serial import to_data
from core.uop.engine.observe import observing
from tests.core.runtime.asts import KERNELS, add, matmul
from tests.on_targets import __main__ as command
from tests.on_targets import texts, worker
from tests.on_targets.collect import Collector, kernel_of, lines_of
from tests.on_targets.compiled import Compiled
from tests.on_targets.emulated import emulate, spread
from tests.on_targets.results import Result, failures, parts, tables
from tests.on_targets.subject import subject_of

NAMES = ("matmul", "half_matmul", "int_math", "masks", "two_views", "two_outputs", "transcendental")


def checked(asts: Sequence[UOp], columns: Sequence[str], seconds: float = 20.0) -> list[Result]:
    """The results of some kernels, numbered from 0, in this process."""
    said: list[Mapping[str, Any]] = []
    graphs = [[number, json.dumps(to_data([ast]))] for number, ast in enumerate(asts)]
    request = {"kernels": graphs, "columns": columns, "seconds": seconds, "limit": 600}
    worker.run(request, said.append)
    return [Result.from_json(line["result"]) for line in said if "result" in line]


def test_some_kernels_on_every_target() -> None:
    asts = [KERNELS[name]() for name in NAMES]
    columns, _ = command.columns_of(command.GPUS)
    results = checked(asts, columns)
    assert failures(results, {"here": range(len(asts))}) == []
    assert not any(r.in_part for r in results)
    without = "C" in columns and "_Float16" in texts.c_lacks()  # of half_matmul
    assert len(results) == len(asts) * len(columns) - without
    assert {"sm_75", "sm_100", "gfx1100", "gfx1201", "gfx942", "gfx950"} <= set(columns)


@pytest.mark.parametrize("name", NAMES)
def test_programs_of_targets_alike_are_those_of_the_compiler(name: str) -> None:
    ast = KERNELS[name]()
    compiled = Compiled(ast)
    for gpu in command.GPUS:
        found, wanted = compiled.program(targets[gpu]), compile_kernel(ast, targets[gpu])
        assert found.source.text == wanted.source.text
        assert (found.target, found.uops) == (wanted.target, wanted.uops)


def test_kernels_are_collected_once(tmp_path: Path) -> None:
    with observing(Collector(tmp_path)):
        for _ in range(2):
            (Tensor([1.0, 2.0, 3.0]).exp() + 41).sum().realize()
    found = lines_of(tmp_path)
    assert found
    assert len(set(found.values())) == len(found)
    for graph in found.values():
        assert subject_of(kernel_of(graph)).right


def collected(folder: Path, *asts: UOp) -> None:
    """Writes kernels as the collector does."""
    folder.mkdir()
    for ast in asts:
        Collector(folder).kernel(ast, None)


def broken(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def changed(monkeypatch: pytest.MonkeyPatch, target: str, change: Callable[[str], str]) -> None:
    """The compiler writes another text for one target."""
    before = Compiled.program

    def program(self: Compiled, chosen: Any) -> Any:
        found = before(self, chosen)
        if chosen.name != target:
            return found
        return replace(found, source=replace(found.source, text=change(found.source.text)))

    monkeypatch.setattr(Compiled, "program", program)


@pytest.mark.parametrize(
    ("target", "old", "new", "steps", "why"),
    [
        ("sm_90", "fma.rn.f32", "fma.rn.f99", 1, "assemble: .*ptxas rejects"),
        ("sm_90", "fma.rn.f32", "fma.rz.f32", 2, "execute: .*fma.rz"),
        ("sm_90", "0f40000000", "0f40400000", 3, "not equal: data0: off by"),
        ("gfx942", "define amdgpu_kernel", "define nothing", 1, "assemble: .*not valid"),
        ("gfx942", "float 2.0", "float 3.0", 3, "not equal: data0: off by"),
    ],
)
def test_a_wrong_text_is_named(
    target: str, old: str, new: str, steps: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed(monkeypatch, target, lambda text: broken(text, old, new))
    found = {r.column: r for r in checked([add()], ["sm_80", "sm_90", "gfx950", "gfx942"])}
    assert [name for name, r in found.items() if r.failed] == [target]
    result = found[target]
    assert result.steps == steps
    (line,) = failures([result], {"here": [0]})
    assert line.startswith(f"{result.name} (of here) on {target}: ")
    assert re.search(why, line, re.DOTALL), line


def test_a_kernel_that_a_target_cannot_compile_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(self: Compiled, chosen: Any) -> Any:
        raise CompileError(f"nothing for {chosen.name}")

    monkeypatch.setattr(Compiled, "program", program)
    found = checked([add()], ["sm_80", "HIP gfx942", "C", "gfx942"])
    assert {r.column for r in found if r.failed} == {"sm_80", "gfx942", "HIP gfx942"}
    assert all("nothing for" in r.why for r in found if r.failed)


def test_a_kernel_without_a_text_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def render(uops: Sequence[UOp], name: str, target: Target) -> Rendered:
        raise RenderError("no text for this")

    monkeypatch.setattr(worker, "READ", {"HIP": render})
    monkeypatch.setattr("core.render.c.render", render)
    found = checked([add()], ["gfx942", "HIP gfx942", "C"])
    assert {r.column for r in found if r.failed} == {"HIP gfx942", "C"}
    assert all("no text for this" in r.why for r in found if r.failed)


def test_one_bad_text_in_a_batch_is_found() -> None:
    programs = [compile_kernel(KERNELS[name](), targets["sm_80"]) for name in NAMES]
    ptx = [p.source.text for p in programs]
    ptx[2] = ptx[2].replace("st.global", "st.nowhere")
    said = texts.ptxas(ptx, [p.name for p in programs], targets["sm_80"])
    assert [bool(words) for words in said] == [n == 2 for n in range(len(ptx))]
    assert "st.nowhere" in said[2] or "Unknown" in said[2] or "syntax" in said[2]
    said = texts.in_batches(list("abc"), ["x", "y", "x"], lambda batch: "no" if 1 in batch else "")
    assert said == ["", "no", ""]


@pytest.mark.skipif(texts.c_compiler() is None, reason="no C compiler")
def test_a_compiler_of_c_is_given_what_it_computes_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "older"
    older.write_text(f'#!/bin/sh\nexec {texts.c_compiler()} -U__FLT16_MANT_DIG__ "$@"\n')
    older.chmod(0o700)
    monkeypatch.setattr(texts, "c_compiler", lambda: str(older))
    lacks = texts.c_lacks.__wrapped__()
    assert "_Float16" in lacks
    monkeypatch.setattr(texts, "c_lacks", lambda: lacks)
    assert any(line.startswith("C with _Float16") for line in command.columns_of(())[1])
    found = checked([KERNELS["half_matmul"](), add()], ["C"])
    assert [(r.kernel, r.failed) for r in found] == [(1, False)]


def test_a_launch_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runtime.emulator.machine.LANES", 256)
    subject = subject_of(add(100_000))
    for gpu in ("sm_80", "gfx942"):
        program = compile_kernel(subject.ast, targets[gpu])
        some = emulate(subject, program, targets[gpu], 0.0)
        assert some.wrong == ""
        assert 0 < some.done < some.blocks
        every = emulate(subject, program, targets[gpu], 1000.0)
        assert (every.wrong, every.done) == ("", every.blocks)
    assert [list(spread(n)) for n in (1, 2, 5)] == [[0], [0, 1], [0, 4, 2, 1, 3]]


def test_a_wrong_result_in_part_of_a_launch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.runtime.emulator.machine.LANES", 256)
    subject = subject_of(add(100_000))
    subject.right[0][-1] += 1
    program = compile_kernel(subject.ast, targets["sm_80"])
    some = emulate(subject, program, targets["sm_80"], 0.0)
    assert some.done < some.blocks
    assert some.wrong == ""  # the last elements are those of a block that did not run
    assert "data0" in emulate(subject, program, targets["sm_80"], 1000.0).wrong


def test_arguments_fit_the_kernel() -> None:
    """Where arguments of both signs give no numbers, positive ones are taken."""
    x = KERNELS["add"]().src[0].src[1].src[0]
    place = KERNELS["add"]().src[0].src[0]
    logarithm = subject_of(UOp.sink(place.store((x + 0.5).log2())))
    assert logarithm.before[1].min() > 0
    assert np.isfinite(logarithm.right[0]).all()
    assert logarithm.reference == "REFERENCE"
    assert subject_of(add()).before[1].min() < 0
    assert subject_of(matmul(256, 256, 256)).reference == "CPU"
    assert subject_of(matmul(8, 8, 8, dtypes.float16)).loaded == {1, 2}


def test_tables_and_lists() -> None:
    sources = {"a": [1, 2], "b": [2]}
    results = [
        Result(1, "E_4_bcdf", "sm_80", 4, 4, blocks=(2, 8)),
        Result(2, "r_8_ghjk", "sm_80", 3, 4, "not equal: data0", (1, 1)),
        Result(1, "E_4_bcdf", "HIP gfx942", 2, 2),
        Result(2, "r_8_ghjk", "HIP gfx942", 1, 2, "assemble: no"),
    ]
    assert tables(results, sources, ["sm_80", "HIP gfx942"]).splitlines()[2:] == [
        "| a | 2/2/2/1 (1 in part) | 2/1 |",
        "| b | 1/1/1/0 | 1/0 |",
        "| distinct kernels | 2/2/2/1 (1 in part) | 2/1 |",
    ]
    assert failures(results, sources)[0] == "r_8_ghjk (of a, b) on sm_80: not equal: data0"
    assert parts(results) == ["E_4_bcdf on sm_80: 2 of 8 blocks"]


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """From files of kernels to the exit status; a kernel that ends its process is named, the others
    are checked all the same."""
    collected(tmp_path / "a", add(10), add(20))
    chosen = ["a", "--collected", str(tmp_path), "--targets", "sm_80", "--jobs", "1"]
    assert command.main(chosen) == 0
    assert "| a | 2/2/2/2 |" in capfd.readouterr().out
    (tmp_path / "dying_worker.py").write_text(
        "import os, signal\n"
        "from tests.on_targets import worker\n"
        "from tests.on_targets.worker import _Work\n"
        "before = _Work.kernel\n"
        "def kernel(self, number, graph):\n"
        "    if '20' in graph:\n"
        "        os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    before(self, number, graph)\n"
        "_Work.kernel = kernel\n"
        "worker.main()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(command, "WORKER", "dying_worker")
    assert command.main(chosen) == 1
    out = capfd.readouterr().out
    assert "| a | 1/1/1/1 |" in out
    assert "(of a) on sm_80: its process ended with SIGSEGV" in out


def test_an_interrupted_check_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    collected(tmp_path / "a", add(10), add(20), add(30))
    chunks: list[int] = []

    def chunk(kernels: Mapping[int, str], columns: Sequence[str], _: float) -> list[Result]:
        chunks.append(len(kernels))
        if len(chunks) == 2:
            raise KeyboardInterrupt
        return [Result(n, "E", c, 4, 4) for n in kernels for c in columns]

    monkeypatch.setattr(command, "CHUNK", 1)
    monkeypatch.setattr(command, "_chunk", chunk)
    chosen = ["a", "--collected", str(tmp_path), "--targets", "sm_80", "--jobs", "1", "--no-texts"]
    assert command.main(chosen) == 1
    out = capsys.readouterr().out
    assert "| a | 1/1/1/1 |" in out
    assert "INTERRUPTED: 2 kernels were not checked" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["x"], "no source is called 'x'"),
        (["--targets", "sm_1"], "sm_1"),
        (["--jobs", "0"], "--jobs is at least 1"),
        (["--collect", os.sep], "is there already"),
    ],
)
def test_mistakes_in_the_command(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(arguments)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_no_kernels_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["a", "--collected", str(tmp_path)]) == 2
    assert "no kernels of a" in capsys.readouterr().err


def test_a_source_that_fails_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ROOT", tmp_path)  # no environment of conformance there
    assert command.main(["conformance"]) == 2
    assert "make conformance" in capsys.readouterr().err
