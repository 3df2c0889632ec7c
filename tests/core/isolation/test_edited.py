"""Edited texts of GPUs: what is taken, what is refused with its line, and what is missing."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from core.compile import compile_kernel, sources_for
from core.errors import CompileError, RunError
from core.isolation.edited import EDITABLE, Edited, editable_on, with_text
from core.isolation.worker import try_kernel
from core.runtime.hip import hiprtc
from core.target import targets
from core.toolchain import nvrtc
from core.toolchain.program import Program
from tests.core.runtime.asts import KERNELS, add
from tests.core.runtime.gpu.test_hip import FakeRtc

needs_nvrtc = pytest.mark.skipif(nvrtc.library() is None, reason="NVRTC is not installed")


def program(target: str) -> Program:
    return compile_kernel(add(64), targets[target])


def text_of(kind: str, target: str) -> str:
    (found,) = [a.text for a in sources_for(add(64), targets[target]) if a.kind == kind]
    return found


@pytest.fixture
def rtc(monkeypatch: pytest.MonkeyPatch) -> Any:
    """hiprtc that takes any text."""
    fake = FakeRtc()
    monkeypatch.setitem(sys.modules, hiprtc.MODULE, fake)
    hiprtc._api.cache_clear()
    yield fake
    hiprtc._api.cache_clear()


class TestPtxOfADriver:
    def test_is_taken_as_it_is(self) -> None:
        """Also with instructions that the emulator does not know: the driver's compiler judges."""
        own = program("sm_90")
        text = own.source.text.replace("  ret;", "  nanosleep.u32 20;\n  ret;")
        made = with_text(own, "CUDA:1", Edited("ptx", text))
        assert made.source.text == text
        assert (made.source.kind, made.source.lines) == ("ptx", ())

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            (".param .u64 data0", ".param .u32 data0", "parameters of"),
            (".param .u64 data0,", ".param .u64 data0, .param .align 8 .b8 more[24],", "24"),
            (".param .u64 data0,", "", "takes 2 parameters"),
            (".param .u64 data0,", "// .param .u64 data0,", "takes 2 parameters"),
            (".entry ", ".entry another_", "there is no kernel"),
        ],
    )
    def test_keeps_its_name_and_parameters(self, old: str, new: str, said: str) -> None:
        own = program("sm_90")
        assert own.source.text.count(old) == 1
        with pytest.raises((RunError, CompileError), match=said):
            with_text(own, "CUDA", Edited("ptx", own.source.text.replace(old, new)))

    @pytest.mark.parametrize("text", ["", "\0", "(" * 10_000, ".entry " * 10_000, "/*" * 10_000])
    def test_may_be_anything(self, text: str) -> None:
        with pytest.raises(CompileError, match="there is no kernel"):
            with_text(program("sm_90"), "CUDA", Edited("ptx", text))


class TestLlvmOfAGpu:
    @pytest.mark.parametrize("device", ["AMD", "AMD:EMU"])
    def test_keeps_its_parameter_sizes(self, device: str) -> None:
        own = program("gfx942")
        assert with_text(own, device, Edited("llvm", own.source.text)).source.text
        text = own.source.text.replace("(ptr addrspace(1) ", "(i32 %more, ptr addrspace(1) ", 1)
        assert text != own.source.text
        with pytest.raises((RunError, CompileError), match="parameters"):
            with_text(own, device, Edited("llvm", text))


class TestHip:
    def test_is_compiled_by_hiprtc(self, rtc: FakeRtc) -> None:
        own = program("gfx942")
        text = "// mine\n" + text_of("hip", "gfx942")
        made = with_text(own, "AMD", Edited("hip", text))
        assert (made.source.kind, made.source.text) == ("hip", text)
        assert hiprtc.compiled(made) == text.encode()

    def test_a_mistake_has_its_line(self, rtc: FakeRtc) -> None:
        rtc.log = "k.hip:7:3: error: use of undeclared identifier 'x'\n  x = 1;\n  ^\n1 error"
        with pytest.raises(CompileError, match="use of undeclared identifier 'x'") as caught:
            with_text(program("gfx942"), "AMD", Edited("hip", "x"))
        assert caught.value.where == "line 7"
        assert "discard the edits" in caught.value.hint

    def test_without_hiprtc_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(hiprtc, "present", lambda: False)
        with pytest.raises(RunError, match=r"hiprtc, ROCm's compiler .* pip install"):
            with_text(program("gfx942"), "AMD", Edited("hip", "x"))


class TestCuda:
    def test_a_mistake_has_its_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def reject(*_: str) -> str:
            raise CompileError(
                "NVRTC rejects it", 'k.cu(12): error: expected a ";"\n  x\n', "report"
            )

        monkeypatch.setattr(nvrtc, "library", lambda: object())
        monkeypatch.setattr(nvrtc, "ptx_of", reject)
        with pytest.raises(CompileError, match='expected a ";"') as caught:
            with_text(program("sm_90"), "PTX:EMU", Edited("cuda", "x"))
        assert caught.value.where == "line 12"

    def test_its_parameters_are_checked(self, monkeypatch: pytest.MonkeyPatch) -> None:
        own = program("sm_90")
        other = own.source.text.replace(".param .u64 data0,", "")

        def compile_other(*_: str) -> str:
            return other

        monkeypatch.setattr(nvrtc, "library", lambda: object())
        monkeypatch.setattr(nvrtc, "ptx_of", compile_other)
        with pytest.raises(RunError, match="takes 2 parameters"):
            with_text(own, "CUDA", Edited("cuda", "x"))

    @needs_nvrtc
    @pytest.mark.parametrize("name", ["add", "matmul", "transcendental", "half_matmul"])
    def test_runs_on_the_emulator(self, name: str) -> None:
        ast = KERNELS[name]()
        (text,) = [a.text for a in sources_for(ast, targets["sm_90"]) if a.kind == "cuda"]
        found = try_kernel(ast, "PTX:EMU", 1, source=Edited("cuda", text))
        assert found.equal


class TestWhatCanBeEdited:
    def test_says_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(nvrtc, "library", lambda: None)
        rows = editable_on(["CPU", "REFERENCE", "PTX:EMU", "AMD:EMU"])
        by = {(row["device"], row["kind"]): row for row in rows}
        assert by["PTX:EMU", "ptx"] | {"missing": ""} == by["PTX:EMU", "ptx"]
        assert by["PTX:EMU", "ptx"]["target"] == "sm_90"
        assert "pip install 'uopviz[compilers]'" in by["PTX:EMU", "cuda"]["missing"]
        assert "AMD GPUs only" in by["", "hip"]["missing"]
        assert not any(row["device"] == "REFERENCE" for row in rows)

    def test_a_device_of_another_target(self) -> None:
        (row,) = [r for r in editable_on(["PTX:EMU:SM_75"]) if r["kind"] == "ptx"]
        assert (row["device"], row["target"]) == ("PTX:EMU:SM_75", "sm_75")

    @pytest.mark.parametrize("device", ["REFERENCE", "NULL", "CPUX", ""])
    def test_other_devices_run_none(self, device: str) -> None:
        with pytest.raises(RunError, match="cannot run an edited 'ptx' text"):
            with_text(program("sm_90"), device, Edited("ptx", ""))

    def test_each_kind_of_text_once_per_device(self) -> None:
        for texts in EDITABLE.values():
            assert len({text.kind for text in texts}) == len(texts)


def test_an_emulated_run_counts_instructions() -> None:
    found = try_kernel(add(64), "PTX:EMU", 100)
    assert found.equal
    assert len(found.us) == 1
    text = program("sm_90").source.text
    body = text[text.index("\n{") :]
    lines = len(re.findall(r"^  [^.\s][^\n]*;$", body, re.MULTILINE))
    assert found.instructions == 64 * lines  # no branches: each thread runs each line
    assert try_kernel(add(64), "CPU", 2).instructions is None
