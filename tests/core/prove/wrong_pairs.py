"""Pairs that are not equal, each of which a prover with one wrong line takes for equal.

By the module and the title of the breakage (`broken.py`) that it is there for.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.dtype import DType, dtypes
from core.shape import ShapeTracker
from core.uop import Ops, UOp
from core.uop.facts.meaning import UNLESS_ZERO
from core.uop.kernelinfo import AxisType
from tests.core.uop.symbols import f, flag, g, num, var

Pair = tuple[UOp, UOp]

INT, U8, I8, U32 = dtypes.int32, dtypes.uint8, dtypes.int8, dtypes.uint32
LOW, HIGH = -(1 << 31), (1 << 31) - 1
X, Y, Z = (var(name, LOW, HIGH) for name in "xyz")
S, T, N = var("s", -9, 9), var("t", -9, 9), var("n", 0, 5)
P, Q = flag("p"), flag("q")
K, A, L, W = (
    var(name, *ends)
    for name, ends in (("k", (3, 9)), ("a", (0, 60_000)), ("l", (0, 70_000)), ("w", (0, HIGH)))
)
B = var("b", 0, 255, U8)
U, V = var("u", 0, (1 << 32) - 1, U32), var("v", 0, (1 << 32) - 1, U32)


def memory(number: int, dtype: DType = INT, size: int = 16) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), number)


M, OTHER = memory(0), memory(1)
VECTOR = M.index(num(0)).load(dtype=INT.vec(4))
FLOATS = memory(2, dtypes.float32)


def loop(n: int | UOp, number: int, kind: AxisType = AxisType.REDUCE) -> UOp:
    return UOp.range(n, number, kind)


def plain(*shape: int) -> UOp:
    return UOp(Ops.LOAD, INT, (memory(0, INT, 64).view(ShapeTracker.from_shape(shape)),))


def total(n: int | UOp, op: Ops = Ops.ADD, memory_: UOp = M) -> UOp:
    r = loop(n, 1)
    return memory_.index(r).load().reduce(op, r)


def padded() -> UOp:
    return plain(3).pad(((0, 2),))


def write(at: UOp, value: int, gate: UOp | None = None, to: UOp = M) -> UOp:
    gates = () if gate is None else (gate,)
    return UOp(Ops.INDEX, to.dtype, (to, at, *gates)).store(num(value))


def _gated(value: UOp, gate: UOp) -> UOp:
    r = UOp.range(5, 0)
    return value.index(r, gate=gate)


def rare(a: UOp, b: UOp) -> Pair:
    """Two values where a condition is met that no sample meets; the same everywhere else."""
    met = S.eq(5) & N.eq(3) & X.eq(123_456).ne(Y.eq(65_432))
    return met.where(a, a.const_like(0)), met.where(b, b.const_like(0))


def _pairs() -> Iterator[tuple[str, str, UOp, UOp]]:
    both = P & Q
    yield (
        "terms.term",
        "some of the conditions of a choice are enough",
        both.where((P & Q.ne(True)).where(S, T), N),
        both.where(S, N),
    )
    yield (
        "terms.term",
        "the other branch is that of any condition",
        P.where(S, Q.where(T, N)),
        P.where(S, N),
    )
    yield "terms.term", "a cast keeps what does not fit", X.cast(I8).cast(INT), X
    yield (
        "terms.term",
        "a sum that wraps around is cast term by term",
        (B + 200).cast(INT),
        B.cast(INT) - 56,
    )
    yield "terms.term", "what may be negative is divided", (S * 4 + 3) // 4, S
    yield "terms.term", "a quotient is zero one too far", N // 5, num(0)
    yield "terms.term", "a remainder of a remainder", N * 7 % 12 % 8, N * 7 % 8
    yield "terms.term", "a sum that wraps around is divided", (U * 4 + 4) // 4, U + 1
    yield "terms.term", "what is left of a division may be negative", (K * 4 + S) // 4, K + S // 4
    yield "terms.term", "a shift is a multiple", N << 3, N * 6
    yield "terms.term", "a difference is a sum", X - Y, X + Y
    yield "terms.term", "a negation is none", X.neg(), X * 1
    yield (
        "terms.term",
        "a sum that wraps around keeps its bounds",
        (B + 200).alu(Ops.CMPLT, num(200, U8)),
        P | True,
    )
    yield "terms.term", "constants of AND and OR", P & True, UOp.const(dtypes.bool, True)
    yield "terms.term", "x ^ x is x", P ^ P, P
    yield "terms.term", "not (x != c) is x", P.ne(True), P
    a, b = loop(3, 1), loop(3, 2)
    yield (
        "terms.term",
        "loops of a nest have one name",
        (a * b).reduce(Ops.MAX, a).reduce(Ops.ADD, b),
        (b * b).reduce(Ops.MAX, a).reduce(Ops.ADD, b),
    )
    yield "terms.term", "all loops are alike", total(3), total(4)
    yield "terms.term", "a quotient is commutative", f / g, g / f
    yield (
        "terms.term",
        "zeros have no sign",
        f + UOp.const(dtypes.float32, -0.0),
        f + UOp.const(dtypes.float32, 0.0),
    )
    yield "terms.term", "all memory is one", M.index(N).load(), OTHER.index(N).load()
    yield "terms.term", "a choice of equal branches", P.where(f + g, f + 2.0), f + g
    yield "terms.term", "a reduction is any reduction", total(3), total(3, Ops.MAX)
    yield "terms.term", "the opposite of the opposite is that", f.neg().neg(), f.neg()
    yield "terms.term", "a difference of floats is a sum", f.alu(Ops.SUB, g), f + g
    half = f.cast(dtypes.float16)
    yield (
        "terms.term",
        "the inverse of a power of two is a number",
        half.alu(Ops.FDIV, half.const_like(2.0**-16)),
        half * float("inf"),
    )
    yield "terms.term", "a product of floats with -1 is itself", f * -1, f
    yield "terms.node", "a comparison at the ends", N.eq(var("k", 5, 9)), P & False
    yield "terms.node", "less than is at most", N.alu(Ops.CMPLT, var("k", 5, 9)), P | True
    yield "terms.node", "a remainder is less", W % 5 < 4, P | True
    yield "terms.node", "products do not overflow", W * W < 0, P & False
    yield "terms.node", "the larger is the first", N.alu(Ops.MAX, var("k", 3, 9)) < 6, P | True
    yield "terms.value", "a loop takes all iterations", total(N), total(num(5).alu(Ops.MAX, N))
    r = loop(N, 0, AxisType.LOOP)
    yield (
        "terms.value",
        "a store is made in all iterations",
        OTHER.view(ShapeTracker.from_shape((5,))).store(plain(5)),
        OTHER.index(r).store(memory(0, INT, 64).index(r).load()).end(r),
    )
    divided = S.alu(Ops.IDIV, T)
    yield "terms.value", "a promise is kept", divided, divided.replace(arg=UNLESS_ZERO)
    yield (
        "terms.value",
        "the gate of a value does not matter",
        plain(5).index(UOp.range(5, 0)),
        _gated(plain(5), P),
    )
    gated = UOp(Ops.INDEX, M.dtype, (M, N, P)).load(num(7))
    yield "terms.value", "the gate of a load does not matter", gated, M.index(N).load()
    unrolled = UOp(Ops.UNROLL, INT, (VECTOR.gep((0, 1)),), ((3, 2),))
    yield (
        "terms.value",
        "an UNROLL has one lane",
        UOp(Ops.CONTRACT, INT.vec(2), (unrolled,), ((3, 2),)),
        VECTOR.gep((0, 0)),
    )
    yield "terms.value", "all lanes are the first", VECTOR.gep((1, 2)), VECTOR.gep((0, 0))
    yield (
        "terms.value",
        "a reduction over axes is whole",
        plain(5).length(0, N).r(Ops.ADD, (0,)),
        plain(5).r(Ops.ADD, (0,)),
    )
    q = loop(3, 4)
    deep = ((memory(0, INT, 64).index(q).load() * 3 + 1) ^ 5) % 7
    yield (
        "terms.value",
        "an input is the same in each iteration",
        deep.reduce(Ops.ADD, q),
        deep.reduce(Ops.ADD, loop(3, 9)),
    )
    yield "terms.value", "elements of a vector are one", VECTOR.gep(1), M.index(num(0)).load()
    stored = UOp(Ops.STORE, dtypes.void, (M.index(N), num(1), P))
    yield "terms.value", "the gate of a store does not matter", stored, M.index(N).store(num(1))
    zero = UOp.range(1, 0)
    open_ = UOp(Ops.MOD, INT, (zero, zero), UNLESS_ZERO)
    yield (
        "terms.value",
        "bounds of what is undefined hold",
        M.index((zero % zero) + 3).load(),
        M.index(open_ + 3).load(),
    )
    e, k = loop(N, 5), loop(5, 6)
    product = M.index(e).load().reduce(Ops.MUL, e)
    yield (
        "terms.accumulator",
        "nothing is zero",
        product,
        (k < N).where(M.index(k).load(), num(0)).reduce(Ops.MUL, k),
    )
    yield (
        "terms.index",
        "an axis is turned one too far",
        plain(3).flip((True,)).index(N % 3),
        plain(4).index(num(3) - N % 3),
    )
    yield (
        "terms.index",
        "a permutation is its inverse",
        plain(3, 3, 3).permute((1, 2, 0)),
        plain(3, 3, 3).view(ShapeTracker.from_shape((3, 3, 3)).permute((2, 0, 1))),
    )
    yield (
        "terms.index",
        "a part begins at the first element",
        plain(5).shrink(((1, 4),)),
        plain(5).shrink(((0, 3),)),
    )
    yield "terms.index", "what is padded is inside", padded(), plain(5)
    masked = ShapeTracker.from_shape((3,)).pad(((0, 2),))
    yield (
        "terms.index",
        "masks do not matter",
        UOp(Ops.LOAD, INT, (memory(0, INT, 64).view(masked),)),
        plain(5),
    )
    yield (
        "terms.index",
        "an axis that is repeated has elements",
        UOp(Ops.IOTA, INT, (), 1).expand((5,)),
        UOp(Ops.IOTA, INT, (), 5),
    )
    twelve = UOp.range(12, 0)
    turned = plain(3, 4).permute((1, 0)).reshape((12,))
    yield (
        "terms.index",
        "a digit is the number",
        turned.index(twelve),
        memory(0, INT, 64).index(twelve * 4 + twelve // 3).load(),
    )
    yield (
        "bitvector",
        "quotients have signs",
        *rare(U.alu(Ops.IDIV, V), U.cast(INT).alu(Ops.IDIV, V.cast(INT)).cast(U32)),
    )
    yield (
        "bitvector",
        "nothing is divided by zero",
        *rare(
            Y.eq(0).where(X.alu(Ops.IDIV, Y), num(0)),
            Y.eq(0).where((X < 0).where(num(1), num(-1)), num(0)),
        ),
    )
    yield (
        "bitvector",
        "a remainder by zero is zero",
        *rare(X.alu(Ops.MOD, Y), Y.eq(0).where(num(0), X.alu(Ops.MOD, Y))),
    )
    yield (
        "bitvector",
        "signs are not shifted in",
        *rare(X.alu(Ops.SHR, Y), X.cast(U32).alu(Ops.SHR, Y.cast(U32)).cast(INT)),
    )
    yield "bitvector", "bounds leave out the last value", *rare(L, L.eq(70_000).where(num(3), L))
    yield (
        "bitvector",
        "all casts keep the sign",
        *rare(U.cast(dtypes.int64), U.cast(INT).cast(dtypes.int64)),
    )
    yield "bitvector", "comparisons have signs", *rare(U < V, U.cast(INT) < V.cast(INT))
    yield "bitvector", "a difference is none", *rare(X.ne(Y), X.alu(Ops.CMPEQ, Y))
    yield "bitvector", "unknown functions are one", *rare(f.alu(Ops.SIN), f.alu(Ops.COS))
    gate = N < 2
    yield (
        "questions.writes",
        "a gated write replaces others",
        UOp.group(write(T, 1), write(T, 2, gate)),
        write(T, 2, gate),
    )
    yield (
        "questions.writes",
        "writes change places",
        UOp.group(write(N, 1), write(S + 9, 2)),
        UOp.group(write(S + 9, 2), write(N, 1)),
    )
    seven, copy = M.index(num(3)).store(num(7)), OTHER.index(num(0)).store(M.index(num(3)).load())
    yield "questions.writes", "reads change places", UOp.group(seven, copy), UOp.group(copy, seven)
    i, j = loop(3, 6, AxisType.LOOP), loop(4, 6, AxisType.LOOP)
    yield "questions.writes", "loops of writes are alike", write(N, 1).end(i), write(N, 1).end(j)
    yield (
        "questions.effects",
        "all elements are apart",
        UOp.group(write(N, 1), write(N * 2, 2)),
        UOp.group(write(N * 2, 2), write(N, 1)),
    )
    h = loop(3, 7)
    few = X.eq(123_456).where(M.index(h).load(), num(0))
    yield "decide", "all reductions are alike", few.reduce(Ops.ADD, h), few.reduce(Ops.MAX, h)
    out = (X.eq(123_456)).where(num(99), num(1))
    yield (
        "decide",
        "what is read may lie outside",
        M.index(num(1)).load() * 0 + X,
        M.index(out).load() * 0 + X,
    )
    yield "decide", "one value is enough", A, A.eq(54_321).where(num(0), A)
    yield (
        "terms.cut",
        "answers are kept without bounds",
        (M.index(N).load() & 15) // 8,
        (M.index(N).load() & 15) * 0,
    )
    yield (
        "questions.refine",
        "all is undefined",
        S.alu(Ops.IDIV, T).replace(arg=UNLESS_ZERO) + N,
        N * 1,
    )


WRONG = {(module, title): (before, after) for module, title, before, after in _pairs()}
FIRST: dict[tuple[str, str], Pair] = {
    ("terms.cut", "answers are kept without bounds"): (
        (M.index(N).load() & 7) // 8, (M.index(N).load() & 7) * 0
    ),
}  # fmt: skip
"""Pairs that the checker is asked about before."""
