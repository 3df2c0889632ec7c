"""Integer expressions as z3 bit-vectors, with the meaning of meaning.py, to prove rules with."""

from __future__ import annotations

from typing import Any

import z3

from core.dtype import dtypes
from core.uop import GroupOp, Ops, UOp


def counterexample(before: UOp, after: UOp) -> dict[str, int] | None:
    """Values of the variables, within their bounds, for which the two differ; None if proved."""
    solver = z3.Solver()
    solver.set("timeout", 20_000)
    known: dict[UOp, Any] = {}
    left, right = translate(before, known, solver), translate(after, known, solver)
    assert solver.check() == z3.sat, "the bounds of the variables exclude each other"
    solver.add(left != right)
    result = solver.check()
    assert result != z3.unknown, f"not decided in time: {before.render()} = {after.render()}"
    if result == z3.unsat:
        return None
    model = solver.model()
    return {str(v): model[v] for v in model}


def translate(u: UOp, known: dict[UOp, Any], solver: z3.Solver) -> Any:
    """The bit-vector (bool: the formula) of `u`; bounds of variables are added to the solver."""
    for n in u.toposort():
        if n in known:
            continue
        src = [known[s] for s in n.src]
        known[n] = leaf(n, solver) if not src else operation(n, src)
    return known[u]


def leaf(n: UOp, solver: z3.Solver) -> Any:
    if n.op is Ops.CONST:
        return z3.BoolVal(n.arg) if dtypes.is_bool(n.dtype) else z3.BitVecVal(n.arg, n.dtype.bits)
    assert n.op is Ops.DEFINE_VAR, n
    name, low, high = n.arg
    if dtypes.is_bool(n.dtype):
        return z3.Bool(name)
    v = z3.BitVec(name, n.dtype.bits)
    if dtypes.is_unsigned(n.dtype):
        solver.add(z3.UGE(v, low), z3.ULE(v, high))
    else:
        solver.add(v >= low, v <= high)
    return v


def operation(n: UOp, src: list[Any]) -> Any:
    source = n.src[0].dtype
    if n.op is Ops.WHERE:
        return z3.If(src[0], src[1], src[2])
    if n.op is Ops.CAST:
        return cast(n, src[0])
    if n.op in GroupOp.Comparison and n.op is not Ops.CMPLT:
        return src[0] == src[1] if n.op is Ops.CMPEQ else src[0] != src[1]
    if dtypes.is_bool(source):
        return on_bools(n.op, *src)
    if n.op in (Ops.SHL, Ops.SHR) and n.src[1].dtype is not source:
        return shift(n.op, dtypes.is_unsigned(source), source.bits, *src)
    return on_ints(n.op, dtypes.is_unsigned(source), source.bits, *src)


def shift(op: Ops, unsigned: bool, bits: int, x: Any, n: Any) -> Any:
    """A shift by an amount of 32 bits: as wide as that, what is out is out."""
    more = n.size() - bits
    fill = z3.ZeroExt if unsigned or op is Ops.SHL else z3.SignExt
    wide = fill(more, x) if more > 0 else x
    shifted = wide << n if op is Ops.SHL else z3.LShR(wide, n) if unsigned else wide >> n
    return z3.Extract(bits - 1, 0, shifted)


def on_bools(op: Ops, x: Any, y: Any) -> Any:
    if op in (Ops.AND, Ops.MUL):
        return z3.And(x, y)
    if op in (Ops.OR, Ops.ADD, Ops.MAX):
        return z3.Or(x, y)
    return z3.Xor(x, y) if op is Ops.XOR else z3.And(z3.Not(x), y)


def on_ints(op: Ops, unsigned: bool, bits: int, x: Any, y: Any = None) -> Any:
    match op:
        case Ops.NEG:
            return -x
        case Ops.ADD:
            return x + y
        case Ops.SUB:
            return x - y
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
            raise AssertionError(f"no bit-vector for {op}")


def cast(n: UOp, x: Any) -> Any:
    source, bits = n.src[0].dtype, n.dtype.bits
    if dtypes.is_bool(source):
        return z3.If(x, z3.BitVecVal(1, bits), z3.BitVecVal(0, bits))
    if dtypes.is_bool(n.dtype):
        return x != 0
    more = bits - source.bits
    if more <= 0:
        return z3.Extract(bits - 1, 0, x)
    return z3.ZeroExt(more, x) if dtypes.is_unsigned(source) else z3.SignExt(more, x)
