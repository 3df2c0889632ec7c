"""Texts that a user has edited: run, compared, and refused where they hold what they must not."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import viz
from core import Tensor
from core.errors import CompileError, RunError, ServerError
from core.runtime.edited import MAX_TEXT
from core.runtime.llvm_edited import checked_ir
from core.runtime.processor import host_target
from core.runtime.worker import first_wrong
from viz.server.state import State
from viz.store import Store


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
    texts = {k: state.store.kernel(k) for k in state.store.kernels()}
    (found,) = [k for k, data in texts.items() if "llvm.sqrt" in str(data)]
    return found


def ended(state: State, job: int) -> Any:
    deadline = time.monotonic() + 60
    while (found := state.jobs.get(job)) is not None and found.state == "running":
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


@pytest.fixture(scope="module")
def own(state: State, kernel: int) -> str:
    """The compiler's text of the kernel."""
    made = ended(state, state.compile(kernel, host_target().name)).result
    (text,) = [a["text"] for a in made if a["kind"] == "llvm"]
    return str(text)


def run(state: State, kernel: int, text: str, device: str = "CPU", kind: str = "llvm") -> Any:
    return ended(state, state.launch(kernel, device, 3, source={"kind": kind, "text": text}))


def test_the_same_text_is_right(state: State, kernel: int, own: str) -> None:
    job = run(state, kernel, own)
    assert job.error is None
    assert job.result["equal"] is True
    assert job.result["source"] == "llvm"
    assert job.result["opts"] is None
    assert len(job.result["us"]) == 3
    plain = ended(state, state.launch(kernel, "CPU", 3))
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
    "@other = alias void (), ptr @NAME": "alias",
    "@other = ifunc void (), ptr @chosen\ndefine ptr @chosen() {\n  ret ptr null\n}": "alias",
    "declare i32 @system(ptr)": "declares @system",
    "define void @second() {\n  ret void\n}": "nothing else",
    "$group = comdat any": "",
    '!llvm.linker.options = !{!900}\n!900 = !{!"-lm"}': "do not need",
}


@pytest.mark.parametrize("line", OUTSIDE)
def test_what_a_module_may_not_hold(own: str, line: str) -> None:
    name = kernel_name(own)
    text = own + line.replace("NAME", name) + "\n"
    if line.startswith("$"):  # LLVM forgets a group that nobody belongs to
        text = text.replace(") #0", ") #0 comdat($group)", 1)
    with pytest.raises(RunError, match="this text is not run") as caught:
        checked_ir(text, own, name)
    assert OUTSIDE[line] in caught.value.what


INSIDE = {
    'call void asm sideeffect "nop", ""()': "assembly",
    "call void %data0()": "not an intrinsic",
    "%p = inttoptr i64 4096 to ptr\n  call void %p()": "not an intrinsic",
    "indirectbr ptr blockaddress(@NAME, %away), [label %away]\naway:": "indirectbr",
    'callbr void asm "nop", ""() to label %away []\naway:': "callbr",
}


@pytest.mark.parametrize("line", INSIDE)
def test_what_the_function_may_not_hold(own: str, line: str) -> None:
    name, at = kernel_name(own), own.index("  ret void")
    with pytest.raises(RunError, match="this text is not run") as caught:
        checked_ir(f"{own[:at]}  {line.replace('NAME', name)}\n{own[at:]}", own, name)
    assert INSIDE[line] in caught.value.what


def test_another_signature_is_refused(own: str) -> None:
    name = kernel_name(own)
    checked_ir(own, own, name)
    for changed in (
        own.replace("ptr noalias", "i64 %more, ptr noalias", 1),
        own.replace("ptr noalias", "ptr", 1),
        own.replace(") #0", ') #0 section ".init_array"', 1),
    ):
        assert changed != own
        with pytest.raises(RunError, match="not the kernel's") as caught:
            checked_ir(changed, own, name)
        assert "keep the line" in caught.value.hint
    with pytest.raises(RunError, match="has to define"):
        checked_ir(own.replace(f"@{name}(", "@main("), own, name)
    with pytest.raises(RunError, match="has to define"):
        checked_ir("", own, name)
    with pytest.raises(RunError, match="attribute that is a text"):
        checked_ir(own.replace("{ nounwind }", '{ nounwind "probe-stack"="system" }'), own, name)


def test_refusals_reach_the_page(state: State, kernel: int, own: str) -> None:
    job = run(state, kernel, own + 'module asm "nop"\n')
    assert "this text is not run" in job.error["what"]
    assert "intrinsics only" in job.error["hint"]
    assert "cannot run" in run(state, kernel, "int main() {}", kind="c").error["what"]
    assert "runs no texts" in run(state, kernel, own, device="REFERENCE").error["what"]
    with pytest.raises(ServerError, match="too long"):
        state.launch(kernel, "CPU", 1, source={"kind": "llvm", "text": "; " * MAX_TEXT})


def test_an_endless_loop_ends_by_the_limit(
    state: State, kernel: int, own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz.jobs.LIMIT", 5.0)
    at = own.index("  ret void")
    job = run(state, kernel, f"{own[:at]}  br label %on\non:\n  br label %on\n}}\n{rest(own)}")
    assert "took longer than 5 seconds" in job.error["what"]


def rest(own: str) -> str:
    return own[own.index("\n}\n") + 3 :]


def test_the_page_is_told_what_can_be_edited(state: State) -> None:
    assert state.run()["editable"] == [
        {"device": "CPU", "kind": "llvm", "target": host_target().name}
    ]
