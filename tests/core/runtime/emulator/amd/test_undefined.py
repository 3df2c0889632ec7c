"""What LLVM leaves open is a fault of the thread that does it: every pair of bytes against exact
integers, and what is said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core.errors import CompileError, FaultError
from core.runtime.emulator.llvm.compute.conversions import conversion, promised
from core.runtime.emulator.llvm.compute.integers import BINARY, FLAGS
from core.runtime.emulator.llvm.text.types import Float, Int
from core.runtime.emulator.program import Precondition
from tests.core.runtime.emulator.amd.kernels import kernel
from tests.core.runtime.emulator.amd.running import run

A, B = (v.ravel() for v in np.meshgrid(np.arange(256), np.arange(256)))


def signed(v: int) -> int:
    return v - 256 if v > 127 else v


def toward_zero(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def fits(v: int) -> bool:
    return -128 <= v <= 127


EXACT: dict[tuple[str, str], Callable[[int, int], bool]] = {
    ("add", "nsw"): lambda a, b: not fits(signed(a) + signed(b)),
    ("sub", "nsw"): lambda a, b: not fits(signed(a) - signed(b)),
    ("mul", "nsw"): lambda a, b: not fits(signed(a) * signed(b)),
    ("shl", "nsw"): lambda a, b: b < 8 and not fits(signed(a) << b),
    ("add", "nuw"): lambda a, b: a + b > 255,
    ("sub", "nuw"): lambda a, b: a < b,
    ("mul", "nuw"): lambda a, b: a * b > 255,
    ("shl", "nuw"): lambda a, b: b < 8 and a << b > 255,
    ("udiv", "exact"): lambda a, b: b != 0 and a % b != 0,
    ("sdiv", "exact"): lambda a, b: b != 0 and abs(signed(a)) % abs(signed(b)) != 0,
    ("lshr", "exact"): lambda a, b: b < 8 and a % (1 << b) != 0,
    ("ashr", "exact"): lambda a, b: b < 8 and a % (1 << b) != 0,
    ("or", "disjoint"): lambda a, b: a & b != 0,
}
"""When a flag's promise is broken, where the instruction itself is defined."""

ALWAYS: dict[str, Callable[[int, int], bool]] = {
    **dict.fromkeys(("add", "sub", "mul", "and", "or", "xor"), lambda a, b: False),
    **dict.fromkeys(("udiv", "urem"), lambda a, b: b == 0),
    **dict.fromkeys(("sdiv", "srem"), lambda a, b: b == 0 or (a == 128 and b == 255)),
    **dict.fromkeys(("shl", "lshr", "ashr"), lambda a, b: b >= 8),
}


def broken(op: str, preconditions: tuple[Precondition, ...]) -> np.ndarray[Any, Any]:
    kind = np.int8 if BINARY[op].signed else np.uint8
    a, b = (v.astype(np.uint8).view(kind) for v in (A, B))
    with np.errstate(all="ignore"):
        found = [p.broken(a, b) for p in preconditions]
    return np.any(found, axis=0) if found else np.zeros(A.size, np.bool_)


def exactly(function: Callable[[int, int], bool]) -> np.ndarray[Any, Any]:
    return np.array([function(int(a), int(b)) for a, b in zip(A, B, strict=True)])


@pytest.mark.parametrize("op", BINARY)
def test_operands_without_a_result(op: str) -> None:
    np.testing.assert_array_equal(broken(op, BINARY[op].preconditions), exactly(ALWAYS[op]))


@pytest.mark.parametrize("key", FLAGS)
def test_flags_that_are_broken(key: tuple[str, str]) -> None:
    undefined = exactly(ALWAYS[key[0]])
    found, right = broken(key[0], (FLAGS[key],)), exactly(EXACT[key])
    np.testing.assert_array_equal(found[~undefined], right[~undefined])


@pytest.mark.parametrize("bits", [32, 64])
def test_flags_of_wider_numbers(bits: int) -> None:
    rng = np.random.default_rng(5)
    kind, low = np.dtype(f"uint{bits}"), 1 << bits - 1
    edges = [0, 1, 2, low - 1, low, low + 1, (1 << bits) - 1, 1 << bits // 2, (1 << bits // 2) - 1]
    some = [*edges, *(int(v) for v in rng.integers(0, 1 << 63, 20))]
    pairs = [(a % (1 << bits), b % (1 << bits)) for a in some for b in some]
    a, b = (np.array([p[n] for p in pairs], np.uint64).astype(kind) for n in (0, 1))

    def number(v: int) -> int:
        return v - (1 << bits) if v >= low else v

    for op, exact in (("add", int.__add__), ("sub", int.__sub__), ("mul", int.__mul__)):
        with np.errstate(all="ignore"):
            found = {flag: FLAGS[op, flag].broken(a, b) for flag in ("nsw", "nuw")}
        wraps = [not -low <= exact(number(x), number(y)) < low for x, y in pairs]
        np.testing.assert_array_equal(found["nsw"], wraps, op)
        wraps = [not 0 <= exact(x, y) < 1 << bits for x, y in pairs]
        np.testing.assert_array_equal(found["nuw"], wraps, op)


def test_conversions_without_a_result() -> None:
    a = np.array([0.0, -0.9, 127.9, 128.0, -128.9, -129.0, 255.9, 256.0, -1.0, np.inf, np.nan])
    for sign, right in (("s", [0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1]),
                        ("u", [0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1])):  # fmt: skip
        meaning = conversion(f"fpto{sign}i", Float("double"), Int(8))
        assert meaning is not None
        (precondition,) = meaning.preconditions
        np.testing.assert_array_equal(precondition.broken(a), np.array(right, np.bool_))
    long = np.array([2.0**63, np.nextafter(2.0**63, 0), -(2.0**63), -(2.0**63) - 2048])
    meaning = conversion("fptosi", Float("double"), Int(64))
    assert meaning is not None
    assert meaning.preconditions[0].broken(long).tolist() == [True, False, False, True]


def test_flags_of_conversions() -> None:
    a = np.arange(256, dtype=np.uint8).astype(np.int8).astype(np.int16).view(np.uint16)
    a = np.concatenate([a, np.array([255, 256, 32767, 32768], np.uint16)])
    (nsw,) = promised("trunc", {"nsw"}, Int(16), Int(8))
    (nuw,) = promised("trunc", {"nuw"}, Int(16), Int(8))
    (nneg,) = promised("zext", {"nneg"}, Int(16), Int(32))
    whole = a.view(np.int16).astype(np.int64)
    np.testing.assert_array_equal(nsw.broken(a), (whole < -128) | (whole > 127))
    np.testing.assert_array_equal(nuw.broken(a), a > 255)
    np.testing.assert_array_equal(nneg.broken(a), whole < 0)


def faulty(body: str, threads: int = 8) -> FaultError:
    """The fault of a kernel in which %i is a thread's number; element i of %in is i."""
    text = kernel("%i = call i32 @llvm.amdgcn.workitem.id.x()\n" + body)
    memory = [np.zeros(64, np.int32), np.arange(64, dtype=np.int32)]
    with pytest.raises(FaultError) as caught:
        run(text, memory, (2, 1, 1), (threads, 1, 1))
    return caught.value


def test_a_division_by_zero_names_its_thread() -> None:
    error = faulty("%d = sub i32 %i, 5\n%q = sdiv i32 100, %d")
    assert (error.kind, error.line, error.thread, error.block) == (
        "undefined", 6, (5, 0, 0), (0, 0, 0)
    )  # fmt: skip
    assert error.what == "a division by zero"
    assert "line 6: %q = sdiv i32 100, %d" in error.where
    assert "block (0, 0, 0), thread (5, 0, 0) of kernel k" in error.where


def test_only_active_threads_are_looked_at() -> None:
    text = kernel(
        """%i = call i32 @llvm.amdgcn.workitem.id.x()
        %c = icmp ne i32 %i, 5
        br i1 %c, label %yes, label %out
        yes:
        %d = sub i32 %i, 5
        %q = sdiv i32 100, %d
        %p = getelementptr i32, ptr addrspace(1) %out, i32 %i
        store i32 %q, ptr addrspace(1) %p
        br label %out
        out:"""
    )
    memory = np.zeros(8, np.int32)
    run(text, [memory, memory.copy()], (1, 1, 1), (8, 1, 1))
    assert memory.tolist() == [-20, -25, -33, -50, -100, 0, 100, 50]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("%x = shl i32 1, %big", "a shift by as many bits"),
        ("%x = shl <2 x i32> splat (i32 1), %v", "a shift by as many bits"),
        ("%x = add nsw i32 2147483647, %i", "a signed result that does not fit"),
        ("%f = sitofp i32 %i to float\n%g = fmul float %f, 1.0e9\n%x = fptosi float %g to i32",
         "a float that does not fit"),
        ("%c = icmp slt i32 %i, 3\ncall void @llvm.assume(i1 %c)", "an assumption"),
        ("%c = icmp slt i32 %i, 3\nbr i1 %c, label %a, label %b\nb:\nunreachable\na:",
         "a place that the text says is never reached"),
        ("%j = sub i32 3, %i\n%x = call i32 @llvm.ctlz.i32(i32 %j, i1 true)", "counted in zero"),
        ("%x = urem i32 5, 0", "a division by zero"),
    ],
)  # fmt: skip
def test_each_says_what_it_is(body: str, what: str) -> None:
    start = "%big = mul i32 %i, 8\n%v0 = insertelement <2 x i32> poison, i32 1, i32 0\n"
    error = faulty(start + "%v = insertelement <2 x i32> %v0, i32 %big, i32 1\n" + body)
    assert what in error.what
    assert error.kind == "undefined"
    assert error.block == (0, 0, 0)


HALF = "%v = insertelement <2 x i32> poison, i32 1, i32 0\n"


@pytest.mark.parametrize(
    "body",
    [
        "%x = add i32 poison, 1",
        HALF + "%x = add <2 x i32> %v, %v",
        "store i32 undef, ptr addrspace(1) %out",
        HALF + "%x = extractelement <2 x i32> %v, i32 1\nstore i32 %x, ptr addrspace(1) %out",
        "br i1 poison, label %a, label %a\na:",
    ],
)
def test_poison_may_be_passed_on_but_not_used(body: str) -> None:
    with pytest.raises(CompileError, match="undef or poison"):
        run(kernel(body), [np.zeros(4, np.int32)] * 2)


def test_poison_that_is_chosen_away_is_no_fault() -> None:
    text = kernel(
        """%v = insertelement <2 x i32> poison, i32 1, i32 0
        %w = shufflevector <2 x i32> %v, <2 x i32> poison, <2 x i32> <i32 0, i32 0>
        %f = freeze i32 poison
        %s = select i1 true, i32 7, i32 poison
        %x = extractelement <2 x i32> %w, i32 1
        %y = add i32 %x, %s
        store i32 %y, ptr addrspace(1) %out"""
    )
    memory = np.zeros(1, np.int32)
    run(text, [memory, memory.copy()])
    assert memory.tolist() == [8]
