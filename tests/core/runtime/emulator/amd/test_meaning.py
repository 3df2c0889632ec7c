"""What instructions compute, against LLVM's own machine code and against exact integers."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.core.runtime.emulator.amd.running import both, elementwise, run

Array = np.ndarray[Any, Any]
SEED = 3
FLOATS = {"half": np.float16, "float": np.float32, "double": np.float64}
COUNT = 400


def integers_of(bits: int, seed: int = SEED, count: int = COUNT) -> Array:
    """Random integers, small ones and those at the ends of the range."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(f"uint{bits}")
    wide = rng.integers(0, 1 << 64, count, np.uint64, endpoint=False).astype(kind)
    edges = np.array(
        [0, 1, 2, 3, 7, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1], np.uint64
    )
    some = rng.choice(edges.astype(kind), count)
    return np.where(rng.integers(0, 2, count) == 0, wide, some).astype(kind)


def floats_of(name: str, seed: int = SEED, count: int = COUNT) -> Array:
    """Random bits, moderate numbers, and the numbers at which rules change."""
    kind = np.dtype(FLOATS[name])
    rng = np.random.default_rng(seed)
    random_bits = rng.integers(0, 256, count * kind.itemsize, np.uint8).view(kind)
    info = np.finfo(kind)
    edges = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, info.max, info.tiny,
                      info.smallest_subnormal], kind)  # fmt: skip
    which = rng.integers(0, 3, count)
    plain = (rng.standard_normal(count) * 8).astype(kind)
    return np.choose(which, [random_bits, plain, rng.choice(edges, count)]).astype(kind)


def equal(found: Array, right: Array, *inputs: Array) -> None:
    """Equal bits; any NaN for any NaN."""
    if found.dtype.kind == "f":
        size = f"uint{found.itemsize * 8}"
        same = (found.view(size) == right.view(size)) | (np.isnan(found) & np.isnan(right))
    else:
        same = found == right
    if not same.all():
        at = int(np.argmin(same))
        pytest.fail(f"{[i.ravel()[at] for i in inputs]} -> {found[at]}, not {right[at]}")


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("op", ["add", "sub", "mul", "and", "or", "xor"])
def test_integers(op: str, bits: int) -> None:
    a, b = integers_of(bits), integers_of(bits, SEED + 1)
    equal(*both(f"i{bits}", a.dtype, [f"i{bits}"] * 2, f"%r = {op} i{bits} %x0, %x1", [a, b]), a, b)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("op", ["udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr"])
def test_integers_where_they_are_defined(op: str, bits: int) -> None:
    a, b = integers_of(bits), integers_of(bits, SEED + 1)
    if op in ("shl", "lshr", "ashr"):
        b = b % a.dtype.type(bits)
    else:
        bad = (b == 0) | ((a == 1 << bits - 1) & (b == (1 << bits) - 1))
        b = np.where(bad, 3, b).astype(b.dtype)
    equal(*both(f"i{bits}", a.dtype, [f"i{bits}"] * 2, f"%r = {op} i{bits} %x0, %x1", [a, b]), a, b)


@pytest.mark.parametrize("type_", ["i8", "i16", "i32", "i64", "float", "double", "half"])
def test_comparisons(type_: str) -> None:
    whole = type_.startswith("i")
    names = (
        ["eq", "ne", "ugt", "uge", "ult", "ule", "sgt", "sge", "slt", "sle"]
        if whole
        else ["false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
              "ule", "une", "uno", "true"]
    )  # fmt: skip
    if whole:
        a, b = (integers_of(int(type_[1:]), SEED + n) for n in (0, 1))
    else:
        a, b = (floats_of(type_, SEED + n) for n in (0, 1))
    b = np.where(np.arange(COUNT) % 3 == 0, a, b).astype(a.dtype)
    lines: list[str] = []
    total = "0"
    for n, name in enumerate(names):
        lines += [
            f"%c{n} = {'icmp' if whole else 'fcmp'} {name} {type_} %x0, %x1",
            f"%s{n} = select i1 %c{n}, i32 {1 << n}, i32 0",
            f"{f'%t{n}' if n + 1 < len(names) else '%r'} = or i32 {total}, %s{n}",
        ]
        total = f"%t{n}"
    equal(*both("i32", np.uint32, [type_] * 2, "\n".join(lines), [a, b]), a, b)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op", ["fadd", "fsub", "fmul", "fdiv"])
def test_floats(op: str, name: str) -> None:
    a, b = floats_of(name), floats_of(name, SEED + 1)
    equal(*both(name, a.dtype, [name] * 2, f"%r = {op} {name} %x0, %x1", [a, b]), a, b)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op", ["sqrt", "fabs", "floor", "ceil", "trunc", "rint", "roundeven",
                                "round"])  # fmt: skip
def test_functions_of_one_float(op: str, name: str) -> None:
    a = floats_of(name)
    short = {"half": "f16", "float": "f32", "double": "f64"}[name]
    body = f"%r = call {name} @llvm.{op}.{short}({name} %x0)"
    equal(*both(name, a.dtype, [name], body, [a]), a)


@pytest.mark.parametrize("name", ["float", "double"])
@pytest.mark.parametrize("op", ["minimum", "maximum", "copysign", "fma"])
def test_functions_of_more_floats(op: str, name: str) -> None:
    arity = 3 if op == "fma" else 2
    values = [floats_of(name, SEED + n) for n in range(arity)]
    short = {"float": "f32", "double": "f64"}[name]
    operands = ", ".join(f"{name} %x{n}" for n in range(arity))
    body = f"%r = call {name} @llvm.{op}.{short}({operands})"
    equal(*both(name, values[0].dtype, [name] * arity, body, values), *values)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_functions_of_integers(bits: int) -> None:
    a, b, c = (integers_of(bits, SEED + n) for n in range(3))
    type_ = f"i{bits}"
    for op, arity in [("smin", 2), ("smax", 2), ("umin", 2), ("umax", 2), ("ctpop", 1),
                      ("bitreverse", 1), ("fshl", 3), ("fshr", 3), ("bswap", 1)]:  # fmt: skip
        if op == "bswap" and bits == 8:
            continue
        operands = ", ".join(f"{type_} %x{n}" for n in range(arity))
        body = f"%r = call {type_} @llvm.{op}.{type_}({operands})"
        inputs = [a, b, c][:arity]
        equal(*both(type_, a.dtype, [type_] * arity, body, inputs), *inputs)
    for op in ("ctlz", "cttz", "abs"):
        body = f"%r = call {type_} @llvm.{op}.{type_}({type_} %x0, i1 false)"
        equal(*both(type_, a.dtype, [type_], body, [a]), a)


@pytest.mark.parametrize(
    ("op", "source", "target"),
    [
        *[("trunc", f"i{a}", f"i{b}") for a in (16, 32, 64) for b in (8, 16, 32) if b < a],
        *[(op, f"i{a}", f"i{b}") for op in ("zext", "sext") for a in (8, 16, 32)
          for b in (16, 32, 64) if b > a],
        *[(op, f"i{a}", t) for op in ("sitofp", "uitofp") for a in (8, 16, 32, 64)
          for t in ("float", "double")],
        ("fptrunc", "double", "float"), ("fptrunc", "float", "half"), ("fpext", "half", "float"),
        ("fpext", "float", "double"), ("bitcast", "i32", "float"), ("bitcast", "double", "i64"),
        ("bitcast", "i16", "half"),
    ],
)  # fmt: skip
def test_conversions(op: str, source: str, target: str) -> None:
    a = integers_of(int(source[1:])) if source.startswith("i") else floats_of(source)
    kind = np.dtype(f"uint{target[1:]}" if target.startswith("i") else FLOATS[target])
    equal(*both(target, kind, [source], f"%r = {op} {source} %x0 to {target}", [a]), a)


@pytest.mark.parametrize("source", ["float", "double"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["s", "u"])
def test_floats_to_integers(sign: str, bits: int, source: str) -> None:
    a = floats_of(source)
    short, target = {"float": "f32", "double": "f64"}[source], f"i{bits}"
    edge = np.array([2.0**bits, 2.0 ** (bits - 1), -(2.0 ** (bits - 1)), -0.5], a.dtype)
    a = np.concatenate([a, edge, np.nextafter(edge, a.dtype.type(0)), edge - a.dtype.type(1)])
    body = f"%r = call {target} @llvm.fpto{sign}i.sat.{target}.{short}({source} %x0)"
    equal(*both(target, f"uint{bits}", [source], body, [a]), a)
    low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if sign == "s" else (0.0, 2.0**bits)
    with np.errstate(invalid="ignore"):  # a signaling NaN
        whole = np.trunc(a.astype(np.float64))
    inside = a[(whole >= low) & (whole < high)]
    body = f"%r = fpto{sign}i {source} %x0 to {target}"
    equal(*both(target, f"uint{bits}", [source], body, [inside]), inside)


def test_i1() -> None:
    a, b = (integers_of(8, SEED + n) for n in (0, 1))
    lines = ["%a = trunc i8 %x0 to i1", "%b = trunc i8 %x1 to i1"]
    values = [f"{op} i1 %a, %b" for op in ("add", "sub", "mul", "and", "or", "xor")]
    values += [f"icmp {p} i1 %a, %b" for p in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult")]
    total = "0"
    for n, value in enumerate(values):
        lines += [f"%c{n} = {value}", f"%z{n} = zext i1 %c{n} to i32",
                  f"%h{n} = shl i32 %z{n}, {n}", f"%t{n} = or i32 {total}, %h{n}"]  # fmt: skip
        total = f"%t{n}"
    lines += ["%m = sext i1 %a to i32", "%m2 = and i32 %m, 1048576",
              "%f = sitofp i1 %b to float", "%g = fptosi float %f to i32",
              "%g2 = and i32 %g, 2097152", "%u = or i32 %m2, %g2",
              f"%r = or i32 {total}, %u"]  # fmt: skip
    equal(*both("i32", np.uint32, ["i8"] * 2, "\n".join(lines), [a, b]), a, b)


def test_vectors() -> None:
    a, b = integers_of(32, SEED, 4 * COUNT), integers_of(32, SEED + 1, 4 * COUNT)
    body = """%s = add <4 x i32> %x0, <i32 1, i32 2, i32 3, i32 4>
    %c = icmp ult <4 x i32> %s, %x1
    %m = select <4 x i1> %c, <4 x i32> %s, <4 x i32> %x1
    %h = shufflevector <4 x i32> %m, <4 x i32> %x0, <4 x i32> <i32 7, i32 0, i32 2, i32 poison>
    %i = insertelement <4 x i32> %h, i32 9, i64 3
    %e = extractelement <4 x i32> %x1, i32 2
    %q0 = insertelement <4 x i32> poison, i32 %e, i64 0
    %p = shufflevector <4 x i32> %q0, <4 x i32> poison, <4 x i32> zeroinitializer
    %w = bitcast <4 x i32> %i to <2 x i64>
    %w2 = mul <2 x i64> %w, splat (i64 3)
    %n = bitcast <2 x i64> %w2 to <8 x i16>
    %n2 = sub <8 x i16> zeroinitializer, %n
    %k = bitcast <8 x i16> %n2 to <4 x i32>
    %r = xor <4 x i32> %k, %p"""
    found = both("<4 x i32>", np.uint32, ["<4 x i32>"] * 2, body, [a, b], lanes=4)
    equal(*found, np.arange(4 * COUNT))


def test_bfloat_is_rounded_once() -> None:
    a, b = floats_of("float"), floats_of("float", SEED + 1)
    body = """%a = fptrunc float %x0 to bfloat
    %b = fptrunc float %x1 to bfloat
    %p = fmul bfloat %a, %b
    %r = fpext bfloat %p to float"""
    found = np.zeros(COUNT, np.float32)
    run(elementwise("float", ["float"] * 2, body), [found, a, b], (COUNT, 1, 1))
    with np.errstate(all="ignore"):
        x, y = (v.astype(ml_dtypes.bfloat16).astype(np.float64) for v in (a, b))
        right = (x * y).astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float32)
    equal(found, right, a, b)
