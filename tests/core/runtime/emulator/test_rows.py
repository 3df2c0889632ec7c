"""What each instruction computes at edge values, against Python's integers and fractions, as the
manual says it: the forms that the renderer does not write too."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from core.dtype import dtypes, truncate
from core.runtime.emulator.ptx.front import read
from core.runtime.emulator.ptx.rows import ROWS
from core.runtime.emulator.ptx.types import KINDS
from core.uop.facts.meaning import evaluate
from core.uop.ops import Ops
from tests.core.runtime.emulator.running import Array, kernel, run_text

PREFIX = {1: "p", 2: "h", 4: "r", 8: "rd"}
FLOATS = {"f32": "f", "f64": "fd"}


def register(kind: str, number: int) -> str:
    prefix = "p" if kind == "pred" else FLOATS.get(kind) or PREFIX[max(2, KINDS[kind].itemsize)]
    return f"%{prefix}{number}"


def apply(form: str, out: str, kinds: Sequence[str], columns: Sequence[Array]) -> Array:
    """`form` with {d} and {0}, {1}, ... as registers, one thread for each row of `columns`."""
    count = len(columns[0])
    lines = [f"  setp.ge.u32 %p31, %r61, {count};", "  @%p31 ret;"]
    for i, kind in enumerate(kinds):
        size = KINDS[kind].itemsize
        lines.append(f"  mad.wide.u32 %rd1, %r61, {size}, %rd{51 + i};")
        if kind == "pred":
            lines += ["  ld.global.u8 %h31, [%rd1];", f"  setp.ne.u16 %p{i}, %h31, 0;"]
        else:
            lines.append(f"  ld.global.b{8 * size} {register(kind, i)}, [%rd1];")
    names = [register(kind, i) for i, kind in enumerate(kinds)]
    lines.append("  " + form.format(*names, d=register(out, 9)) + ";")
    lines.append(f"  mad.wide.u32 %rd1, %r61, {KINDS[out].itemsize}, %rd50;")
    if out == "pred":
        lines += ["  selp.u16 %h9, 1, 0, %p9;", "  st.global.u8 [%rd1], %h9;"]
    else:
        lines.append(f"  st.global.b{8 * KINDS[out].itemsize} [%rd1], {register(out, 9)};")
    found = np.zeros(count, KINDS[out])
    memory = [found, *(np.ascontiguousarray(c) for c in columns)]
    threads = min(count, 512)
    run_text(kernel("\n".join(lines), 1 + len(kinds)), memory, threads, -(-count // threads))
    return found


def integers(kind: str) -> list[int]:
    info = np.iinfo(KINDS[kind])
    few = [0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 100, info.max, info.max - 1, info.max // 3, info.min]
    return [*few, *([-1, -2, -7, info.min + 1] if info.min else [info.max // 2 + 1])]


def wrap(value: int, kind: str) -> int:
    bits = 8 * KINDS[kind].itemsize
    value %= 1 << bits
    return value - (1 << bits) if kind[0] == "s" and value >> (bits - 1) else value


def bits(kind: str) -> int:
    return 8 * KINDS[kind].itemsize


def quotient(a: int, b: int) -> int:
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def shift_right(a: int, n: int, kind: str) -> int:
    return a >> min(n % (1 << 32), bits(kind))


TWO: dict[str, tuple[str, Callable[[int, int, str], int]]] = {
    "add": ("add.{t}", lambda a, b, t: a + b),
    "sub": ("sub.{t}", lambda a, b, t: a - b),
    "mul.lo": ("mul.lo.{t}", lambda a, b, t: a * b),
    "mul.hi": ("mul.hi.{t}", lambda a, b, t: a * b >> bits(t)),
    "div": ("div.{t}", lambda a, b, t: quotient(a, b)),
    "rem": ("rem.{t}", lambda a, b, t: a if b == 0 else a - quotient(a, b) * b),
    "min": ("min.{t}", lambda a, b, t: min(a, b)),
    "max": ("max.{t}", lambda a, b, t: max(a, b)),
    "and": ("and.b{n}", lambda a, b, t: a & b),
    "or": ("or.b{n}", lambda a, b, t: a | b),
    "xor": ("xor.b{n}", lambda a, b, t: a ^ b),
}


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_integers_of_two(kind: str, name: str) -> None:
    form, meaning = TWO[name]
    pairs = list(itertools.product(integers(kind), repeat=2))
    columns = [np.array(c, KINDS[kind]) for c in zip(*pairs, strict=True)]
    text = form.format(t=kind, n=bits(kind)) + " {d}, {0}, {1}"
    found = apply(text, kind, [kind, kind], columns)
    assert found.tolist() == [wrap(meaning(a, b, kind), kind) for a, b in pairs]


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
def test_shifts(kind: str) -> None:
    counts = [0, 1, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 65536, (1 << 32) - 1]
    pairs = list(itertools.product(integers(kind), counts))
    columns = [np.array(c, k) for c, k in zip(zip(*pairs, strict=True), (KINDS[kind], np.uint32),
                                              strict=True)]  # fmt: skip
    found = apply(f"shl.b{bits(kind)} {{d}}, {{0}}, {{1}}", kind, [kind, "u32"], columns)
    assert found.tolist() == [wrap(a << min(n, 64), kind) for a, n in pairs]
    found = apply(f"shr.{kind} {{d}}, {{0}}, {{1}}", kind, [kind, "u32"], columns)
    assert found.tolist() == [shift_right(a, n, kind) for a, n in pairs]


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32"])
def test_wide_products(kind: str) -> None:
    wide = kind[0] + str(2 * bits(kind))
    pairs = list(itertools.product(integers(kind), repeat=2))
    columns = [np.array(c, KINDS[kind]) for c in zip(*pairs, strict=True)]
    found = apply(f"mul.wide.{kind} {{d}}, {{0}}, {{1}}", wide, [kind, kind], columns)
    assert found.tolist() == [a * b for a, b in pairs]
    third = np.array([np.iinfo(KINDS[wide]).max - i for i in range(len(pairs))], KINDS[wide])
    found = apply(f"mad.wide.{kind} {{d}}, {{0}}, {{1}}, {{2}}", wide, [kind, kind, wide],
                  [*columns, third])  # fmt: skip
    wanted = [wrap(a * b + c, wide) for (a, b), c in zip(pairs, third.tolist(), strict=True)]
    assert found.tolist() == wanted
    for half in ("lo", "hi"):
        form = f"mad.{half}.{kind} {{d}}, {{0}}, {{1}}, {{0}}"
        found = apply(form, kind, [kind, kind], columns)
        shift = bits(kind) if half == "hi" else 0
        assert found.tolist() == [wrap((a * b >> shift) + a, kind) for a, b in pairs]


ONE: dict[str, tuple[str, str, str, Callable[[int], int]]] = {
    "popc32": ("popc.b32", "u32", "u32", lambda a: a.bit_count()),
    "popc64": ("popc.b64", "u32", "u64", lambda a: a.bit_count()),
    "clz32": ("clz.b32", "u32", "u32", lambda a: 32 - a.bit_length()),
    "clz64": ("clz.b64", "u32", "u64", lambda a: 64 - a.bit_length()),
    "brev32": ("brev.b32", "u32", "u32", lambda a: int(f"{a:032b}"[::-1], 2)),
    "brev64": ("brev.b64", "u64", "u64", lambda a: int(f"{a:064b}"[::-1], 2)),
    "not16": ("not.b16", "u16", "u16", lambda a: ~a),
    "cnot": ("cnot.b32", "u32", "u32", lambda a: a == 0),
    "neg": ("neg.s32", "s32", "s32", lambda a: -a),
    "abs": ("abs.s64", "s64", "s64", abs),
    "sign extended": ("cvt.s32.s8", "s32", "s32", lambda a: wrap(a, "s8")),
    "zero extended": ("cvt.u64.u16", "u64", "u32", lambda a: wrap(a, "u16")),
    "narrowed": ("cvt.u16.u64", "u16", "u64", lambda a: a),
    "saturated": ("cvt.sat.u16.s32", "u16", "s32", lambda a: min(max(a, 0), 65535)),
    "saturated down": ("cvt.sat.s16.u32", "s16", "u32", lambda a: min(a, 32767)),
    "saturated bytes": ("cvt.sat.s8.s32", "s32", "s32", lambda a: min(max(a, -128), 127)),
}


@pytest.mark.parametrize("name", ONE)
def test_integers_of_one(name: str) -> None:
    form, out, kind, meaning = ONE[name]
    values = integers(kind)
    found = apply(form + " {d}, {0}", out, [kind], [np.array(values, KINDS[kind])])
    assert found.tolist() == [wrap(int(meaning(a)), out) for a in values]


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_bit_fields(kind: str) -> None:
    rows = list(itertools.product(integers(kind), [0, 1, 7, 31, 32, 60, 64, 255, 256],
                                  [0, 1, 5, 31, 32, 64, 255]))  # fmt: skip
    held = (KINDS[kind], np.uint32, np.uint32)
    columns = [np.array(c, k) for c, k in zip(zip(*rows, strict=True), held, strict=True)]
    found = apply(f"bfe.{kind} {{d}}, {{0}}, {{1}}, {{2}}", kind, [kind, "u32", "u32"], columns)
    assert found.tolist() == [bit_field(a, p & 255, n & 255, kind) for a, p, n in rows]
    form = f"bfi.b{bits(kind)} {{d}}, {{0}}, {{3}}, {{1}}, {{2}}"
    base = np.full(len(rows), 0x5A, KINDS[kind])
    found = apply(form, kind, [kind, "u32", "u32", kind], [*columns, base])
    for (a, p, n), value in zip(rows, found.tolist(), strict=True):
        last, wanted = bits(kind) - 1, 0x5A
        for i in range(min(n & 255, bits(kind))):
            if (p & 255) + i <= last:
                wanted = wanted & ~(1 << (p & 255) + i) | ((a >> i & 1) << (p & 255) + i)
        assert value == wrap(wanted, kind)


def bit_field(a: int, start: int, length: int, kind: str) -> int:
    """The manual's own loop."""
    last = bits(kind) - 1
    sign = 0 if kind[0] == "u" or length == 0 else a >> min(start + length - 1, last) & 1
    found = 0
    for i in range(last + 1):
        inside = i < length and start + i <= last
        found |= (a >> (start + i) & 1 if inside else sign) << i
    return wrap(found, kind)


def test_bytes_and_funnels_and_tables() -> None:
    rng = np.random.default_rng(3)
    a, b, c = (rng.integers(0, 1 << 32, 300, np.uint64).astype(np.uint32) for _ in range(3))
    kinds = ["u32"] * 3
    found = apply("prmt.b32 {d}, {0}, {1}, {2}", "u32", kinds, [a, b, c])
    for x, y, s, value in zip(*(v.tolist() for v in (a, b, c, found)), strict=True):
        octets = (y << 32 | x).to_bytes(8, "little")
        picks = [s >> 4 * i & 15 for i in range(4)]
        chosen = [(255 if octets[p & 7] > 127 else 0) if p & 8 else octets[p & 7] for p in picks]
        assert value == int.from_bytes(bytes(chosen), "little")
    for side, mode in itertools.product("lr", ("wrap", "clamp")):
        count = c % np.uint32(70)
        found = apply(
            f"shf.{side}.{mode}.b32 {{d}}, {{0}}, {{1}}, {{2}}", "u32", kinds, [a, b, count]
        )
        for x, y, n, value in zip(*(v.tolist() for v in (a, b, count, found)), strict=True):
            n = n & 31 if mode == "wrap" else min(n, 32)
            both = y << 32 | x
            assert value == (both << n >> 32 if side == "l" else both >> n) % (1 << 32)
    for table in (0x80, 0xFE, 0x96, 0x1B):
        found = apply(f"lop3.b32 {{d}}, {{0}}, {{1}}, {{2}}, {table}", "u32", kinds, [a, b, c])
        for x, y, z, value in zip(*(v.tolist() for v in (a, b, c, found)), strict=True):
            wanted = sum((table >> (4 * (x >> i & 1) + 2 * (y >> i & 1) + (z >> i & 1)) & 1) << i
                         for i in range(32))  # fmt: skip
            assert value == wanted


EDGES = [0.0, -0.0, 1.0, -1.0, 1.5, -2.5, 2.5, 0.5, -0.5, 1e-42, -1e-42, 3.4e38, 65519.9, 65520.0,
         math.inf, -math.inf, math.nan, 2147483648.0, -2147483648.0, 4294967296.0, 9.3e18, 1.9e19,
         -9.3e18, 127.5, -128.5, 255.5, 16777217.0]  # fmt: skip


def floats(kind: str) -> Array:
    with np.errstate(all="ignore"):
        return np.array(EDGES).astype(KINDS[kind])


def same(found: Array, wanted: Array) -> bool:
    """Equal bits, but any NaN for NaN."""
    nan = np.isnan(wanted)
    return bool((np.isnan(found) == nan).all()) and found[~nan].tobytes() == wanted[~nan].tobytes()


def extreme(a: float, b: float, larger: bool, nan: bool) -> float:
    if a != a or b != b:
        return math.nan if nan or (a != a and b != b) else b if a != a else a
    key = lambda v: (v, math.copysign(1, v))
    return max(a, b, key=key) if larger else min(a, b, key=key)


@pytest.mark.parametrize("kind", ["f16", "f32", "f64"])
@pytest.mark.parametrize("name", ["min", "max", "min.NaN", "max.NaN"])
def test_minimum_and_maximum(name: str, kind: str) -> None:
    if kind == "f64" and "NaN" in name:
        return
    pairs = list(itertools.product(floats(kind), repeat=2))
    columns = [np.array(c, KINDS[kind]) for c in zip(*pairs, strict=True)]
    found = apply(f"{name}.{kind} {{d}}, {{0}}, {{1}}", kind, [kind, kind], columns)
    wanted = [extreme(float(a), float(b), "max" in name, "NaN" in name) for a, b in pairs]
    assert same(found, np.array(wanted, KINDS[kind]))


COMPARE: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a < b or a > b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "equ": lambda a, b: not (a < b or a > b), "neu": lambda a, b: a != b,
    "ltu": lambda a, b: not a >= b, "leu": lambda a, b: not a > b, "gtu": lambda a, b: not a <= b,
    "geu": lambda a, b: not a < b, "num": lambda a, b: a == a and b == b,
    "nan": lambda a, b: a != a or b != b,
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARE)
def test_comparisons_of_floats(name: str) -> None:
    pairs = list(itertools.product(EDGES, repeat=2))
    columns = [np.array(c) for c in zip(*pairs, strict=True)]
    found = apply(f"setp.{name}.f64 {{d}}, {{0}}, {{1}}", "pred", ["f64", "f64"], columns)
    assert found.tolist() == [COMPARE[name](a, b) for a, b in pairs]


def test_comparisons_with_a_predicate_and_two_results() -> None:
    rows = list(itertools.product([1, 2, 3], [2], [False, True]))
    columns = [np.array(c, k) for c, k in zip(zip(*rows, strict=True), (np.int32, np.int32, bool),
                                              strict=True)]  # fmt: skip
    kinds = ["s32", "s32", "pred"]
    for join, meaning in (("and", int.__and__), ("or", int.__or__), ("xor", int.__xor__)):
        form = f"setp.lt.{join}.s32 {{d}}|%p20, {{0}}, {{1}}, !{{2}}"
        found = apply(form, "pred", kinds, columns)
        assert found.tolist() == [bool(meaning(a < b, not p)) for a, b, p in rows]
        form = f"setp.lt.{join}.s32 %p20|{{d}}, {{0}}, {{1}}, {{2}}"
        found = apply(form, "pred", kinds, columns)
        assert found.tolist() == [bool(meaning(not a < b, p)) for a, b, p in rows]


def rounded(value: float, mode: str) -> int:
    return {"n": round, "z": math.trunc, "m": math.floor, "p": math.ceil}[mode](value)


@pytest.mark.parametrize("source", ["f16", "f32", "f64"])
@pytest.mark.parametrize("target", ["s8", "u16", "s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("mode", "nzmp")
def test_floats_to_integers(source: str, target: str, mode: str) -> None:
    values = floats(source)
    out = target if bits(target) > 8 else "s16"
    found = apply(f"cvt.r{mode}i.{target}.{source} {{d}}, {{0}}", out, [source], [values])
    limits = np.iinfo(KINDS[target])
    for value, result in zip(values.tolist(), found.tolist(), strict=True):
        if value != value:
            wanted = (
                0 if source != "f64" and bits(target) < 64 else wrap(1 << bits(target) - 1, target)
            )
        elif math.isinf(value):
            wanted = limits.max if value > 0 else limits.min
        else:
            wanted = min(max(rounded(value, mode), limits.min), limits.max)
        assert result == wanted, (value, result, wanted)


@pytest.mark.parametrize("target", ["f16", "f32", "f64"])
@pytest.mark.parametrize("source", ["u16", "s32", "u32", "s64", "u64"])
def test_integers_to_floats(source: str, target: str) -> None:
    near = [(1 << 24) + 1, (1 << 24) + 3, (1 << 53) + 1, (1 << 62) + (1 << 38) + 1, 65519, 65520]
    values = [v for v in (*integers(source), *near) if np.iinfo(KINDS[source]).max >= v]
    column = np.array(values, KINDS[source])
    dtype = {"f16": dtypes.float16, "f32": dtypes.float32, "f64": dtypes.float64}[target]
    results = {
        m: apply(f"cvt.r{m}.{target}.{source} {{d}}, {{0}}", target, [source], [column])
        for m in "nzmp"
    }
    for i, value in enumerate(values):
        low, high = (float(results[m][i]) for m in "mp")
        nearest = float(results["n"][i])
        assert nearest == evaluate(Ops.CAST, dtype, [value])
        assert low <= value <= high
        assert float(results["z"][i]) == (low if value >= 0 else high)
        if low != high and math.isfinite(low) and math.isfinite(high):
            assert np.nextafter(KINDS[target].type(low), KINDS[target].type(math.inf)) == high
            assert nearest in (low, high)
        if low == value or high == value:
            assert low == high


@pytest.mark.parametrize(("target", "source"), [("f32", "f64"), ("f16", "f64"), ("f16", "f32")])
def test_narrower_floats(target: str, source: str) -> None:
    rng = np.random.default_rng(4)
    values = np.concatenate([floats(source), rng.standard_normal(200) * 2.0 ** rng.integers(
        -30, 20, 200)]).astype(KINDS[source])  # fmt: skip
    results = {
        m: apply(f"cvt.r{m}.{target}.{source} {{d}}, {{0}}", target, [source], [values])
        for m in "nzmp"
    }
    dtype = {"f16": dtypes.float16, "f32": dtypes.float32}[target]
    for i, value in enumerate(values.tolist()):
        low, high, near, zero = (float(results[m][i]) for m in "mpnz")
        if value != value:
            assert all(math.isnan(v) for v in (low, high, near, zero))
            continue
        assert near == truncate(value, dtype)
        assert low <= value <= high and zero == (low if value > 0 else high)
        if low != high and math.isfinite(low) and math.isfinite(high):
            assert np.nextafter(KINDS[target].type(low), KINDS[target].type(math.inf)) == high


@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
def test_fused_multiply_add_rounds_once(kind: str) -> None:
    rng = np.random.default_rng(9)
    count, held = 3000, KINDS[kind]
    spread = {"f16": 8, "f32": 30, "f64": 300}[kind]
    a, b = ((rng.standard_normal(count) * 2.0 ** rng.integers(-spread, spread, count)).astype(held)
            for _ in range(2))  # fmt: skip
    with np.errstate(all="ignore"):
        c = (-(a.astype(np.float64) * b) * (1 + rng.integers(-2, 3, count) * 2.0 ** -rng.integers(
            5, 60, count))).astype(held)  # fmt: skip
    third = count // 3
    c[:third] = (rng.standard_normal(third) * 2.0 ** rng.integers(-spread, spread, third)).astype(
        held
    )
    edge = np.array(
        list(itertools.product([0.0, -0.0, 1.0, math.inf, math.nan, 2.0**-14], repeat=3))
    )
    columns = [np.concatenate([v, e.astype(held)]) for v, e in zip((a, b, c), edge.T, strict=True)]
    found = apply(f"fma.rn.{kind} {{d}}, {{0}}, {{1}}, {{2}}", kind, [kind] * 3, columns)
    dtype = {"f16": dtypes.float16, "f32": dtypes.float32, "f64": dtypes.float64}[kind]
    rows = zip(*(v.tolist() for v in columns), strict=True)
    wanted: list[Any] = [evaluate(Ops.MULACC, dtype, row) for row in rows]
    assert same(found, np.array(wanted, held))


def test_fused_multiply_add_where_two_roundings_differ() -> None:
    a = np.float32(1 + 2.0**-12)  # a * a = 1 + 2^-11 + 2^-24: half way between two float32
    for c in (2.0**-60, -(2.0**-60), 0.0):
        found = apply("fma.rn.f32 {d}, {0}, {0}, {1}", "f32", ["f32"] * 2,
                      [np.array([a]), np.array([c], np.float32)])  # fmt: skip
        exact = Fraction(float(a)) ** 2 + Fraction(c)
        below = Fraction(1) + Fraction(1, 1 << 11)
        above = below + Fraction(1, 1 << 23)
        nearest = above if exact - below > above - exact else below
        assert Fraction(float(found[0])) == nearest
    tiny = np.array([2.0**-126], np.float32)  # half of a subnormal's last bit, and a little
    factor = np.array([2.0**-24 + 2.0**-40], np.float32)
    last = np.array([2.0**-149], np.float32)
    found = apply("fma.rn.f32 {d}, {0}, {1}, {2}", "f32", ["f32"] * 3, [tiny, factor, last])
    assert found[0] == np.float32(2.0**-148)


def test_modifiers_of_floats() -> None:
    values = np.array([1e-42, -1e-42, 0.25, 1.5, -3.0, math.nan], np.float32)
    one = np.ones(6, np.float32)
    found = apply("mul.ftz.f32 {d}, {0}, {1}", "f32", ["f32"] * 2, [values, one])
    assert found[:2].tobytes() == np.array([0.0, -0.0], np.float32).tobytes()
    found = apply("mul.rn.sat.f32 {d}, {0}, {1}", "f32", ["f32"] * 2, [values, one])
    assert found.tolist() == [float(values[0]), 0.0, 0.25, 1.0, 0.0, 0.0]
    found = apply("setp.gt.ftz.f32 {d}, {0}, {1}", "pred", ["f32"] * 2, [values, one * 0])
    assert found.tolist() == [False, False, True, True, False, False]
    found = apply("cvt.sat.f32.f32 {d}, {0}", "f32", ["f32"], [values])
    assert found.tolist() == [float(values[0]), 0.0, 0.25, 1.0, 0.0, 0.0]


def test_halves_in_pairs() -> None:
    a = np.array([1.5, -2.0, 65504.0, 0.1], np.float16)
    b = np.array([0.5, 3.0, 65504.0, 0.2], np.float16)
    words = [v.view(np.uint32) for v in (a, b)]
    for name, meaning in (("add", np.add), ("mul", np.multiply), ("max", np.maximum)):
        found = apply(f"{name}.f16x2 {{d}}, {{0}}, {{1}}", "b32", ["b32"] * 2, words)
        with np.errstate(over="ignore"):
            assert found.view(np.float16).tolist() == meaning(a, b).tolist()
    found = apply("cvt.rn.f16x2.f32 {d}, {0}, {1}", "b32", ["f32"] * 2,
                  [np.array([2.5], np.float32), np.array([-1.0], np.float32)])  # fmt: skip
    assert found.view(np.float16).tolist() == [-1.0, 2.5]  # the first one is the upper half


def test_parts_of_registers() -> None:
    body = """
  mov.b64 %rd1, 0x1122334455667788;
  mov.b64 {%r1, %r2}, %rd1;
  mov.b32 {%h1, %h2}, %r1;
  mov.b64 {_, %r4}, %rd1;
  mov.b32 %r3, {%h2, %h1};
  mov.b64 %rd2, {%r2, %r3};
  mov.b64 %rd3, {%h1, %h2, %h1, %h2};
  st.global.v4.b32 [%rd50], {%r1, %r2, %r3, %r4};
  st.global.v2.b64 [%rd50+16], {%rd2, %rd3};
"""
    out = np.zeros(8, np.uint32)
    run_text(kernel(body), [out])
    wanted = "55667788 11223344 77885566 11223344 11223344 77885566 55667788 55667788"
    assert " ".join(f"{v:x}" for v in out.tolist()) == wanted


def shuffle_source(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The manual's own code."""
    segment = c >> 8 & 31
    most, least = lane & segment | (c & 31) & ~segment & 31, lane & segment
    if mode == "up":
        j = lane - b
        inside = j >= most
    elif mode == "down":
        j = lane + b
        inside = j <= most
    elif mode == "bfly":
        j = lane ^ b
        inside = j <= most
    else:
        j = least | b & ~segment & 31
        inside = j <= most
    return (j if inside else lane), inside


@pytest.mark.parametrize(("mode", "b", "c"), [
    ("up", 1, 0), ("up", 3, 0x1800), ("down", 5, 31), ("down", 2, 0x181F), ("bfly", 16, 31),
    ("bfly", 3, 0x1C1F), ("idx", 7, 31), ("idx", 2, 0x1C1F),
])  # fmt: skip
def test_shuffles(mode: str, b: int, c: int) -> None:
    body = f"""
  shfl.sync.{mode}.b32 %r1|%p1, %r60, {b}, {c}, -1;
  selp.u32 %r2, 1, 0, %p1;
  mad.wide.u32 %rd0, %r61, 8, %rd50;
  st.global.v2.u32 [%rd0], {{%r1, %r2}};
"""
    out = np.zeros(256, np.uint32)
    run_text(kernel(body), [out], threads=64, blocks=2)
    for i, (value, inside) in enumerate(out.reshape(-1, 2).tolist()):
        lane = i % 32
        source, wanted = shuffle_source(mode, lane, b, c)
        assert (value, inside) == (i % 64 - lane + source, wanted)


def test_votes() -> None:
    body = """
  setp.lt.u32 %p1, %r60, 40;
  vote.sync.all.pred %p2, %p1, -1;
  vote.sync.any.pred %p3, !%p1, -1;
  vote.sync.uni.pred %p4, %p1, -1;
  vote.sync.ballot.b32 %r1, %p1, -1;
  selp.u32 %r2, 1, 0, %p2;
  selp.u32 %r3, 1, 0, %p3;
  selp.u32 %r4, 1, 0, %p4;
  mad.wide.u32 %rd0, %r61, 16, %rd50;
  st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};
"""
    out = np.zeros(4 * 72, np.uint32)
    run_text(kernel(body), [out], threads=72)
    rows = out.reshape(-1, 4).tolist()
    assert rows[0] == rows[31] == [0xFFFFFFFF, 1, 0, 1]
    assert rows[32] == rows[63] == [0xFF, 0, 1, 0]
    assert rows[64] == rows[71] == [0, 0, 1, 1]


def test_every_row_is_read() -> None:
    """Each form of the table, by its text, in a kernel that only has to be understood."""
    for row in ROWS:
        for kind in sorted(row.types):
            parts = [row.name, *sorted(row.required, reverse=True), kind]
            if row.name == "shf":
                parts = ["shf", *sorted(row.required, key=len), kind]
            kinds = [row.source(i, kind) for i in range(row.count)]
            operands = [register(row.target(kind), 30 if row.target(kind) != "pred" else 9)]
            operands += [register(k, i) for i, k in enumerate(kinds)]
            code = read(kernel(f"  {'.'.join(parts)} {', '.join(operands)};"), "k")
            assert code.instructions[-2].name == ".".join(parts)
