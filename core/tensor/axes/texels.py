"""Operands of products and convolutions in images, as the setting IMAGE asks for.

An image has texels along one axis, filled up with zeros to a multiple of four, and a row for each
place along the others, or along all of them but one. Never changes a value: float16 is kept as
that, float32 as that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.dtype import IMAGE_SIDE, TEXEL, dtypes
from core.helpers import IMAGE, argsort, ceildiv, prod

if TYPE_CHECKING:
    from core.tensor import Tensor


def image_shape(shape: tuple[int, ...], axes: int = 1) -> tuple[int, int, int] | None:
    """(height, width, 4) of an image with texels along the last axis, and the last `axes` along
    its rows; rows beyond the highest image lie side by side. None where none is wide and high
    enough."""
    width, rows = prod(shape[-axes:]) // TEXEL, prod(shape[:-axes])
    if not width or not rows:
        return None
    if width > IMAGE_SIDE and axes > 1:
        return image_shape(shape, 1)
    for beside in range(ceildiv(rows, IMAGE_SIDE), IMAGE_SIDE // width + 1):
        if rows % beside == 0:
            return (rows // beside, width * beside, TEXEL)
    return None


def in_texels(self: Tensor, axis: int, axes: int = 1) -> Tensor:
    """The same values with zeros up to a multiple of four along `axis`, in an image with texels
    along that, and with so many `axes` along its rows; unchanged where no image can hold them."""
    kind = {dtypes.float32: dtypes.imagef, dtypes.float16: dtypes.imageh}.get(self.dtype)
    order = [i for i in range(self.ndim) if i != axis % self.ndim]
    order.append(axis % self.ndim)
    size = self.shape[axis]
    length = ceildiv(size, TEXEL) * TEXEL
    shape = image_shape((*(self.shape[i] for i in order[:-1]), length), axes)
    if kind is None or shape is None or self.uop.lengths:
        return self
    x = self.permute(order).pad([*[(0, 0)] * (self.ndim - 1), (0, length - size)])
    return x.cast(kind(shape)).cast(self.dtype).permute(argsort(order))


def operands_in_texels(
    x: Tensor, x_axis: int, w: Tensor, w_axis: int, axes: int = 1
) -> tuple[Tensor, Tensor]:
    """Both operands of a product, in images with IMAGE=1 or 2 where both can be."""
    if not IMAGE:
        return x, w
    a, b = in_texels(x, x_axis, axes), in_texels(w, w_axis, axes)
    return (a, b) if a is not x and b is not w else (x, w)


def result_in_texels(self: Tensor, axis: int, axes: int = 1) -> Tensor:
    """The result of a product, in an image with IMAGE=2 where it has whole texels along `axis`."""
    if IMAGE.value < 2 or self.shape[axis] % TEXEL:
        return self
    return in_texels(self, axis, axes)
