"""Writing to elements that indices pick, and the gradient of reading them.

A kernel goes over the values in their order, so that of equal places the last one wins, or all are
combined, alike each time. Values on several devices and axes whose length is a variable have no
such kernel: what uses this asks `can_write` and has a composition for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from core.dtype import dtypes
from core.helpers import argsort, prod
from core.runtime.device import Device
from core.runtime.disk.device import is_disk
from core.target import Target
from core.tensor.axes.creation import iota
from core.tensor.elements.elementwise import broadcast_shape
from core.tensor.running.kernels import row_major
from core.tensor.state.base import GradMode, make, same_value, tensor_of
from core.tensor.views.movement import broadcast
from core.uop.call.kernelcall import KernelCall, Parameter, called_kernel
from core.uop.call.scatter import Scatter
from core.uop.call.scatterkernel import scatter_kernel
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


def can_write(*values: Tensor) -> bool:
    """Whether a kernel can write these: each on the same single device, of constant lengths."""
    devices = {t.uop.device for t in values} - {None}
    one = len(devices) == 1 and isinstance(next(iter(devices)), str)
    return one and not any(t.uop.lengths or is_disk(t.device) for t in values)


def written(self: Tensor, index: Tensor, values: Tensor, how: Scatter) -> Tensor:
    """This with `values` at the places along an axis that `index` names, negative ones and those
    beyond the axis left out. Both are as long as this or shorter on the other axes, or 1."""
    lengths = broadcast_shape(index.shape, values.shape)
    if not prod(lengths) or not self.numel():
        return same_value(self)
    if how.op in (Ops.ADD, Ops.MUL) and dtypes.is_float(self.dtype) and self.dtype.bits < 32:
        wide = self.cast(dtypes.float32)
        return written(wide, index, values.cast(dtypes.float32), how).cast(self.dtype)
    values = values.cast(self.dtype)
    device = next(d for t in (self, index, values) if isinstance(d := t.uop.device, str))
    kinds = (self.shape, self.dtype), (index.shape, index.dtype), (values.shape, values.dtype)
    parameters = tuple(Parameter(n, *kind) for n, kind in enumerate(kinds))
    call = KernelCall(
        _kernel(how, Device[device].written_for, parameters), kinds[:1], None, True, how
    )
    memory = [row_major(t.uop, device) for t in (index, values)]
    (made,) = called_kernel(call, device, [self.uop, *memory])
    if not dtypes.is_float(self.dtype):
        return make(self, made, values)
    given = _Gradient(type(self), how)
    return make(self, made.derivative_by(given, self.uop, values.uop, index.uop), values)


@lru_cache(maxsize=1024)
def _kernel(how: Scatter, target: Target, parameters: tuple[Parameter, ...]) -> UOp:
    return scatter_kernel(how, target, *parameters)


@dataclass(frozen=True, slots=True)
class _Gradient:
    """The gradient of `written` by what it is made of."""

    cls: type[Tensor]
    how: Scatter

    def __repr__(self) -> str:
        return f"the gradient of writing by {self.how}"

    def __call__(self, grad: UOp, sources: Sequence[UOp]) -> list[UOp | None]:
        g, x, values, index = (tensor_of(self.cls, u) for u in (grad, *sources))
        of = _replaced if self.how.op is None else _GRADIENTS[self.how.op]
        mine, theirs = of(g, x, values, index, self.how)
        return [mine.uop, _as_long_as(theirs, values).uop, None]


def _as_long_as(grad: Tensor, like: Tensor) -> Tensor:
    """A gradient, summed over axes that `like` is repeated along."""
    axes = tuple(k for k, (a, b) in enumerate(zip(grad.shape, like.shape, strict=True)) if a != b)
    return grad.sum(axes, keepdim=True) if axes else grad


def _seen(x: Tensor, index: Tensor, axis: int, shape: Sequence[int]) -> Tensor:
    """The elements of `x` at the places along an axis, 0 where there is none."""
    places = broadcast(index, shape)
    if x.shape[axis] == 0:
        return broadcast(x.zeros_like().sum(axis, keepdim=True), shape)
    return _there(index, x.shape[axis]).where(x.gather(axis, places), 0)


def _there(index: Tensor, count: int) -> Tensor:
    return (index >= 0) & (index < count)


def _lengths(index: Tensor, values: Tensor) -> tuple[int, ...]:
    return broadcast_shape(index.shape, values.shape)


def _replaced(
    g: Tensor, x: Tensor, values: Tensor, index: Tensor, how: Scatter
) -> tuple[Tensor, Tensor]:
    """What is replaced gets none; of equal places the last has the gradient."""
    shape, axis = _lengths(index, values), how.axis
    order = iota(type(g), index.shape[axis], g.device)
    order = order.reshape([n if k == axis else 1 for k, n in enumerate(index.shape)])
    count = x.shape[axis]
    rows = [count if k == axis else n for k, n in enumerate(index.shape)]
    none = tensor_of(type(g), UOp.full(tuple(rows), -1, dtypes.int32, g.device))
    last = written(none, index, order, Scatter(axis))
    won = _there(index, count) & (last.gather(axis, index) == order)
    return _cleared(g, index, axis, shape), won.where(_seen(g, index, axis, shape), 0)


def _cleared(g: Tensor, index: Tensor, axis: int, lengths: Sequence[int]) -> Tensor:
    """A gradient with 0 where something is written, for indices and values of these lengths."""
    zero = tensor_of(type(g), UOp.full((1,) * g.ndim, 0, g.dtype, g.device))
    return written(g, index, broadcast(zero, lengths), Scatter(axis))


def _added(
    g: Tensor, x: Tensor, values: Tensor, index: Tensor, how: Scatter
) -> tuple[Tensor, Tensor]:
    shape, axis = _lengths(index, values), how.axis
    mine = _cleared(g, index, axis, shape) if how.anew else g
    return mine, _seen(g, index, axis, shape)


def _multiplied(
    g: Tensor, x: Tensor, values: Tensor, index: Tensor, how: Scatter
) -> tuple[Tensor, Tensor]:
    """The product of what is beside an element, 0 where another one is. Zeros are multiplied apart
    from the rest, as far as the derivatives of this need them: one of them beside an element is
    their sum."""
    shape, axis = _lengths(index, values), how.axis
    zero = broadcast(values == 0, shape)
    times, plus = Scatter(axis, Ops.MUL), Scatter(axis, Ops.ADD)
    nothing = x.zeros_like()
    known = x.ones_like() if how.anew else (x == 0).where(1, x)
    zeros = (nothing if how.anew else (x == 0).cast(x.dtype)).cast(dtypes.float32)
    own = nothing if how.anew else (x == 0).where(x, 0)
    product = written(known, index, zero.where(1, values), times)
    count = written(zeros, index, zero.cast(dtypes.float32), plus)
    apart = written(own, index, zero.where(values, 0), plus)
    others = _seen(product, index, axis, shape) / zero.where(1, values)
    beside = _seen(count, index, axis, shape) - zero.cast(dtypes.float32)
    single = _seen(apart, index, axis, shape) - zero.where(values, 0)
    part = (beside == 0).where(others, (beside == 1).where(others * single, 0))
    kept = written(x.ones_like(), index, values, times)
    mine = _cleared(g, index, axis, shape) if how.anew else g * kept
    return mine, _seen(g, index, axis, shape) * part


def _extreme(
    g: Tensor, x: Tensor, values: Tensor, index: Tensor, how: Scatter
) -> tuple[Tensor, Tensor]:
    """Equal extremes share it."""
    shape, axis = _lengths(index, values), how.axis
    best = written(x, index, values, how)
    equal = broadcast(values == _seen(best, index, axis, shape), shape)
    own = x.zeros_like() if how.anew else (x == best).cast(x.dtype)
    count = written(own, index, equal.cast(x.dtype), Scatter(axis, Ops.ADD))
    share = g / count.maximum(1)
    mine = _cleared(g, index, axis, shape) if how.anew else own * share
    return mine, equal.where(_seen(share, index, axis, shape), 0)


_GRADIENTS = {Ops.ADD: _added, Ops.MUL: _multiplied, Ops.MAX: _extreme}


# the gradient of reading


def read_with_gradient(
    self: Tensor, made: Tensor, gradient: partial[Tensor], *others: Tensor
) -> Tensor:
    """`made`, elements of this, whose gradient by this is gradient(g, this, ...) of others."""
    if not dtypes.is_float(self.dtype) or not GradMode.enabled or not can_write(self, *others):
        return made
    given = _Read(type(self), gradient)
    sources = self.uop, *(t.uop for t in others)
    return make(self, made.uop.derivative_by(given, *sources))


@dataclass(frozen=True, slots=True)
class _Read:
    """The gradient of what is read of a Tensor, as a function of Tensors."""

    cls: type[Tensor]
    function: partial[Tensor]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.function.keywords.items())
        return f"the gradient of reading, {self.function.func.__name__.lstrip('_')}({given})"

    def __call__(self, grad: UOp, sources: Sequence[UOp]) -> list[UOp | None]:
        g, *given = (tensor_of(self.cls, u) for u in (grad, *sources))
        return [self.function(g, *given).uop, *(None for _ in sources[1:])]


def rows_of(
    shape: Sequence[int], tensors: Sequence[tuple[int, Tensor]]
) -> tuple[list[int], tuple[int, int, int], Tensor]:
    """How elements that Tensors pick along axes are rows: the order in which the axes that are
    picked from stand together, (elements before them, rows, elements behind), and the number of the
    row that each names, negative for none."""
    axes = [axis for axis, _ in tensors]
    together = axes == list(range(axes[0], axes[0] + len(axes)))
    rest = [k for k in range(len(shape)) if k not in axes]
    at = axes[0] if together else 0
    order = [*rest[:at], *axes, *rest[at:]]
    row: Tensor | None = None
    inside: Tensor | None = None
    for axis, index in tensors:
        wide = index.cast(dtypes.index_up_to(prod(shape)))
        there = _there(index, shape[axis])
        row = wide if row is None else row * shape[axis] + wide
        inside = there if inside is None else inside & there
    assert row is not None and inside is not None
    sizes = prod(shape[k] for k in rest[:at]), prod(shape[a] for a in axes)
    return order, (*sizes, prod(shape[k] for k in rest[at:])), inside.where(row, -1)


def written_rows(
    self: Tensor, tensors: Sequence[tuple[int, Tensor]], values: Tensor, how: Scatter
) -> Tensor:
    """This with `values`, shaped as what is picked, where Tensors pick."""
    order, sizes, row = rows_of(self.shape, tensors)
    turned = self.permute(order)
    count = row.numel()
    index = row.reshape(1, count, 1)
    made = written(turned.reshape(sizes), index, values.reshape(sizes[0], count, sizes[2]), how)
    return made.reshape(turned.shape).permute(argsort(order))


def added_back(g: Tensor, self: Tensor, *indices: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The gradient of what Tensors pick along axes: each element gets the sum of where it went."""
    zeros = tensor_of(type(self), UOp.full(self.shape, 0, g.dtype, g.device))
    return written_rows(zeros, [*zip(axes, indices, strict=True)], g, Scatter(1, Ops.ADD))
