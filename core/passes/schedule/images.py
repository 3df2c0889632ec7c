"""Images: which values are kept as texels, on the Tensor graph and where it becomes kernels.

A cast to an image and back asks for memory of texels in between. It is stored once, before what
reads it, and never where it would not help. Never changes a value but by the rounding of float16,
where that is what an image keeps.
"""

from __future__ import annotations

from core.dtype import IMAGE_SIDE, TEXEL, DType, ImageDType, dtypes
from core.uop import GroupOp, Ops, UOp, UPat, rule

_images = UPat(Ops.CAST, src=(UPat.var("x"),), name="image")


def _kept(x: UOp, image: ImageDType) -> UOp:
    """`x` as reading it back from an image gives it."""
    return x.cast(dtypes.float16).cast(image.base) if image.bits == 16 else x


def is_image(dtype: DType) -> bool:
    """Whether values of a dtype are kept as texels."""
    return isinstance(dtype, ImageDType)


@rule(UPat(Ops.CAST, src=(_images,), name="c"))
def no_image(c: UOp, image: UOp, x: UOp) -> UOp | None:
    """cast(cast(x, image), float) -> x  where the image would not have x's elements, or be too
    wide or too high, or where x is a constant"""
    kind = image.dtype
    if not isinstance(kind, ImageDType) or isinstance(c.dtype, ImageDType):
        return None
    fits = x.size == kind.size and kind.side <= IMAGE_SIDE
    return None if fits and x.base.op is not Ops.CONST else _kept(x, kind)


@rule(_images)
def same_image(image: UOp, x: UOp) -> UOp | None:
    """cast(cast(x, float), image) -> x  where x is that image, perhaps reshaped"""
    read = x
    while read.op is Ops.RESHAPE:
        read = read.src[0]
    if not is_image(image.dtype) or read.op is not Ops.CAST:
        return None
    kept = read.src[0]
    return kept.reshape(image.shaped) if kept.dtype is image.dtype else None


@rule(UPat(Ops.CAST, src=(_images,), name="c"))
def stored_image(c: UOp, image: UOp, x: UOp) -> UOp | None:
    """cast(cast(x, image), float) -> cast(contiguous(cast(x, image)), float): computed once, before
    it is read, with a texel along the last axis"""
    if not is_image(image.dtype) or is_image(c.dtype):
        return None
    if x.shaped and x.shaped[-1] % TEXEL == 0:
        return image.contiguous().cast(c.dtype)
    texels = x.reshape((x.size // TEXEL, TEXEL))
    return texels.cast(image.dtype).contiguous().cast(c.dtype).reshape(x.shaped)


images = (same_image, no_image, stored_image)
"""Rules of the Tensor graph."""

_moved = UPat((*GroupOp.Movement, Ops.VIEW), src=(UPat.var("x"),), name="moved")


@rule(UPat(Ops.CAST, src=(_moved,), name="c"))
def read_before_view(c: UOp, moved: UOp, x: UOp) -> UOp | None:
    """cast(view(image), float) -> view(cast(image, float))"""
    if not is_image(x.dtype):
        return None
    return UOp(moved.op, c.dtype, (x.cast(c.dtype),), moved.arg)


@rule(UPat(Ops.CAST, src=(UPat.var("x"),), name="image"), changes_type=True)
def store_as_image(image: UOp, x: UOp) -> UOp | None:
    """store(image, cast(x, image)) -> store(image, x): a store to an image makes texels; x rounded
    to what it keeps, whatever a device does"""
    return _kept(x, image.dtype) if isinstance(image.dtype, ImageDType) else None
