"""Attention: a composition of other functions or, where a GPU has matrix instructions for it, calls
of the flash attention kernels of core/tile, which store no matrix of scores.

Never chooses a kernel's precision: products are of the dtype of the Tensors and summed in float32,
as in the composition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Final

from core.dtype import dtypes
from core.errors import ShapeError
from core.helpers import FLASH_ATTENTION, TC, TRAINING, prod
from core.runtime.device import Device
from core.target import Target
from core.tensor.axes.joining import grid
from core.tensor.running.kernels import Output
from core.uop.call.kernelcall import Parameter
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor

if TYPE_CHECKING:
    from core.tile.kernels import AttentionShape

SIZES: Final = (64, 128)
"""Sizes of heads that the kernels are used for."""
NARROW: Final = 32
"""Lanes of a warp; where there are more, each of them holds less."""
LOG2E: Final = math.log2(math.e)


def scaled_dot_product_attention(
    self: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(self @ key^T / sqrt(d) + mask) @ value, https://arxiv.org/abs/1706.03762

    A bool mask keeps where it holds, others are added. `is_causal` keeps what is not later.
    `enable_gqa` repeats the heads of key and value to the number of heads of this.

    On a GPU with matrix instructions for their dtype, float16 or bfloat16 Tensors with heads of
    64 or 128 and no mask or dropout are computed by kernels that store no matrix of scores;
    FLASH_ATTENTION=0 switches these off.
    """
    if enable_gqa:
        counts = [t.shape[-3] if t.ndim > 2 else 0 for t in (self, key, value)]
        if not all(counts) or any(counts[0] % n for n in counts):
            raise ShapeError(
                f"attention of {self.shape} with keys of {key.shape}, values of {value.shape}",
                hint="axis -3 counts heads: those of keys and values divide those of queries",
            )
        heads = counts[0]
        key, value = (t.repeat_interleave(heads // t.shape[-3], -3) for t in (key, value))
    if any(axis == t.ndim - 1 for t in (self, key) for axis, _ in t.uop.lengths):
        raise ShapeError(
            "attention of vectors whose length is a variable",
            hint="only the numbers of queries and of keys may be variables",
        )
    if self.dtype.bits < 16:  # scores of all sizes, and infinities among them
        wide = [t.cast(dtypes.float32) for t in (self, key, value)]
        made = wide[0].scaled_dot_product_attention(
            wide[1], wide[2], attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal
        )
        return made.cast(self.dtype)
    kept = dropout_p == 0 or (0 < dropout_p <= 1 and not TRAINING)
    if attn_mask is None and kept and _has_kernels(self, key, value):
        return _flash[is_causal].attention(self, key, value)
    scores = self.matmul(key.transpose(-2, -1)) / math.sqrt(self.shape[-1])
    if is_causal:
        if attn_mask is not None:
            raise ShapeError(
                "attention with a mask and is_causal", hint="make the mask causal: mask.tril()"
            )
        rows, columns = grid(scores, "attention")
        scores = (columns <= rows).where(scores, -math.inf)
    elif attn_mask is not None:
        mask = attn_mask
        scores = mask.where(scores, -math.inf) if dtypes.is_bool(mask.dtype) else scores + mask
    return scores.cast(self.dtype).softmax(-1).dropout(dropout_p).matmul(value)


def _has_kernels(q: Tensor, k: Tensor, v: Tensor) -> bool:
    """Whether the kernels take these Tensors, on the device that they are on."""
    dtype, devices = q.dtype, {t.uop.device for t in (q, k, v)}
    (device, *others) = devices
    if q.uop.lengths or k.uop.lengths or v.uop.lengths:
        return False
    if not FLASH_ATTENTION or TC.value != 1 or others or not isinstance(device, str):
        return False
    if dtype not in (dtypes.float16, dtypes.bfloat16) or {k.dtype, v.dtype} != {dtype}:
        return False
    if q.ndim < 2 or k.shape != v.shape or k.ndim != q.ndim or not prod(q.shape + k.shape):
        return False
    *outer, _, size = q.shape
    if size not in SIZES or [*k.shape[:-2], k.shape[-1]] != [*outer, size]:
        return False
    target = Device[device].target
    if target is None:
        return False
    kinds = {(core.dtype_in, core.dtype_out) for core in target.tensor_cores}
    batch, heads = _matrices(q.shape)
    _, most_heads, most_batches = target.global_max or (0, 0, 0)
    return (dtype, dtypes.float32) in kinds and heads <= most_heads and batch <= most_batches


def _matrices(shape: Sequence[int]) -> tuple[int, int]:
    """(batch, heads) of Tensors of a shape."""
    heads = shape[-3] if len(shape) > 2 else 1
    return prod(shape[:-2]) // heads, heads


@dataclass(frozen=True)
class _Flash:
    """Attention by tile kernels, and its gradients: further kernels, and for those of gradients
    compositions that mean the same as the kernels do."""

    causal: bool

    def attention(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """The call of the kernel."""
        sums = (*q.shape[:-2], 1, q.shape[-2])
        outputs: list[Output] = [(q.shape, q.dtype), (sums, dtypes.float32)]
        return type(q).call_kernel(
            self.forward, q, k, v, outputs=outputs, backward=self.forward_gradients
        )[0]

    def forward(self, target: Target, *p: Parameter) -> UOp:
        """o, sums of q, k, v; sums: the logarithms of the sums of powers."""
        return _kernels().attention(_shape(self.causal, p[2], p[3]), target)

    def forward_gradients(
        self, grads: list[Tensor], inputs: list[Tensor], outputs: list[Tensor]
    ) -> list[Tensor]:
        """dq, dk, dv. As `sums` are logarithms of sums of powers, their gradient adds to that of
        scores what `delta` takes away."""
        (do, dsums), (q, k, v), (o, sums) = grads, inputs, outputs
        delta = (do.cast(dtypes.float32) * o.cast(dtypes.float32)).sum(-1).unsqueeze(
            -2
        ) - dsums * LOG2E
        call, values = type(q).call_kernel, (q, k, v, do, sums, delta)
        two: list[Output] = [(k.shape, k.dtype)] * 2
        dk, dv = call(self.keys, *values, outputs=two, backward=self.keys_gradients)
        dq = call(
            self.queries, *values, outputs=(q.shape, q.dtype), backward=self.queries_gradients
        )
        return [dq, dk, dv]

    def keys(self, target: Target, *p: Parameter) -> UOp:
        """dk, dv of q, k, v, do, sums, delta."""
        shape = _shape(self.causal, p[2], p[3])
        if shape.size > SIZES[0] and target.wave <= NARROW:
            # with more columns, each lane would hold more than it has registers
            shape = replace(shape, columns=16)
        return _kernels().attention_keys(shape, target)

    def queries(self, target: Target, *p: Parameter) -> UOp:
        """dq of q, k, v, do, sums, delta."""
        return _kernels().attention_queries(_shape(self.causal, p[1], p[2]), target)

    def keys_gradients(
        self, grads: list[Tensor], inputs: list[Tensor], _: list[Tensor]
    ) -> list[Tensor]:
        """Those of `keys`."""
        leaves = [x.detach() for x in inputs]
        return _derivatives(self._composed(*leaves)[1:], grads, leaves)

    def queries_gradients(
        self, grads: list[Tensor], inputs: list[Tensor], _: list[Tensor]
    ) -> list[Tensor]:
        """Those of `queries`."""
        leaves = [x.detach() for x in inputs]
        return _derivatives(self._composed(*leaves)[:1], grads, leaves)

    def _composed(self, *values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """dq, dk, dv of q, k, v, do, sums, delta, in float32."""
        q, k, v, do, sums, delta = (x.cast(dtypes.float32) for x in values)
        scale = 1.0 / math.sqrt(q.shape[-1])
        scores = q.matmul(k.transpose(-2, -1)) * (scale * LOG2E) - sums.transpose(-2, -1)
        if self.causal:
            later = scores.ones_like(dtype=dtypes.bool).triu(1)
            scores = later.where(-math.inf, scores)
        p = scores.exp2()
        ds = p * (do.matmul(v.transpose(-2, -1)) - delta.transpose(-2, -1)) * scale
        turned = ds.transpose(-2, -1)
        return ds.matmul(k), turned.matmul(q), p.transpose(-2, -1).matmul(do)


_flash: Final = {False: _Flash(False), True: _Flash(True)}
"""The same objects for all calls, so that each kernel is built once."""


def _derivatives(
    values: Sequence[Tensor], grads: Sequence[Tensor], leaves: list[Tensor]
) -> list[Tensor]:
    """The gradient of each leaf."""
    first, *rest = ((x * g.cast(dtypes.float32)).sum() for x, g in zip(values, grads, strict=True))
    total = sum(rest, first)
    return total.gradient(*leaves, materialize_grads=True)


def _kernels() -> ModuleType:
    """The kernels, imported where they are used: few programs of Tensors do."""
    return import_module("core.tile.kernels")


def _shape(causal: bool, q: Parameter, k: Parameter) -> AttentionShape:
    batch, heads = _matrices(q.shape)
    *_, length, size = q.shape
    context = None if k.shape == q.shape else k.shape[-2]
    return _kernels().AttentionShape(batch, heads, length, size, causal, q.dtype, context)
