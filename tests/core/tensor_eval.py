"""What a Tensor graph means, in NumPy: an oracle that shares nothing with scheduler, passes and
devices.

Evaluates every node once, in topological order. Reads the memory of BUFFER nodes (zeros where there
is none), writes none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.dtype import DType, dtypes
from core.runtime.buffer import buffer_of
from core.tensor import Tensor
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

Array = np.ndarray[Any, Any]


def kind(dtype: DType) -> np.dtype[Any]:
    return np.dtype(np.bool_) if dtype is dtypes.bool else np.dtype(dtype.name)


def evaluate(uop: UOp) -> Array:
    """The value of a Tensor-level node."""
    found: dict[UOp, Array] = {}
    with np.errstate(all="ignore"):
        for u in uop.toposort():
            if u.op not in (Ops.DEVICE, Ops.UNIQUE):
                found[u] = np.asarray(_value(u, [found[s] for s in u.src if s in found]))
    return found[uop]


def value(tensor: Tensor) -> Array:
    """The value of a Tensor, without running anything of ours."""
    return evaluate(tensor.uop)


def _value(u: UOp, src: list[Array]) -> Any:
    if u.op is Ops.BUFFER:
        data = memoryview(bytearray(u.arg * u.dtype.itemsize))
        if buffer_of(u).allocated:
            buffer_of(u).copyout(data)
        return np.frombuffer(data, kind(u.dtype))
    if u.op is Ops.CONST:
        return np.array(u.arg, kind(u.dtype))
    if u.op is Ops.IOTA:
        return np.arange(u.arg, dtype=kind(u.dtype))
    if u.op in GroupOp.Movement:
        return _moved(u, src[0])
    if u.op is Ops.REDUCE_AXIS:
        op, axes = u.arg
        function = {Ops.ADD: np.sum, Ops.MUL: np.prod, Ops.MAX: np.max}[op]
        return function(src[0], axis=axes, keepdims=True).astype(src[0].dtype)
    if u.op in (Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.FUSE, Ops.DETACH):
        return src[0]
    if u.op in (Ops.DERIVATIVE, Ops.COPY):
        return src[0]
    if u.op is Ops.ASSIGN:
        return src[1]
    if u.op is Ops.CAST:
        return _cast(src[0], np.dtype(kind(u.dtype)))
    if u.op is Ops.BITCAST:
        return np.ascontiguousarray(src[0]).view(kind(u.dtype)).reshape(u.shaped)
    return np.asarray(_alu(u, src)).astype(kind(u.dtype))


def _cast(x: Array, to: np.dtype[Any]) -> Array:
    """Floats become the nearest integer toward zero that `to` has, NaN becomes 0."""
    if x.dtype.kind != "f" or to.kind not in "iu":
        return x.astype(to)
    whole, limits = np.trunc(x.astype(np.float64)), np.iinfo(to)
    inside = (whole >= float(limits.min)) & (whole < float(limits.max) + 1)
    ends = np.where(np.isnan(x), 0, np.where(whole < 0, limits.min, limits.max).astype(to))
    return np.where(inside, np.where(inside, whole, 0).astype(to), ends).astype(to)


def _moved(u: UOp, x: Array) -> Array:
    if u.op is Ops.RESHAPE:
        return x.reshape(u.arg)
    if u.op is Ops.PERMUTE:
        return x.transpose(u.arg)
    if u.op is Ops.EXPAND:
        return np.broadcast_to(x, u.arg)
    if u.op is Ops.PAD:
        return np.pad(x, u.arg) if x.ndim else x
    if u.op is Ops.SHRINK:
        return x[tuple(slice(*part) for part in u.arg)]
    return np.flip(x, [i for i, f in enumerate(u.arg) if f])


def _alu(u: UOp, s: list[Array]) -> Any:
    op = u.op
    if op is Ops.WHERE:
        return np.where(s[0], s[1], s[2])
    if op is Ops.MULACC:
        return s[0] * s[1] + s[2]
    if op in (Ops.IDIV, Ops.MOD):
        quotient = np.abs(s[0]) // np.abs(s[1]) * np.sign(s[0]) * np.sign(s[1])
        return quotient if op is Ops.IDIV else s[0] - quotient * s[1]
    if op is Ops.THREEFRY:
        return threefry(s[0], s[1])
    unary = {
        Ops.NEG: np.negative, Ops.RECIPROCAL: np.reciprocal, Ops.EXP2: np.exp2, Ops.LOG2: np.log2,
        Ops.SIN: np.sin, Ops.COS: np.cos, Ops.SQRT: np.sqrt, Ops.TRUNC: np.trunc,
    }  # fmt: skip
    if op in unary:
        return unary[op](s[0])
    logical = u.src[0].dtype is dtypes.bool
    binary = {
        Ops.ADD: np.logical_or if logical else np.add, Ops.SUB: np.subtract, Ops.MUL: np.multiply,
        Ops.FDIV: np.divide, Ops.MAX: np.maximum, Ops.POW: np.power, Ops.SHL: np.left_shift,
        Ops.SHR: np.right_shift, Ops.AND: np.bitwise_and, Ops.OR: np.bitwise_or,
        Ops.XOR: np.bitwise_xor, Ops.CMPLT: np.less, Ops.CMPNE: np.not_equal,
        Ops.CMPEQ: np.equal,
    }  # fmt: skip
    return binary[op](s[0], s[1])


def threefry(counter: Array, key: Array) -> Array:
    """threefry2x32 with 20 rounds, as in the paper's reference; (low, high) words of uint64."""
    mask = np.uint64(0xFFFFFFFF)
    k0, k1 = key & mask, key >> np.uint64(32)
    x0, x1 = counter & mask, counter >> np.uint64(32)
    keys = [k0, k1, k0 ^ k1 ^ np.uint64(0x1BD11BDA)]
    rotations = [[13, 15, 26, 6], [17, 29, 16, 24]]
    x0, x1 = (x0 + keys[0]) & mask, (x1 + keys[1]) & mask
    for block in range(5):
        for r in rotations[block % 2]:
            x0 = (x0 + x1) & mask
            x1 = ((x1 << np.uint64(r)) | (x1 >> np.uint64(32 - r))) & mask
            x1 ^= x0
        x0 = (x0 + keys[(block + 1) % 3]) & mask
        x1 = (x1 + keys[(block + 2) % 3] + np.uint64(block + 1)) & mask
    return x0 | (x1 << np.uint64(32))
