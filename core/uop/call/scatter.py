"""Writing values to picked elements, as data: how a value is combined with what is there.

Knows neither Tensors nor the kernel that does it.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.dtype import ConstType, DType, dtypes
from core.uop.ops import Ops
from core.uop.uop import UOp


@dataclass(frozen=True, slots=True)
class Scatter:
    """How values are written along an axis: combined with what is there by an op, or in its place.
    `least`: the smallest of them in place of the largest, for MAX. `anew`: with the first of them
    what is there goes."""

    axis: int
    op: Ops | None = None
    least: bool = False
    anew: bool = False

    def combined(self, x: UOp, y: UOp) -> UOp:
        """What there is and a value, as one."""
        if self.op is None:
            return y
        if not self.least:
            return x.alu(self.op, y)
        if dtypes.is_float(x.dtype):
            return -(-x).alu(self.op, -y)
        flip = x.const_like(_all_bits(x.dtype))
        return (x ^ flip).alu(self.op, y ^ flip) ^ flip

    def start(self, dtype: DType) -> ConstType:
        """What combined with a value is that value."""
        if self.op is Ops.MAX:
            return dtypes.max(dtype) if self.least else dtypes.min(dtype)
        return int(self.op is Ops.MUL)


def _all_bits(dtype: DType) -> ConstType:
    return True if dtypes.is_bool(dtype) else dtypes.max(dtype) if dtypes.is_unsigned(dtype) else -1
