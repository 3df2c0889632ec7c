"""Targets whose vectors are wider than those of this machine: their texts have these widths, and
compile. Nothing runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from core import Tensor
from core.compile import sources_for
from core.dtype import to_dtype
from core.target import targets
from core.toolchain.llvm_compiler import assembly
from core.toolchain.processor import processor

COMPILER = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
BYTES = {"aarch64-amx": 64, "hexagon": 128}


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("name", BYTES)
def test_texts_have_vectors_of_the_target(name: str, dtype: str, tmp_path: Path) -> None:
    x, y = (Tensor.empty(64, 64, dtype=dtype) for _ in range(2))
    target = targets[name]
    texts = {a.kind: a.text for a in sources_for((x @ y).schedule()[-1].ast, target)}
    lanes = BYTES[name] // 4
    assert lanes == target.alu_lanes(to_dtype(dtype))
    moved = re.findall(r"(?:load|store) <(\d+) x", texts["llvm"])
    assert max(map(int, moved)) == lanes
    assert assembly(texts["llvm"], _name(texts["llvm"]), target)
    assert f"{dtype}x{lanes}" in texts["c"]
    if COMPILER is not None:
        source = tmp_path / "k.c"
        source.write_text(texts["c"], encoding="utf-8")
        command = [COMPILER, "-std=c11", "-O1", "-Wno-psabi", "-c", "-o", str(tmp_path / "k.o")]
        done = subprocess.run([*command, str(source)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr


def _name(text: str) -> str:
    found = re.search(r"define void @(\w+)", text)
    assert found is not None
    return found[1]


def test_no_machine_is_taken_for_one() -> None:
    """AMX is no feature that LLVM tells of a machine."""
    found = processor("native", "arm64-apple-darwin", "apple-m1", {"neon", "fullfp16"})
    assert found.target.name == "aarch64"
