"""Machine code of this processor on disk: a second process compiles nothing, and what does not fit
is compiled again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.runtime.discover import findings
from core.toolchain import llvm_compiler
from core.toolchain.processor import Machine, host

PROGRAM = """
from core import Tensor
from core.toolchain import llvm_compiler
compiled = 0
make = llvm_compiler.object_code
def counting(*arguments):
    global compiled
    compiled += 1
    return make(*arguments)
llvm_compiler.object_code = counting
assert (Tensor([1.0, 2.0]) * 3 + 4).tolist() == [7.0, 10.0]
print(compiled)
"""
TEXT = "define void @kept(ptr %p) {\n  store i32 7, ptr %p\n  ret void\n}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path / "uopviz" / "object"


def run() -> int:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    )
    return int(done.stdout)


def compiled(monkeypatch: pytest.MonkeyPatch, machine: Machine) -> int:
    """How often LLVM is asked for the object of TEXT."""
    calls: list[str] = []

    def make(text: str, name: str, machine: Machine) -> bytes:
        calls.append(text)
        return b"object"

    monkeypatch.setattr(llvm_compiler, "object_code", make)
    assert llvm_compiler._kept_object(TEXT, "kept", machine) == b"object"
    return len(calls)


def test_a_second_process_compiles_nothing(folder: Path) -> None:
    assert run() > 0
    assert run() == 0


@pytest.mark.parametrize("damage", [b"", b"x" * 100])
def test_a_damaged_file_is_compiled_again(folder: Path, damage: bytes) -> None:
    first = run()
    for file in folder.iterdir():
        file.write_bytes(damage)
    assert run() == first
    assert run() == 0


def test_another_processor_has_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = host().machine
    assert compiled(monkeypatch, here) == 1
    assert compiled(monkeypatch, here) == 0
    assert compiled(monkeypatch, Machine(here.triple, here.cpu, here.features + ",-fma")) == 1
    assert compiled(monkeypatch, Machine(here.triple, f"other-{here.cpu}", here.features)) == 1


def test_another_llvm_has_its_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = host().machine
    assert compiled(monkeypatch, here) == 1
    monkeypatch.setattr(llvm_compiler, "_made_by", lambda: ("1.0.0",))
    assert compiled(monkeypatch, here) == 1


def test_where_nothing_can_be_kept_it_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "uopviz").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compiled(monkeypatch, host().machine) == 1
    assert compiled(monkeypatch, host().machine) == 1


def test_it_is_told_where_and_how_much(folder: Path) -> None:
    run()
    (found,) = [f for f in findings() if f.looked_for == "kept code"]
    assert str(folder) in found.found
    assert "kernels" in found.found
