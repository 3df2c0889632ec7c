"""Terms as z3 bit-vectors, with the meaning of `core/uop/facts/meaning.py`, to prove them equal.

Floats, memory and reductions are unknown functions there: what is proved holds whatever they are,
and what is not may still be equal. z3 is optional (`pip install "uopviz[check]"`). Never samples.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from core.dtype import DType, dtypes
from core.prove.solver import solver_module
from core.prove.terms.term import Kind, Term, postorder, whole
from core.uop.ops import GroupOp, Ops

MAX_FACTORS: Final = 16
"""Factors of a product that z3 may multiply out. It does so before it looks at its limit of time,
and a power by repeated squares has billions; a larger product is an unknown function of two."""
TIMEOUT: Final = 2_000
"""Milliseconds for one pair."""
Answer = Literal["equal", "differ", "unknown"]


def compare(a: Term, b: Term, given: Term | None = None, timeout: int = TIMEOUT) -> Answer:
    """Whether two terms are equal for all inputs within their bounds (where `given` holds).
    "unknown": z3 is not installed, cannot say them, or did not decide it in so many
    milliseconds."""
    return solve(a, b, given, timeout)[0]


def solve(
    a: Term, b: Term, given: Term | None = None, timeout: int = TIMEOUT
) -> tuple[Answer, dict[Term, int]]:
    """The same, and where they differ, values of their inputs and of what they read for which they
    do. Where an op is an unknown function to z3, only those of integers that no such op has a part
    in: they are worth a try."""
    z3 = solver_module()
    if z3 is None or a.dtype != b.dtype:
        return "unknown", {}
    encoded = Encoding(z3)
    try:
        solver = _solver(z3, encoded, a, b, given, timeout)
        found = solver.check()
        if found != z3.sat:
            return ("equal" if found == z3.unsat else "unknown"), {}
        return "differ", _values(encoded, solver.model(), a, b)
    except z3.Z3Exception:
        return "unknown", {}


def _values(encoded: Encoding, model: Any, a: Term, b: Term) -> dict[Term, int]:
    """What a model says of the inputs and of what is read."""
    leaves: list[Term] = []
    open_: set[Term] = set()
    for t in postorder([a, b]):
        if _is_unknown(t) or any(arg in open_ for arg in t.args):
            open_.add(t)
        elif t.op in (Kind.INPUT, Kind.READ):
            leaves.append(t)
    inner = {t for r in open_ if r.op is Kind.REDUCE for t in postorder(r.args)}
    leaves = [t for t in leaves if t not in inner or t.op is Kind.INPUT]
    return {t: _integer(model.eval(encoded.of(t), model_completion=True), t.dtype) for t in leaves}


def _is_unknown(t: Term) -> bool:
    """Whether z3 knows nothing of what a term computes."""
    opaque = (Kind.REDUCE, Ops.THREEFRY, Ops.POW, Ops.BITCAST)
    return dtypes.is_float(t.dtype) or t.op in opaque


def _integer(value: Any, dtype: DType) -> int:
    if dtypes.is_bool(dtype):
        return int(str(value) == "True")
    return int(value.as_long() if dtypes.is_unsigned(dtype) else value.as_signed_long())


def _solver(z3: Any, encoded: Encoding, a: Term, b: Term, given: Term | None, timeout: int) -> Any:
    left, right = encoded.of(a), encoded.of(b)
    if given is not None:
        encoded.bounds.append(encoded.of(given))
    solver = z3.SolverFor("QF_AUFBV") if encoded.functions else z3.SolverFor("QF_BV")
    solver.set("timeout", timeout)
    solver.add(*encoded.bounds, left != right)
    return solver


class Encoding:
    """Terms of one question in z3. `bounds` are what holds for its inputs."""

    def __init__(self, z3: Any) -> None:
        self.z3 = z3
        self.bounds: list[Any] = []
        self.functions: dict[Any, Any] = {}
        self._known: dict[Term, Any] = {}
        self._factors: dict[Term, int] = {}

    def of(self, root: Term) -> Any:
        """A bit-vector; of a bool, a formula; of a float, a bit-vector that nothing is known of."""
        for t in postorder([root], self._known):
            self._known[t] = self._encode(t)
        return self._known[root]

    def _encode(self, t: Term) -> Any:
        if t.op is Ops.CONST:
            return self._constant(t)
        args = [self._known[a] for a in t.args]
        if t.op is Kind.INPUT or t.op is Kind.REDUCE:
            return self._unknown(t)
        if t.op is Kind.READ:
            return self._within(t, self._function(("read", t.data), t.dtype, args))
        if t.op is Ops.WHERE:
            return self.z3.If(*args)
        if t.op is Kind.SUM:
            return self._sum(t, args)
        source = t.args[0].dtype
        assert isinstance(t.op, Ops)
        if t.op in (Ops.CMPEQ, Ops.CMPNE) and not dtypes.is_float(source):
            return args[0] == args[1] if t.op is Ops.CMPEQ else args[0] != args[1]
        if t.op is Ops.MUL and not dtypes.is_bool(source) and self._is_large(t):
            return self._function((t.op, t.dtype.name), t.dtype, args)
        floats = dtypes.is_float(t.dtype) or dtypes.is_float(source)
        if floats or t.op in (Ops.THREEFRY, Ops.POW, Ops.BITCAST):
            return self._function((t.op, t.dtype.name, source.name), t.dtype, args)
        if t.op is Ops.CAST:
            return self._cast(t.dtype, source, args[0])
        if dtypes.is_bool(source):
            return _on_bools(self.z3, t.op, *args)
        unsigned = dtypes.is_unsigned(source)
        if t.op in (Ops.SHL, Ops.SHR) and t.args[1].dtype != source:
            return self._shift(t.op, unsigned, source.bits, *args)
        return _on_ints(self.z3, t.op, unsigned, source.bits, *args)

    def _is_large(self, t: Term) -> bool:
        """Whether a product has too many factors."""
        many = sum(self._factors.get(a, 1) for a in t.args)
        self._factors[t] = many if many <= MAX_FACTORS else 1
        return many > MAX_FACTORS

    def _constant(self, t: Term) -> Any:
        if dtypes.is_bool(t.dtype):
            return self.z3.BoolVal(bool(t.data))
        if dtypes.is_float(t.dtype):
            return self.z3.BitVec(f"{t.dtype.name} {t.data!r}", _bits(t.dtype))
        return self.z3.BitVecVal(t.data, t.dtype.bits)

    def _unknown(self, t: Term) -> Any:
        if dtypes.is_bool(t.dtype):
            return self.z3.Bool(f"t{t.number}")
        return self._within(t, self.z3.BitVec(f"t{t.number}", _bits(t.dtype)))

    def _within(self, t: Term, x: Any) -> Any:
        """`x`, after its bounds were noted."""
        if dtypes.is_int(t.dtype) and (t.low, t.high) != whole(t.dtype):
            if dtypes.is_unsigned(t.dtype):
                self.bounds += [self.z3.UGE(x, t.low), self.z3.ULE(x, t.high)]
            else:
                self.bounds += [x >= t.low, x <= t.high]
        return x

    def _function(self, key: Any, dtype: DType, args: list[Any]) -> Any:
        """An unknown function of `args`."""
        made = self.functions.get(key)
        if made is None:
            z3 = self.z3
            result = z3.BoolSort() if dtypes.is_bool(dtype) else z3.BitVecSort(_bits(dtype))
            sorts = [a.sort() for a in args]
            made = self.functions[key] = z3.Function(f"f{len(self.functions)}", *sorts, result)
        return made(*args)

    def _sum(self, t: Term, args: list[Any]) -> Any:
        constant, factors = t.data
        made = self.z3.BitVecVal(constant, t.dtype.bits)
        for factor, arg in zip(factors, args, strict=True):
            made = made + arg * self.z3.BitVecVal(factor, t.dtype.bits)
        return made

    def _cast(self, dtype: DType, source: DType, x: Any) -> Any:
        z3, bits = self.z3, dtype.bits
        if dtypes.is_bool(source):
            return z3.If(x, z3.BitVecVal(1, bits), z3.BitVecVal(0, bits))
        if dtypes.is_bool(dtype):
            return x != 0
        more = bits - source.bits
        if more <= 0:
            return z3.Extract(bits - 1, 0, x)
        return z3.ZeroExt(more, x) if dtypes.is_unsigned(source) else z3.SignExt(more, x)

    def _shift(self, op: Ops, unsigned: bool, bits: int, x: Any, n: Any) -> Any:
        """A shift by an amount of another width: as wide as that, what is out is out."""
        z3, more = self.z3, n.size() - bits
        if more < 0:
            n, more = z3.ZeroExt(-more, n), 0
        fill = z3.ZeroExt if unsigned or op is Ops.SHL else z3.SignExt
        wide = fill(more, x) if more > 0 else x
        shifted = wide << n if op is Ops.SHL else z3.LShR(wide, n) if unsigned else wide >> n
        return z3.Extract(bits - 1, 0, shifted)


def _bits(dtype: DType) -> int:
    return 8 * dtype.scalar().itemsize


def _on_bools(z3: Any, op: Ops, x: Any, y: Any) -> Any:
    if op in (Ops.AND, Ops.MUL):
        return z3.And(x, y)
    if op in (Ops.OR, Ops.ADD, Ops.MAX):
        return z3.Or(x, y)
    return z3.Xor(x, y) if op is Ops.XOR else z3.And(z3.Not(x), y)


def _on_ints(z3: Any, op: Ops, unsigned: bool, bits: int, x: Any, y: Any = None) -> Any:
    """An op on two integers of one dtype. Sums and multiples are terms of their own."""
    match op:
        case Ops.MUL:
            return x * y
        case Ops.AND:
            return x & y
        case Ops.OR:
            return x | y
        case Ops.XOR:
            return x ^ y
        case Ops.CMPLT:
            return z3.ULT(x, y) if unsigned else x < y
        case Ops.MAX:
            return z3.If(z3.UGT(x, y) if unsigned else x > y, x, y)
        case Ops.IDIV:
            return z3.If(y == 0, z3.BitVecVal(0, bits), z3.UDiv(x, y) if unsigned else x / y)
        case Ops.MOD:
            return z3.If(y == 0, x, z3.URem(x, y) if unsigned else z3.SRem(x, y))
        case Ops.SHL:
            return z3.If(z3.ULT(y, bits), x << y, z3.BitVecVal(0, bits))
        case Ops.SHR:
            return z3.LShR(x, y) if unsigned else x >> y
        case _:
            raise AssertionError(f"{op.name} in {sorted(o.name for o in GroupOp.ALU)} has no bits")
