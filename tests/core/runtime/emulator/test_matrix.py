"""mma.sync: each lane's elements by the manual's formulas, one by one, against a product of whole
matrices."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from core.errors import CompileError, FaultError
from core.runtime.emulator.ptx.front import read
from tests.core.runtime.emulator.running import kernel, run_text

# (m, n, k, type of A and B, type of C and D)
SHAPES = [
    (16, 8, 8, "f16", "f32"), (16, 8, 8, "f16", "f16"), (16, 8, 16, "f16", "f32"),
    (16, 8, 16, "f16", "f16"), (16, 8, 16, "bf16", "f32"), (16, 8, 8, "bf16", "f32"),
    (16, 8, 8, "tf32", "f32"), (16, 8, 4, "tf32", "f32"), (16, 8, 32, "s8", "s32"),
    (16, 8, 32, "u8", "s32"), (16, 8, 16, "s8", "s32"), (8, 8, 16, "s8", "s32"),
    (8, 8, 16, "u8", "s32"), (16, 8, 32, "e4m3", "f32"), (16, 8, 32, "e5m2", "f32"),
    (8, 8, 4, "f64", "f64"),
]  # fmt: skip
HELD: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "s8": np.int8,
    "u8": np.uint8, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    "f32": np.float32, "s32": np.int32, "f64": np.float64,
}  # fmt: skip


def place_of_a(m: int, bits: int, lane: int, i: int) -> tuple[int, int]:
    """(row, column) of element i of A, as the manual's sections write it."""
    group, thread = lane >> 2, lane % 4
    if bits == 16:  # m16n8k8 and m16n8k16
        row = group if i % 4 < 2 else group + 8
        return row, thread * 2 + (i & 1) + (8 if i >= 4 else 0)
    if bits == 8 and m == 16:  # m16n8k16 and m16n8k32
        row = group if i < 4 or 8 <= i < 12 else group + 8
        return row, thread * 4 + (i & 3) + (16 if i >= 8 else 0)
    if bits == 8:  # m8n8k16
        return group, thread * 4 + i
    if bits == 32:  # tf32
        return (group if i % 2 == 0 else group + 8), thread + (4 if i >= 2 else 0)
    return group, thread  # f64


def place_of_b(bits: int, lane: int, i: int) -> tuple[int, int]:
    """(row, column) of element i of B."""
    group, thread = lane >> 2, lane % 4
    each = {8: 4, 16: 2, 32: 1, 64: 1}[bits]
    return thread * each + i % each + i // each * 4 * each, group


def place_of_c(lane: int, i: int) -> tuple[int, int]:
    """(row, column) of element i of C and D."""
    return (lane >> 2) + (8 if i >= 2 else 0), lane % 4 * 2 + (i & 1)


@pytest.mark.parametrize(("m", "n", "k", "of", "to"), SHAPES)
def test_lane_by_lane(m: int, n: int, k: int, of: str, to: str) -> None:
    rng = np.random.default_rng(m + k)
    held, total = HELD[of], HELD[to]
    if of in ("s8", "u8"):
        info = np.iinfo(held)
        a, b = (rng.integers(info.min, info.max + 1, s).astype(held) for s in ((m, k), (k, n)))
        c = rng.integers(-1000, 1000, (m, n)).astype(total)
    else:
        a, b = ((rng.integers(-8, 8, s) / 4).astype(held) for s in ((m, k), (k, n)))
        c = (rng.integers(-8, 8, (m, n)) / 4).astype(total)
    bits = 8 * np.dtype(held).itemsize
    wide = np.int64 if of in ("s8", "u8") else np.float64
    wanted = (a.astype(wide) @ b.astype(wide) + c.astype(wide)).astype(total)
    counts = m * k // 32, k * n // 32, m * n // 32
    lanes_a = np.array(
        [[a[place_of_a(m, bits, t, i)] for i in range(counts[0])] for t in range(32)]
    )
    lanes_b = np.array([[b[place_of_b(bits, t, i)] for i in range(counts[1])] for t in range(32)])
    lanes_c = np.array([[c[place_of_c(t, i)] for i in range(counts[2])] for t in range(32)])
    out = np.zeros_like(lanes_c)
    text = program(m, n, k, of, to, [lanes_a, lanes_b, lanes_c])
    run_text(text, [out, lanes_a, lanes_b, lanes_c], threads=64, blocks=2)
    found = np.array(out)
    for lane in range(32):
        for i in range(counts[2]):
            assert found[lane, i] == wanted[place_of_c(lane, i)], (lane, i)


def program(m: int, n: int, k: int, of: str, to: str, parts: list[Any]) -> str:
    """Loads each lane's registers, multiplies, stores: the same in each warp."""
    lines = ["  and.b32 %r59, %r60, 31;"]
    groups: list[str] = []
    size = 8 if of == "f64" else 4
    prefix = "%rd" if of == "f64" else "%r"
    for p, part in enumerate(parts):
        count = part[0].nbytes // size
        names = [f"{prefix}{10 * p + i}" for i in range(count)]
        lines.append(f"  mad.wide.u32 %rd49, %r59, {part[0].nbytes}, %rd{51 + p};")
        lines += [f"  ld.global.b{8 * size} {r}, [%rd49+{size * i}];" for i, r in enumerate(names)]
        groups.append("{" + ", ".join(names) + "}")
    count = parts[2][0].nbytes // size
    results = [f"{prefix}{30 + i}" for i in range(count)]
    name = f"mma.sync.aligned.m{m}n{n}k{k}.row.col.{to}.{of}.{of}.{to}"
    lines.append(f"  {name} {{{', '.join(results)}}}, {', '.join(groups)};")
    lines.append(f"  mad.wide.u32 %rd49, %r59, {parts[2][0].nbytes}, %rd50;")
    lines += [f"  st.global.b{8 * size} [%rd49+{size * i}], {r};" for i, r in enumerate(results)]
    return kernel("\n".join(lines), 4)


def test_tf32_ignores_the_lowest_bits() -> None:
    ones = np.ones((32, 4), np.float32)
    above = np.full((32, 4), np.nextafter(np.float32(1), np.float32(2)), np.float32)
    second, zero = np.ones((32, 2), np.float32), np.zeros((32, 4), np.float32)
    for a in (ones, above):
        out = np.zeros((32, 4), np.float32)
        text = program(16, 8, 8, "tf32", "f32", [a, second, zero])
        run_text(text, [out, a, second, zero], threads=32)
        assert (out == 8).all()


def test_a_warp_runs_it_together() -> None:
    zero = [
        np.zeros((32, 4), np.uint32),
        np.zeros((32, 2), np.uint32),
        np.zeros((32, 4), np.uint32),
    ]
    text = program(16, 8, 16, "f16", "f32", zero)
    text = text.replace("  mma.sync", "  setp.eq.u32 %p1, %r59, 7;\n  @%p1 ret;\n  mma.sync")
    with pytest.raises(FaultError, match="without all threads of its warp") as caught:
        run_text(text, [np.zeros((32, 4), np.float32), *zero], threads=64)
    assert (caught.value.kind, caught.value.thread) == ("collective", (7, 0, 0))
    with pytest.raises(FaultError, match="without all threads of its warp"):
        run_text(program(16, 8, 16, "f16", "f32", zero),
                 [np.zeros((32, 4), np.float32), *zero], threads=40)  # fmt: skip


@pytest.mark.parametrize("opcode", [
    "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.bf16.bf16.bf16.bf16",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32",
])  # fmt: skip
def test_other_forms_are_named(opcode: str) -> None:
    with pytest.raises(CompileError, match=r"no instruction mma\.sync"):
        read(kernel(f"  {opcode} {{%f1}}, {{%r1}}, {{%r2}}, {{%f1}};"), "k")


def test_the_number_of_registers() -> None:
    form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    with pytest.raises(CompileError, match="1 registers instead of 4"):
        read(kernel(f"  {form} {{%f1}}, {{%r1}}, {{%r2, %r3}}, {{%f1}};"), "k")
