"""What the compiler itself writes passes as an edited text, and nothing more is on the list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from core.dtype import DType, dtypes
from core.isolation.llvm_edited import OPCODES, checked_ir
from core.render import llvm
from core.render.llvm import INTRINSICS
from core.target import targets
from core.uop.ops import Ops
from core.uop.uop import UOp
from tests.core.render.programs import ON_ALL, Build
from tests.core.render.test_ops import APPROXIMATE, PLAIN, all_ops, casts_from, ops_of

CALLED = re.compile(r"@llvm\.([\w.]+?)(?=(?:\.(?:v\d+)?(?:f16|bf16|f32|f64|i\d+|p0))+\()")
OPCODE = re.compile(r"^  (?:%[\w.]+ = )?([a-z]+) ", re.MULTILINE)
HARMLESS = {"freeze"}
"""Not written, and allowed: it computes a value of a value."""


def programs(dtype: DType) -> Iterator[list[UOp]]:
    """Every op and every conversion of a dtype."""
    ops = ops_of(dtype)
    if dtypes.is_float(dtype):
        ops = (*ops, *APPROXIMATE, Ops.MULACC, Ops.POW)
    for lanes in (1, 4):
        yield all_ops(dtype, ops, lanes, 64)
    for bitcast in (False, True):
        yield casts_from(dtype, bitcast)[1]


def lane() -> list[UOp]:
    """One lane of a vector."""
    b = Build()
    out, x = b.pointer(0, dtypes.float32, 1), b.pointer(1, dtypes.float32, 4)
    b.store(out, 0, b.add(b.load(x, 0, 4).gep(2)))
    return b.done()


def texts(found: Sequence[list[UOp]]) -> list[str]:
    return [llvm.render(uops, "kernel", targets["x86-64"]).text for uops in found]


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
def test_the_compilers_own_text_passes(dtype: DType) -> None:
    for text in texts(list(programs(dtype))):
        checked_ir(text, text, "kernel")


@pytest.mark.parametrize("name", ON_ALL)
def test_the_compilers_own_programs_pass(name: str) -> None:
    (text,) = texts([ON_ALL[name]()])
    checked_ir(text, text, "kernel")


def test_the_lists_hold_what_is_written_and_nothing_else() -> None:
    found = [p for dtype in PLAIN for p in programs(dtype)]
    found += [lane(), *(make() for make in ON_ALL.values())]
    text = "\n".join(texts(found))
    assert set(CALLED.findall(text)) == set(INTRINSICS)
    assert text.count("@llvm.") == len(CALLED.findall(text))
    assert set(OPCODE.findall(text)) | HARMLESS == set(OPCODES)
