"""Element types: scalars, vectors of them, images, and pointers to them; promotion between them.

Says nothing about what a device supports (that is `core/target.py`) and holds no values.
"""

from __future__ import annotations

import builtins
import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Final, NamedTuple

from core.errors import DTypeError

ConstType = bool | int | float


class AddrSpace(IntEnum):
    """Where a pointer points."""

    GLOBAL = 0
    LOCAL = 1
    REG = 2


@dataclass(frozen=True, slots=True, eq=False)
class DType:
    """One element type. There is one object per dtype: compare with `is` or `==` alike.

    `priority` orders promotion (-1: never promoted to), `bits` is the width of one scalar,
    `fmt` the letter of the struct module (or None), `count` the number of vector elements.
    """

    priority: int
    bits: int
    name: str
    fmt: str | None
    count: int = 1

    def __repr__(self) -> str:
        return f"dtypes.{self}"

    def __str__(self) -> str:
        return self.name if self.count == 1 else f"{self.name}.vec({self.count})"

    @property
    def itemsize(self) -> int:
        """Bytes of one value, all vector elements together (bool counts as one byte)."""
        return (self.bits + 7) // 8 * self.count

    @property
    def min(self) -> ConstType:
        """The smallest value of one element, as `dtypes.min` gives it."""
        return dtypes.min(self)

    @property
    def max(self) -> ConstType:
        """The largest value of one element, as `dtypes.max` gives it."""
        return dtypes.max(self)

    @property
    def base(self) -> DType:
        """What a pointer points to, what an image is read as; any other dtype itself."""
        return self

    @property
    def held(self) -> DType:
        """What is in the memory that a pointer points to: elements, or an image."""
        return self.base

    def scalar(self) -> DType:
        """The dtype of one element."""
        return self if self.count == 1 else _scalars[self.name]

    def vec(self, count: int) -> DType:
        """A vector of `count` elements; `vec(1)` is itself. Raises DTypeError on a vector."""
        if count == 1:
            return self
        if self.count != 1 or count < 1 or self.name == "void":
            raise DTypeError(
                f"no vector of {count} elements of {self}",
                hint="take .scalar() first; counts are positive",
            )
        return _vector(self, count)

    def ptr(self, size: int = -1, addrspace: AddrSpace = AddrSpace.GLOBAL) -> PtrDType:
        """A pointer to `size` elements (-1: unknown) of this dtype."""
        return _pointer(self.base, addrspace, size)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.name, self.count)


@dataclass(frozen=True, slots=True, eq=False)
class PtrDType(DType):
    """A pointer: the fields of its element, the address space and the element count; `image`:
    what it points to, where that is one."""

    addrspace: AddrSpace = AddrSpace.GLOBAL
    size: int = -1
    image: ImageDType | None = None

    def __str__(self) -> str:
        if self.image is not None:
            return f"{self.image}*"
        space = {AddrSpace.GLOBAL: "", AddrSpace.LOCAL: " local", AddrSpace.REG: " reg"}
        return f"{self.base}*{space[self.addrspace]}" + (
            f" [{self.size}]" if self.size >= 0 else ""
        )

    @property
    def base(self) -> DType:
        return _restore(self.name, self.count)

    @property
    def held(self) -> DType:
        return self.base if self.image is None else self.image

    @property
    def itemsize(self) -> int:
        """Bytes of the pointer itself."""
        return 8

    def __reduce__(self) -> tuple[object, ...]:
        if self.image is not None:
            return _image_pointer, (self.image,)
        return _pointer, (self.base, self.addrspace, self.size)


@dataclass(frozen=True, slots=True, eq=False)
class ImageDType(DType):
    """Memory of float32 numbers in texels of four, `height` rows of `width` texels: the fields of
    what a number is kept as."""

    height: int = 0
    width: int = 0

    def __str__(self) -> str:
        kind = "imageh" if self.bits == 16 else "imagef"
        return f"{kind}({self.height}, {self.width}, {TEXEL})"

    @property
    def base(self) -> DType:
        return dtypes.float32

    def scalar(self) -> DType:
        return dtypes.float32

    @property
    def size(self) -> int:
        """The numbers in it."""
        return self.height * self.width * TEXEL

    def ptr(self, size: int = -1, addrspace: AddrSpace = AddrSpace.GLOBAL) -> PtrDType:
        """A pointer to the image, whose size is known."""
        return _image_pointer(self)

    @property
    def side(self) -> int:
        """Texels along the longest side."""
        return max(self.height, self.width)

    def __reduce__(self) -> tuple[object, ...]:
        return image_dtype, (self.bits, self.height, self.width)


TEXEL: Final = 4
"""Numbers of a texel."""
IMAGE_SIDE: Final = 16384
"""The most rows, and texels of a row, of an image."""


@cache
def _vector(scalar: DType, count: int) -> DType:
    return DType(scalar.priority, scalar.bits, scalar.name, scalar.fmt, count)


@cache
def _pointer(base: DType, addrspace: AddrSpace, size: int) -> PtrDType:
    return PtrDType(base.priority, base.bits, base.name, base.fmt, base.count, addrspace, size)


@cache
def image_dtype(bits: int, height: int, width: int) -> ImageDType:
    """The image of so many texels whose numbers are kept as floats of 16 or 32 bits."""
    kept = dtypes.float16 if bits == 16 else dtypes.float32
    return ImageDType(kept.priority, kept.bits, kept.name, kept.fmt, 1, height, width)


@cache
def _image_pointer(image: ImageDType) -> PtrDType:
    base = image.base
    space = AddrSpace.GLOBAL
    return PtrDType(base.priority, base.bits, base.name, base.fmt, 1, space, image.size, image)


def _restore(name: str, count: int) -> DType:
    return _scalars[name].vec(count)


class FloatInfo(NamedTuple):
    """A float dtype as its bits of exponent and of mantissa; the limits follow from these."""

    exponent: int
    mantissa: int

    @property
    def bits(self) -> int:
        """The width of an element, with its sign."""
        return 1 + self.exponent + self.mantissa

    @property
    def eps(self) -> float:
        """The distance from 1 to the next larger number."""
        return math.ldexp(1.0, -self.mantissa)

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number that has all bits of mantissa."""
        return math.ldexp(1.0, 2 - (1 << (self.exponent - 1)))

    @property
    def max(self) -> float:
        """The largest finite number."""
        last = self.eps * (2 if self == _layouts["fp8e4m3"] else 1)
        # fp8e4m3 has one NaN in place of infinities: its last exponent holds numbers, too
        top = (1 << (self.exponent - 1)) - (0 if self == _layouts["fp8e4m3"] else 1)
        return (2 - last) * math.ldexp(1.0, top)

    @property
    def min(self) -> float:
        """The lowest finite number."""
        return -self.max


class dtypes:
    """All scalar element types by name, and questions about them."""

    void: Final = DType(-1, 0, "void", None)
    bool: Final = DType(0, 1, "bool", "?")
    int8: Final = DType(1, 8, "int8", "b")
    uint8: Final = DType(2, 8, "uint8", "B")
    int16: Final = DType(3, 16, "int16", "h")
    uint16: Final = DType(4, 16, "uint16", "H")
    int32: Final = DType(5, 32, "int32", "i")
    uint32: Final = DType(6, 32, "uint32", "I")
    int64: Final = DType(7, 64, "int64", "q")
    uint64: Final = DType(8, 64, "uint64", "Q")
    fp8e4m3: Final = DType(9, 8, "fp8e4m3", None)
    fp8e5m2: Final = DType(10, 8, "fp8e5m2", None)
    float16: Final = DType(11, 16, "float16", "e")
    bfloat16: Final = DType(12, 16, "bfloat16", None)
    float32: Final = DType(13, 32, "float32", "f")
    float64: Final = DType(14, 64, "float64", "d")

    char, uchar, short, ushort = int8, uint8, int16, uint16
    int, uint, long, ulong = int32, uint32, int64, uint64
    half, float, double = float16, float32, float64
    index: Final = int32
    """What loop variables and offsets are."""

    default_float: Final = float32
    default_int: Final = int32

    fp8s: Final = (fp8e4m3, fp8e5m2)
    floats: Final = (fp8e4m3, fp8e5m2, float16, bfloat16, float32, float64)
    uints: Final = (uint8, uint16, uint32, uint64)
    sints: Final = (int8, int16, int32, int64)
    ints: Final = uints + sints
    all: Final = (bool, *ints, *floats)

    @staticmethod
    def imagef(shape: tuple[builtins.int, ...]) -> ImageDType:
        """An image of (height, width, 4) float32 numbers. Raises DTypeError for another shape."""
        return _image(32, shape)

    @staticmethod
    def imageh(shape: tuple[builtins.int, ...]) -> ImageDType:
        """An image of (height, width, 4) numbers that are kept as float16 and computed with as
        float32. Raises DTypeError for another shape."""
        return _image(16, shape)

    @staticmethod
    def is_float(dtype: DType) -> builtins.bool:
        """Whether elements are floating point."""
        return dtype.name in _float_names

    @staticmethod
    def is_int(dtype: DType) -> builtins.bool:
        """Whether elements are integers (bool is not)."""
        return dtype.name in _int_names

    @staticmethod
    def is_unsigned(dtype: DType) -> builtins.bool:
        """Whether elements are unsigned integers."""
        return dtype.name in _uint_names

    @staticmethod
    def is_bool(dtype: DType) -> builtins.bool:
        """Whether elements are bool."""
        return dtype.name == "bool"

    @staticmethod
    def index_up_to(most: int) -> DType:
        """The dtype of loop variables and offsets whose values are -most to most."""
        return dtypes.index if most <= dtypes.max(dtypes.index) else dtypes.int64

    @staticmethod
    def min(dtype: DType) -> ConstType:
        """The smallest value: -inf for floats that have it, False for bool."""
        if (limits := int_limits.get(dtype.name)) is not None:
            return limits[0]
        return -float(dtypes.max(dtype)) if dtypes.is_float(dtype) else False

    @staticmethod
    def max(dtype: DType) -> ConstType:
        """The largest value: inf for floats that have it, True for bool."""
        if (limits := int_limits.get(dtype.name)) is not None:
            return limits[1]
        if not dtypes.is_float(dtype):
            return True
        return dtypes.finfo(dtype.scalar()).max if _has_no_infinity(dtype) else math.inf

    @staticmethod
    def finfo(dtype: DType) -> FloatInfo:
        """The layout and the limits of a float dtype. Raises DTypeError for other dtypes."""
        if not dtypes.is_float(dtype):
            raise DTypeError(f"finfo of {dtype}", hint="dtypes.min and dtypes.max take any dtype")
        return FloatInfo(*_layouts[dtype.name])

    @staticmethod
    def from_py(value: object) -> DType:
        """The dtype that a Python value gets: bool, default_int or default_float."""
        if isinstance(value, builtins.bool):
            return dtypes.bool
        if isinstance(value, builtins.int):
            return dtypes.default_int
        if isinstance(value, builtins.float):
            return dtypes.default_float
        raise DTypeError(
            f"no dtype for a value of type {type(value).__name__}",
            hint="constants are bool, int or float",
        )

    @staticmethod
    def named(name: str) -> DType:
        """The scalar dtype called `name` (aliases too). Raises DTypeError for an unknown name."""
        found = getattr(dtypes, name, None) if name.__class__ is str else None
        if not isinstance(found, DType):
            raise DTypeError(f"unknown dtype {name!r}", hint=_NAMES)
        return found


def _image(bits: int, shape: tuple[int, ...]) -> ImageDType:
    if len(shape) != 3 or shape[2] != TEXEL or min(shape) < 1:
        raise DTypeError(
            f"an image of shape {shape}", hint=f"images have shapes (height, width, {TEXEL})"
        )
    return image_dtype(bits, shape[0], shape[1])


DTypeLike = DType | str
_NAMES: Final = "one of " + ", ".join(d.name for d in dtypes.all)


def to_dtype(dtype: DTypeLike) -> DType:
    """The dtype of elements, from itself or from its name. Raises DTypeError for anything else."""
    found = dtype if isinstance(dtype, DType) else dtypes.named(dtype)
    if found is dtypes.void:
        raise DTypeError("elements of void", hint=_NAMES)
    return found


_layouts: Final = {
    "fp8e4m3": FloatInfo(4, 3),
    "fp8e5m2": FloatInfo(5, 2),
    "float16": FloatInfo(5, 10),
    "bfloat16": FloatInfo(8, 7),
    "float32": FloatInfo(8, 23),
    "float64": FloatInfo(11, 52),
}
_scalars: Final = {d.name: d for d in (dtypes.void, *dtypes.all)}
_float_names: Final = frozenset(d.name for d in dtypes.floats)
_int_names: Final = frozenset(d.name for d in dtypes.ints)
_uint_names: Final = frozenset(d.name for d in dtypes.uints)
int_limits: Final = {
    d.name: (0, (1 << d.bits) - 1)
    if d in dtypes.uints
    else (-(1 << (d.bits - 1)), (1 << (d.bits - 1)) - 1)
    for d in dtypes.ints
}
"""By the name of a dtype of integers: the smallest and the largest."""

# Promotion lattice: an edge goes from a dtype to the next wider ones (as in JAX's type promotion,
# https://docs.jax.dev/en/latest/jep/9407-type-promotion.html, but without weak types).
_wider: Final[dict[DType, tuple[DType, ...]]] = {
    dtypes.bool: (dtypes.int8, dtypes.uint8),
    dtypes.int8: (dtypes.int16,),
    dtypes.int16: (dtypes.int32,),
    dtypes.int32: (dtypes.int64,),
    dtypes.int64: (dtypes.uint64,),
    dtypes.uint8: (dtypes.int16, dtypes.uint16),
    dtypes.uint16: (dtypes.int32, dtypes.uint32),
    dtypes.uint32: (dtypes.int64, dtypes.uint64),
    dtypes.uint64: (dtypes.fp8e4m3, dtypes.fp8e5m2),
    dtypes.fp8e4m3: (dtypes.float16, dtypes.bfloat16),
    dtypes.fp8e5m2: (dtypes.float16, dtypes.bfloat16),
    dtypes.float16: (dtypes.float32,),
    dtypes.bfloat16: (dtypes.float32,),
    dtypes.float32: (dtypes.float64,),
    dtypes.float64: (),
}


@cache
def _reachable(dtype: DType) -> frozenset[DType]:
    return frozenset({dtype}).union(*(_reachable(d) for d in _wider[dtype]))


@cache
def least_upper_dtype(*ds: DType) -> DType:
    """The smallest dtype that every one of `ds` promotes to."""
    common = frozenset.intersection(*(_reachable(d.scalar()) for d in ds))
    return min(common, key=_priority)


def _priority(dtype: DType) -> int:
    return dtype.priority


def least_upper_float(dtype: DType) -> DType:
    """`dtype` where it is a float, else the default float."""
    return dtype if dtypes.is_float(dtype) else dtypes.default_float


def sum_acc_dtype(dtype: DType) -> DType:
    """The dtype in which a sum of `dtype` accumulates: ints in >= 32 bits, halves in float32."""
    if dtypes.is_unsigned(dtype):
        return least_upper_dtype(dtype, dtypes.uint32)
    if dtypes.is_int(dtype) or dtypes.is_bool(dtype):
        return least_upper_dtype(dtype, dtypes.int32)
    return least_upper_dtype(dtype, dtypes.float32)


def truncate(value: ConstType, dtype: DType) -> ConstType:
    """`value` as `dtype` would hold it: integers wrap around, floats round to nearest even."""
    if dtypes.is_bool(dtype):
        return bool(value)
    if dtypes.is_int(dtype):
        wrapped = int(value) & ((1 << dtype.bits) - 1)
        negative = not dtypes.is_unsigned(dtype) and wrapped >> (dtype.bits - 1)
        return wrapped - (1 << dtype.bits) if negative else wrapped
    return round_float(float(value), dtype)


def _has_no_infinity(dtype: DType) -> bool:
    return dtype.name == "fp8e4m3"


def round_float(value: float, dtype: DType) -> float:
    """`value` rounded to the nearest float of `dtype` (ties to even); overflow gives inf, or NaN
    for fp8e4m3, which has no inf (OCP 8-bit floating point specification, 1.0)."""
    if not math.isfinite(value):
        return math.nan if _has_no_infinity(dtype) else value
    if dtype.fmt is not None:
        try:
            return float(struct.unpack(dtype.fmt, struct.pack(dtype.fmt, value))[0])
        except OverflowError:
            return math.copysign(math.inf, value)
    mantissa, emin, largest = _narrow[dtype.name]
    if abs(value) < 2 * largest:  # what is larger could overflow when it is rounded up
        exponent = max(math.frexp(value)[1] - 1, emin)
        rounded = math.ldexp(round(math.ldexp(value, mantissa - exponent)), exponent - mantissa)
        if abs(rounded) <= largest:
            return math.copysign(rounded, value)
    return math.nan if _has_no_infinity(dtype) else math.copysign(math.inf, value)


# mantissa bits, smallest normal exponent, largest finite value
_narrow: Final = {
    "bfloat16": (7, -126, math.ldexp(255.0, 120)),
    "fp8e4m3": (3, -6, 448.0),
    "fp8e5m2": (2, -14, 57344.0),
}
