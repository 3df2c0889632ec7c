"""Texts that a user has edited: run, compared, and refused where they hold what they must not."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import viz
from core import Tensor
from core.errors import CompileError, RunError, ServerError
from core.isolation.isolate import MAX_TEXT
from core.isolation.llvm_edited import checked_ir
from core.toolchain.processor import host_target
from core.trial.difference import first_wrong
from tests.viz.server.client import value_of
from viz.coreserver.actions import CoreActions
from viz.coreserver.options import Options, options_of
from viz.server.state import State
from viz.views.answers import RUN
from viz.views.store import Store


def launch(state: State, kernel: int, device: str, count: int, options: Options) -> int:
    return state.part(CoreActions).launch(state.first, kernel, device, count, options)


def compiled(state: State, kernel: int, target: str) -> int:
    return state.part(CoreActions).compile(state.first, kernel, target)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[State]:
    path: Path = tmp_path_factory.mktemp("edited") / "t.viz"
    with viz.record(path):
        a = Tensor.arange(24).float().realize()
        (a * 0.75 + 3.0).sqrt().realize()
    made = State(Store(path))
    yield made
    made.close()


@pytest.fixture(scope="module")
def kernel(state: State) -> int:
    """The one with the square root."""
    texts = {k: state.first.store.kernel(k) for k in state.first.store.kernels()}
    (found,) = [k for k, data in texts.items() if "llvm.sqrt" in str(data)]
    return found


def ended(state: State, job: int) -> Any:
    deadline = time.monotonic() + 60
    while (found := state.machine.jobs.get(job)) is not None and found.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


@pytest.fixture(scope="module")
def own(state: State, kernel: int) -> str:
    """The compiler's text of the kernel."""
    made = ended(state, compiled(state, kernel, host_target().name)).result
    (text,) = [a["text"] for a in made if a["kind"] == "llvm"]
    return str(text)


def run(state: State, kernel: int, text: str, device: str = "CPU", kind: str = "llvm") -> Any:
    return ended(
        state,
        launch(state, kernel, device, 3, Options(None, (), {"kind": kind, "text": text})),
    )


def test_the_same_text_is_right(state: State, kernel: int, own: str) -> None:
    job = run(state, kernel, own)
    assert job.error is None
    assert job.result["equal"] is True
    assert job.result["source"] == "llvm"
    assert job.result["opts"] is None
    assert len(job.result["us"]) == 3
    plain = ended(
        state,
        launch(state, kernel, "CPU", 3, Options(None, (), None)),
    )
    assert plain.result["source"] is None


def test_another_constant_is_wrong_and_says_where(state: State, kernel: int, own: str) -> None:
    assert "3.000000e+00" in own
    job = run(state, kernel, own.replace("3.000000e+00", "4.000000e+00"))
    assert job.error is None
    assert job.result["equal"] is False
    said = re.search(r"first wrong element is 0: (\S+) in place of (\S+)", job.result["detail"])
    assert said is not None
    assert float(said[1]) ** 2 == pytest.approx(float(said[2]) ** 2 + 1, rel=1e-5)


def test_the_first_wrong_element() -> None:
    wanted = np.asarray([1, 2, 3, 4], np.float32)
    got = np.asarray([1, 2.00001, 5, np.nan], np.float32)
    assert first_wrong(got, wanted, "float32", 1e-4) == (2, 5.0, 3.0)


def test_an_error_of_syntax_names_its_line(state: State, kernel: int, own: str) -> None:
    job = run(state, kernel, own.replace("ret void", "ret viod"))
    line = own[: own.index("ret void")].count("\n") + 1
    assert job.error["what"] == "expected type"
    assert job.error["where"] == f"line {line}"


def test_an_error_of_meaning_names_its_line(own: str) -> None:
    name = kernel_name(own)
    at = own.index("  ret void")
    bad = own[:at] + "  %late = add i32 %later, 1\n  %later = add i32 1, 2\n" + own[at:]
    with pytest.raises(CompileError, match="dominate") as caught:
        checked_ir(bad, own, name)
    assert caught.value.where == f"line {own[:at].count(chr(10)) + 2}"
    with pytest.raises(CompileError, match="ASCII") as caught:
        checked_ir("\n" + own.replace("entry", "entrée"), own, name)
    assert caught.value.where.startswith("line ")


def kernel_name(own: str) -> str:
    found = re.search(r"define void @(\w+)\(", own)
    assert found is not None
    return found[1]


OUTSIDE = {
    'module asm "nop"': "assembly outside the function",
    "@far = external global i32": "variable of another program",
    "@here = global i32 1": "a global variable",
    '@here = private constant i32 1, section ".init_array"': "a global variable",
    "@llvm.global_ctors = appending global [0 x { i32, ptr, ptr }] zeroinitializer": "constructors",
    "@llvm.used = appending global [1 x ptr] [ptr @NAME]": "linker",
    "@other = alias void (), ptr @NAME": "alias",
    "@other = ifunc void (), ptr @chosen\ndefine ptr @chosen() {\n  ret ptr null\n}": "alias",
    "declare i32 @system(ptr)": "declares @system",
    "declare void @llvm.trap()": "declares @llvm.trap",
    'declare i32 @"llvm.sqrt.f32 "(ptr)': "text",
    'declare float @llvm.sqrt.f32(float) gc "shadow-stack"': "text",
    "define void @second() {\n  ret void\n}": "nothing else",
    "define internal void @second() prefix i32 7 {\n  ret void\n}": "nothing else",
    "$group = comdat any": "",
    '!llvm.linker.options = !{!900}\n!900 = !{!"-lm"}': "metadata",
    '!llvm.dependent-libraries = !{!900}\n!900 = !{!"m"}': "metadata",
    '!llvm.module.flags\n = !{!900}\n!900 = !{i32 1, !"cf-protection-branch", i32 1}': "metadata",
    "%pair = type { i32, ptr }\n@here = global %pair zeroinitializer": "",
    'target datalayout = "e-p:32:32-A5-P1"': "layout",
    'target triple = "amdgcn-amd-amdhsa"': "another target",
}


@pytest.mark.parametrize("line", OUTSIDE)
def test_what_a_module_may_not_hold(own: str, line: str) -> None:
    name = kernel_name(own)
    text = own + line.replace("NAME", name) + "\n"
    if line.startswith("target"):
        text = f"{line}\n{own.partition(chr(10))[2]}"
    if line.startswith("$"):  # LLVM forgets a group that nobody belongs to
        text = text.replace(") #0", ") #0 comdat($group)", 1)
    with pytest.raises(RunError, match="this text is not run") as caught:
        checked_ir(text, own, name)
    assert OUTSIDE[line] in caught.value.what


INSIDE = {
    'call void asm sideeffect "nop", ""()': "assembly",
    "call void %data0()": "do not call",
    "%p = inttoptr i64 4096 to ptr\n  call void %p()": "inttoptr",
    "call void inttoptr (i64 4096 to ptr)()": "do not call",
    "%p = load ptr, ptr %data0, align 8\n  call void %p()": "do not call",
    "tail call void %data0()": "do not call",
    "indirectbr ptr blockaddress(@NAME, %away), [label %away]\naway:": "indirectbr",
    'callbr void asm "nop", ""() to label %away []\naway:': "assembly",
    "store ptr blockaddress(@NAME, %away), ptr %data0\n  br label %away\naway:": "not computed",
    "store ptr @NAME, ptr %data0": "not computed",
    "store ptr inttoptr (i64 4096 to ptr), ptr %data0": "not computed",
    "store <2 x ptr> <ptr null, ptr inttoptr (i64 4096 to ptr)>, ptr %data0": "not computed",
    "store i64 ptrtoint (ptr @NAME to i64), ptr %data0": "not computed",
    "store ptr getelementptr (i8, ptr @NAME, i64 1), ptr %data0": "not computed",
    "%q = ptrtoint ptr %data0 to i64": "ptrtoint",
    "%q = load i32, ptr addrspace(257) null": "not computed",
    "%q = addrspacecast ptr %data0 to ptr addrspace(257)": "addrspacecast",
    "%q = atomicrmw add ptr %data0, i32 1 seq_cst": "atomicrmw",
    "fence seq_cst": "fence",
    "unreachable\naway:": "unreachable",
    "%q = va_arg ptr %data0, i32": "va_arg",
    '%q = load atomic i32, ptr %data0 syncscope("x") monotonic, align 4': "atomic",
    "%q = load atomic i32, ptr %data0 seq_cst, align 4": "atomic",
    "store atomic i32 1, ptr %data0 release, align 4": "atomic",
    "%q = load atomic volatile i32, ptr %data0 seq_cst, align 4": "atomic",
    "%q = load volatile i32, ptr %data0, align 4": "volatile",
    "store volatile i32 1, ptr %data0, align 4": "volatile",
    "%q = load i32, ptr %data0, !nontemporal !{i32 1}": "metadata",
    "call void @llvm.trap()": "do not call",
    '%q = call float @llvm.sqrt.f32(float 1.0) [ "deopt"(ptr %data0) ]': "more than arguments",
    '%q = call float @llvm.sqrt.f32(float 1.0) nobuiltin "probe"': "text",
    "%q = call float @llvm.sqrt.f32(float 1.0) cold": "more than arguments",
    "%q = call fastcc float @llvm.sqrt.f32(float 1.0)": "more than arguments",
    "call void @NAME(ptr %data0)": "do not call",
}


@pytest.mark.parametrize("line", INSIDE)
def test_what_the_function_may_not_hold(own: str, line: str) -> None:
    name, at = kernel_name(own), own.index("  ret void")
    with pytest.raises(RunError, match="this text is not run") as caught:
        checked_ir(f"{own[:at]}  {line.replace('NAME', name)}\n{own[at:]}", own, name)
    assert INSIDE[line] in caught.value.what


INTRINSICS_WITH_POWER = (
    *("void @llvm.coro.destroy(ptr %data0)", "void @llvm.coro.resume(ptr %data0)"),
    *("void @llvm.memcpy.p0.p0.i64(ptr %data0, ptr %data0, i64 4, i1 false)",),
    *("void @llvm.memset.p0.i64(ptr %data0, i8 0, i64 4, i1 false)", "void @llvm.debugtrap()"),
    *("i64 @llvm.read_register.i64(metadata !{!\"rsp\"})", "ptr @llvm.returnaddress(i32 0)"),
    *("void @llvm.init.trampoline(ptr %data0, ptr @NAME, ptr %data0)",),
    *("ptr @llvm.frameaddress.p0(i32 0)", "ptr @llvm.stacksave.p0()", "i64 @llvm.vscale.i64()"),
    *("void @llvm.clear_cache(ptr %data0, ptr %data0)", "ptr @llvm.thread.pointer.p0()"),
    *("void (i64, i32, ...) @llvm.experimental.stackmap(i64 0, i32 0)",),
    "i64 (i64, i32, ptr, i32, ...) @llvm.experimental.patchpoint.i64(i64 0, i32 0, ptr null,i32 0)",
    *("ptr @llvm.load.relative.i64(ptr %data0, i64 0)", "void @llvm.eh.sjlj.longjmp(ptr %data0)"),
)  # fmt: skip


@pytest.mark.parametrize("call", INTRINSICS_WITH_POWER)
def test_functions_of_llvm_that_do_more_than_arithmetic(own: str, call: str) -> None:
    name, at = kernel_name(own), own.index("  ret void")
    result = "" if call.startswith("void") else "%q = "
    line = f"{result}call {call.replace('NAME', name)}"
    with pytest.raises(RunError, match=r"declares @llvm|do not call|metadata"):
        checked_ir(f"{own[:at]}  {line}\n{own[at:]}", own, name)


@pytest.mark.parametrize("sign", "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\0\x1b\x7f", ids=ascii)
def test_other_ends_of_lines_end_nothing(own: str, sign: str) -> None:
    """A comment that another program takes for ended hides no line."""
    name, at = kernel_name(own), own.index("  ret void")
    hidden = f"  ; harmless{sign}  call void %data0()"
    with pytest.raises(CompileError, match="ASCII") as caught:
        checked_ir(f"{own[:at]}{hidden}\n{own[at:]}", own, name)
    assert caught.value.where == f"line {own[:at].count(chr(10)) + 1}"
    assert ascii(sign)[1:-1] in caught.value.what


def test_the_ends_of_lines_of_other_systems_are_taken(own: str) -> None:
    name = kernel_name(own)
    assert checked_ir(own.replace("\n", "\r\n"), own, name) == checked_ir(own, own, name)


def test_what_runs_is_what_was_judged(own: str) -> None:
    """The text is the one that LLVM prints; a text that was checked once is taken again."""
    name = kernel_name(own)
    checked = checked_ir(own, own, name)
    assert "!dbg" not in checked
    assert checked_ir(checked, own, name).split("\n", 1)[1] == checked.split("\n", 1)[1]


def test_edits_that_users_make_are_taken(own: str) -> None:
    name, at = kernel_name(own), own.index("  ret void")
    for line in (
        "%q = call fast <2 x half> @llvm.sqrt.v2f16(<2 x half> splat (half 1.0))",
        "%q = call <2 x float> @llvm.sqrt.v2f32(<2 x float> <float 1.0, float 2.0>)",
        "%q = tail call float @llvm.sqrt.f32(float 2.0)",
        "%q = freeze i32 poison",
        "%q = fadd nnan nsz float 1.0, 0x7FF0000000000000",
        "%q = getelementptr inbounds nuw i8, ptr %data0, i64 4",
        "br i1 true, label %on, label %off\non:\n  br label %off\noff:",
    ):
        checked_ir(f"{own[:at]}  {line}\n{own[at:]}", own, name)


def test_another_signature_is_refused(own: str) -> None:
    name = kernel_name(own)
    checked_ir(own, own, name)
    for changed in (
        own.replace("ptr noalias", "i64 %more, ptr noalias", 1),
        own.replace("ptr noalias", "ptr", 1),
        own.replace(") #0", ") #0 align 4096", 1),
        own.replace(") #0", ") #0 prefix i32 7", 1),
        own.replace(") #0", ") #0 prologue i32 7", 1),
        own.replace(") #0", ") #0 personality ptr null", 1),
        own.replace("define void", "define weak void", 1),
        own.replace("define void", "define fastcc void", 1),
        own.replace("{ nounwind }", "{ nounwind sanitize_address }"),
        own.replace("{ nounwind }", "{ nounwind presplitcoroutine }"),
        own.replace("{ nounwind }", "{ nounwind ssp }"),
        own.replace("{ nounwind }", "{ cold }"),
    ):
        assert changed != own
        with pytest.raises(RunError, match="not the kernel's") as caught:
            checked_ir(changed, own, name)
        assert "keep the line" in caught.value.hint
    for more in ('section ".init_array"', 'gc "shadow-stack"', 'partition "p"'):
        with pytest.raises(RunError, match="is a text"):
            checked_ir(own.replace(") #0", f") #0 {more}", 1), own, name)
    with pytest.raises(RunError, match="has to define"):
        checked_ir(own.replace(f"@{name}(", "@main("), own, name)
    with pytest.raises(RunError, match="has to define"):
        checked_ir("", own, name)
    with pytest.raises(RunError, match="attribute that is a text"):
        checked_ir(own.replace("{ nounwind }", '{ nounwind "probe-stack"="system" }'), own, name)


def test_refusals_reach_the_page(state: State, kernel: int, own: str) -> None:
    job = run(state, kernel, own + 'module asm "nop"\n')
    assert "this text is not run" in job.error["what"]
    assert "that the compiler writes" in job.error["hint"]
    assert "cannot run" in run(state, kernel, "int main() {}", kind="c").error["what"]
    assert "runs no texts" in run(state, kernel, own, device="REFERENCE").error["what"]
    with pytest.raises(ServerError, match="too long"):
        options_of({"source": {"kind": "llvm", "text": "; " * MAX_TEXT}}, None)


def test_an_endless_loop_ends_by_the_limit(
    state: State, kernel: int, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.jobs.jobs.LIMIT", 5.0)
    at = own.index("  ret void")
    job = run(state, kernel, f"{own[:at]}  br label %on\non:\n  br label %on\n}}\n{rest(own)}")
    assert "took longer than 5 seconds" in job.error["what"]


def rest(own: str) -> str:
    return own[own.index("\n}\n") + 3 :]


def test_the_page_is_told_what_can_be_edited(state: State) -> None:
    until = time.monotonic() + 60
    while (
        not (editable := value_of(state.first.answer(RUN))["editable"]) and time.monotonic() < until
    ):
        time.sleep(0.05)
    without = {(e["device"], e["kind"], e["target"]) for e in editable if not e["missing"]}
    assert {
        ("CPU", "llvm", host_target().name),
        ("PTX:EMU", "ptx", "sm_90"),
        ("AMD:EMU", "llvm", "gfx942"),
    } <= without
    missing = {e["kind"]: e["missing"] for e in editable if e["missing"]}
    assert set(missing) <= {"cuda", "hip", "opencl"}


def test_mixtures_of_what_is_refused_are_refused_or_hold_nothing_of_it(own: str) -> None:
    """Lines of the lists above and pieces of them, in any place: what is taken is arithmetic."""
    seed = 11
    random = Random(seed)
    name = kernel_name(own)
    lines = [*OUTSIDE, *INSIDE, *(f"call {call}" for call in INTRINSICS_WITH_POWER)]
    words = sorted({word for line in lines for word in re.findall(r"[\w.@%\"]+|[^\w\s]", line)})
    taken = 0
    for _ in range(150):
        rows = own.split("\n")
        for _ in range(random.randrange(1, 4)):
            at = random.randrange(len(rows))
            match random.randrange(3):
                case 0:
                    rows.insert(at, random.choice(lines).replace("NAME", name))
                case 1:
                    parts = rows[at].split(" ")
                    parts.insert(random.randrange(len(parts) + 1), random.choice(words))
                    rows[at] = " ".join(parts)
                case _:
                    rows.insert(at, rows.pop(random.randrange(len(rows))))
        try:
            checked = checked_ir("\n".join(rows), own, name)
        except (CompileError, RunError):
            continue
        taken += 1
        bare = "\n".join(line.partition(";")[0] for line in checked.split("\n"))
        called = set(re.findall(r"@([\w.\"]+)", bare)) - {name}
        assert all(re.match(r"llvm\.(sqrt|fma)\.", found) for found in called), (seed, rows)
        assert not re.search(r"asm|inttoptr|ptrtoint|blockaddress|addrspace|!", bare), (seed, rows)
    assert taken, "some change nothing"
