"""Kernels written by hand with UOps, and what each of them computes, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.dtype import AddrSpace, dtypes
from core.target import Target
from core.tensor import Tensor
from core.uop.call.kernelcall import Parameter
from core.uop.kernelinfo import AxisType, KernelInfo
from core.uop.ops import Ops
from core.uop.uop import UOp

Array = np.ndarray[Any, Any]
F = dtypes.float32
REDUCE = AxisType.REDUCE


def flat(target: Target, n: int, number: int = 0) -> tuple[UOp, list[UOp]]:
    """An index 0..n-1: of the hardware where the target has it, else a loop, and what to end."""
    if not target.has_local:
        i = UOp.range(n, number)
        return i, [i]
    threads = next(k for k in (32, 8, 4, 2, 1) if n % k == 0)
    return UOp.special(n // threads, "gidx0") * threads + UOp.special(threads, "lidx0"), []


def axpy(target: Target, out: Parameter, x: Parameter, y: Parameter) -> UOp:
    """out[i] = 2 x[i] + y[i], over a Tensor of one axis."""
    i, loops = flat(target, out.size)
    return UOp.sink(out[i].store(x[i].load() * 2.0 + y[i].load()).end(*loops))


def axpy_backward(
    grads: list[Tensor], inputs: list[Tensor], outputs: list[Tensor]
) -> tuple[Tensor, Tensor]:
    (g,) = grads
    return g * 2.0, g


def call_axpy(x: Tensor, y: Tensor, **options: Any) -> Tensor:
    given: dict[str, Any] = {"outputs": (x.shape, x.dtype), "backward": axpy_backward, **options}
    return Tensor.call_kernel(axpy, x, y, **given)


def row_sum(target: Target, out: Parameter, x: Parameter) -> UOp:
    """out[i] = sum over k of x[i, k]"""
    m, n = x.shape
    i, loops = flat(target, m)
    k = UOp.range(n, 1, REDUCE)
    total = x[i, k].load().reduce(Ops.ADD, k)
    return UOp.sink(out[i].store(total).end(*loops), arg=KernelInfo("row_sum", ()))


def matmul(target: Target, c: Parameter, a: Parameter, b: Parameter) -> UOp:
    """c = a @ b, one thread or iteration for each element."""
    (m, n), kk = c.shape, a.shape[1]
    k = UOp.range(kk, 2, REDUCE)
    if target.has_local:
        i, j, loops = UOp.special(m, "gidx0"), UOp.special(n, "lidx0"), []
    else:
        i, j = UOp.range(m, 0), UOp.range(n, 1)
        loops = [i, j]
    total = (a[i, k].load() * b[k, j].load()).reduce(Ops.ADD, k)
    return UOp.sink(c[i, j].store(total).end(*loops))


def transposed(target: Target, out: Parameter, x: Parameter) -> UOp:
    """out = x.T"""
    i, j = UOp.range(out.shape[0], 0), UOp.range(out.shape[1], 1)
    return UOp.sink(out[i, j].store(x[j, i].load()).end(i, j))


def matmul_backward(
    grads: list[Tensor], inputs: list[Tensor], outputs: list[Tensor]
) -> tuple[Tensor, Tensor]:
    """By the same kernel, on transposes that the call makes contiguous."""
    (g,), (a, b) = grads, inputs
    return call_matmul(g, b.transpose(0, 1)), call_matmul(a.transpose(0, 1), g)


def call_matmul(a: Tensor, b: Tensor) -> Tensor:
    shape = (a.shape[0], b.shape[1])
    return Tensor.call_kernel(matmul, a, b, outputs=(shape, a.dtype), backward=matmul_backward)


def max_and_where(target: Target, top: Parameter, where: Parameter, x: Parameter) -> UOp:
    """The largest element of each row, and its first position: two outputs, in loops that carry
    registers from one iteration to the next."""
    m, n = x.shape
    i, loops = flat(target, m)
    k = UOp.range(n, 1)
    best = UOp(Ops.DEFINE_REG, F.ptr(1, AddrSpace.REG), (), 0).after(*loops)
    at = UOp(Ops.DEFINE_REG, dtypes.int32.ptr(1, AddrSpace.REG), (), 1).after(*loops)
    first = x[i, 0].load()
    best_0 = best.after(best.index(0).store(first))
    at_0 = at.after(at.index(0).store(UOp.const(dtypes.int32, 0)))
    best_k, at_k = best_0.after(k), at_0.after(k)
    value, old = x[i, k].load(), best_k.index(0).load()
    larger = old < value
    place = larger.where(k, at_k.index(0).load())
    step = UOp.group(
        best_k.index(0).store(larger.where(value, old)), at_k.index(0).store(place)
    ).end(k)
    done = [
        top[i].store(best_0.after(step).index(0).load()),
        where[i].store(at_0.after(step).index(0).load()),
    ]
    return UOp.sink(UOp.group(*done).end(*loops), arg=KernelInfo("max_and_where", ()))


def call_max(x: Tensor, **options: Any) -> list[Tensor]:
    rows = x.shape[:1]
    return Tensor.call_kernel(
        max_and_where, x, outputs=[(rows, x.dtype), (rows, "int32")], **options
    )


def through_shared(target: Target, out: Parameter, x: Parameter) -> UOp:
    """Each row of 8 reversed, by way of shared memory."""
    g, i = UOp.special(x.shape[0], "gidx0"), UOp.special(8, "lidx0")
    shared = UOp(Ops.DEFINE_LOCAL, x.dtype.ptr(8, AddrSpace.LOCAL), (), 0)
    put = shared.index(i).store(x[g, i].load())
    ready = shared.after(UOp(Ops.BARRIER, dtypes.void, (put,)))
    return UOp.sink(out[g, i].store(ready.index(i * -1 + 7).load()))


def first_rows(target: Target, out: Parameter, x: Parameter, n: UOp) -> UOp:
    """out[j] = sum of x[i, j] over i < n, a variable."""
    j = UOp.range(x.shape[1], 0)
    i = UOp.range(n, 1, REDUCE)
    return UOp.sink(out[j].store(x[i, j].load().reduce(Ops.ADD, i)).end(j))
