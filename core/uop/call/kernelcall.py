"""Calls of kernels written by hand: the parameters that a kernel is built for, and what the KERNEL
node of a graph of Tensors carries. Plain data.

Never builds, checks or runs a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from operator import index
from typing import Any, TypeAlias, cast

from core.dtype import DType, dtypes
from core.errors import DTypeError, ShapeError
from core.shape.axis import strides_for
from core.uop.call.scatter import Scatter
from core.uop.kernelinfo import KernelInfo
from core.uop.node import Shape
from core.uop.ops import Ops
from core.uop.uop import UOp

Backward: TypeAlias = Callable[
    [Sequence[UOp | None], Sequence[UOp], Sequence[UOp]], Sequence[UOp | None]
]
"""(gradients of the outputs, inputs, outputs) to a gradient for each input, None for none."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Memory that a kernel written by hand gets: all elements of a Tensor, row-major.

    `number` counts outputs first, then inputs. `p[i, j]` is the address of an element, to be given
    `.load()` or `.store(value)`.
    """

    number: int
    shape: Shape
    dtype: DType

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def pointer(self) -> UOp:
        """The DEFINE_GLOBAL."""
        return UOp(Ops.DEFINE_GLOBAL, self.dtype.ptr(self.size), (), self.number)

    def __getitem__(self, indices: int | UOp | tuple[int | UOp, ...]) -> UOp:
        """The address of the element at one index per axis. Raises as `at` does."""
        return self.at(*(indices if isinstance(indices, tuple) else (indices,)))

    def at(self, *indices: int | UOp, gate: UOp | None = None) -> UOp:
        """The address of the element at one index per axis, valid where `gate` (a bool) holds.

        Raises ShapeError for another number of indices or a number outside of its axis, DTypeError
        for an index that is no integer.
        """
        if len(indices) != len(self.shape):
            raise ShapeError(
                f"{len(indices)} indices for parameter {self.number} of shape {self.shape}",
                hint="give one index per axis, or index .pointer by the number of the element",
            )
        width = dtypes.index_up_to(self.size)
        offset = UOp.const(width, 0)
        for given, length, stride in zip(indices, self.shape, strides_for(self.shape), strict=True):
            step = self._step(given, length, width)
            if stride:
                step = step if stride == 1 else step * stride
                offset = step if offset.op is Ops.CONST and not offset.arg else offset + step
        return self.pointer.index(offset, gate=gate)

    def _step(self, given: object, length: int, width: DType) -> UOp:
        """An index of one axis."""
        if isinstance(given, UOp) and dtypes.is_int(given.dtype) and given.dtype.count == 1:
            return given.cast(width)
        try:
            number = index(cast(Any, given))
        except TypeError:
            kind = str(given.dtype) if isinstance(given, UOp) else type(given).__name__
            raise DTypeError(
                f"parameter {self.number} at an index of {kind}",
                where=(given.origin or "") if isinstance(given, UOp) else "",
                hint="an index is an integer: a RANGE, a SPECIAL, or computed from these",
            ) from None
        if not 0 <= number < length:
            raise ShapeError(
                f"index {number} of an axis of parameter {self.number} that is {length} long",
                hint="indices count from 0, and negative ones are outside of the memory",
            )
        return UOp.const(width, number)


@dataclass(frozen=True, slots=True)
class KernelCall:
    """Argument of the KERNEL of a kernel written by hand: its AST, whose first arguments are the
    outputs; their shapes and dtypes; how its gradient is computed, if it has one. `in_place`: its
    only output begins as the first input, which is no argument of the AST; `does` says what becomes
    of that, for an index and values, the other inputs."""

    ast: UOp
    outputs: tuple[tuple[Shape, DType], ...]
    backward: Backward | None = None
    in_place: bool = False
    does: Scatter | None = None

    def __repr__(self) -> str:
        info = self.ast.arg
        name = info.name if isinstance(info, KernelInfo) and info.name else "unnamed"
        shown = ", ".join(f"{dtype}{[*shape]}" for shape, dtype in self.outputs)
        return f"KernelCall({name} -> {shown}{', with backward' if self.backward else ''})"


def called_kernel(
    call: KernelCall, device: str, inputs: Sequence[UOp], binds: Sequence[UOp] = ()
) -> tuple[UOp, ...]:
    """The values of the outputs of a kernel on `inputs`, each of them row-major in memory."""
    kernel = UOp(Ops.KERNEL, dtypes.void, (UOp(Ops.DEVICE, arg=device), *inputs, *binds), call)
    return outputs_of_call(kernel)


def outputs_of_call(kernel: UOp) -> tuple[UOp, ...]:
    """The OUTPUTs of a KERNEL written by hand, in order."""
    call: KernelCall = kernel.arg
    return tuple(
        UOp(Ops.OUTPUT, dtype, (kernel,), (number, shape), origin=kernel.origin)
        for number, (shape, dtype) in enumerate(call.outputs)
    )


def inputs_of_call(kernel: UOp) -> tuple[UOp, ...]:
    """The values that a KERNEL written by hand reads, in order."""
    return tuple(s for s in kernel.src[1:] if s.op is not Ops.BIND)
