"""Random Tensors: threefry2x32 applied to a counter, so that a seed fixes every number.

Element i of the n-th random Tensor since `manual_seed` is a pure function of the seed and of the
count of elements drawn before it, the same on every device. Kernels read both from memory: one
kernel draws any number of times, and a captured one draws anew when that memory is filled again.

Threefry: J. Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (SC 2011). A seed gives the
same numbers on every device.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from core.dtype import DType, DTypeLike, dtypes, to_dtype
from core.errors import DTypeError, ShapeError
from core.helpers import prod
from core.realize import run_now
from core.runtime.buffer import buffer_of
from core.runtime.device import Device, DeviceLike
from core.tensor.axes.creation import cut_alike, iota, like_this
from core.tensor.state.base import Shape, tensor_of, with_lengths_of
from core.tensor.views.movement import as_ints, broadcast, part_of
from core.uop.call.parts import parts_of
from core.uop.ops import Ops
from core.uop.uop import UOp

if TYPE_CHECKING:
    from core.tensor import Tensor


class RandomState:
    """The seed, and per device how many numbers were drawn since it was set. Values on several
    devices are drawn as on the first one."""

    seed: int = time.time_ns() & 0xFFFF_FFFF
    drawn: ClassVar[dict[str, int]] = {}

    @classmethod
    def restart(cls, seed: int) -> None:
        """Sets the seed."""
        cls.seed, cls.drawn = seed & 0xFFFF_FFFF_FFFF_FFFF, {}

    @classmethod
    def draw(cls, memory: UOp, count: int) -> None:
        """Fills `memory`, two uint64, with what the next `count` numbers of its device are drawn
        from: the seed, and how many were drawn before."""
        parts = parts_of(memory)
        device = parts[0].one_device
        assert device is not None
        first = cls.drawn.get(device, 0)
        cls.drawn[device] = first + count
        state = struct.pack("=QQ", cls.seed, first & 0xFFFF_FFFF_FFFF_FFFF)
        for part in parts:
            buffer_of(part).copyin(memoryview(state))


@staticmethod
def manual_seed(seed: int = 0) -> None:
    """Starts the random numbers of all devices again, from `seed`."""
    run_now(partial(RandomState.restart, seed))


def _bits(cls: type[Tensor], shape: Shape, device: DeviceLike) -> Tensor:
    """64 random bits per element, as uint64; computed anew by each kernel that uses them."""
    if any(n < 0 for n in shape):
        raise ShapeError(f"a random Tensor of shape {shape}", hint="lengths are not negative")
    where, count = Device.names(device), prod(shape)
    memory = UOp.new_buffer(where, 2, dtypes.uint64)
    run_now(partial(RandomState.draw, memory, count))
    state = tensor_of(cls, memory)
    seed, first = (broadcast(part_of(state, 0, i, i + 1), (count,)) for i in range(2))
    counter = iota(cls, count, where).cast(dtypes.uint64) + first
    return tensor_of(cls, counter.uop.alu(Ops.THREEFRY, seed.uop)).reshape(shape)


def _unit(self: Tensor, dtype: DType) -> Tensor:
    """Random bits as numbers of [0, 1): as many as the dtype has digits, times 2 ** -digits."""
    digits = {dtypes.float64: 53, dtypes.float32: 24, dtypes.float16: 11, dtypes.bfloat16: 8}
    if dtype not in digits:
        raise DTypeError(
            f"no random numbers in {dtype}", hint="use a float dtype of 16 bits or more, or randint"
        )
    n = digits[dtype]
    bits = self.cast(dtypes.uint32) if n <= 32 else self
    top = bits.rshift(bits.dtype.bits - n)
    return (top.cast(dtypes.float64 if n > 24 else dtypes.float32) * 2.0**-n).cast(dtype)


def _fresh(cls: type[Tensor], made: Tensor, requires_grad: bool | None) -> Tensor:
    """Stored once, when realized, rather than drawn again in every kernel that uses it."""
    return tensor_of(cls, made.contiguous().uop, requires_grad)


@classmethod
def rand(
    cls: type[Tensor],
    *shape: int | Sequence[int],
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
    contiguous: bool = True,
) -> Tensor:
    """Uniform in [0, 1). `contiguous=False` draws again in each kernel instead of storing."""
    unit = _unit(_bits(cls, as_ints(*shape), device), to_dtype(dtype or dtypes.default_float))
    return (
        _fresh(cls, unit, requires_grad) if contiguous else tensor_of(cls, unit.uop, requires_grad)
    )


@classmethod
def randn(
    cls: type[Tensor],
    *shape: int | Sequence[int],
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Normal with mean 0 and standard deviation 1."""
    wanted = to_dtype(dtype or dtypes.default_float)
    return _fresh(cls, _gauss(cls, as_ints(*shape), device).cast(wanted), requires_grad)


def _gauss(cls: type[Tensor], shape: Shape, device: DeviceLike) -> Tensor:
    """sqrt(-2 ln(1 - u)) cos(2 pi v) for u and v of [0, 1).

    G. E. P. Box and M. E. Muller, Annals of Mathematical Statistics 29 (1958).
    """
    bits = _bits(cls, shape, device)
    u = _unit(bits, dtypes.float32)
    v = _unit(bits.rshift(32), dtypes.float32)
    return (-2 * (1 - u).log()).sqrt() * (v * (2 * math.pi)).cos()


@classmethod
def randint(
    cls: type[Tensor],
    *shape: int | Sequence[int],
    low: int = 0,
    high: int = 10,
    device: DeviceLike = None,
    dtype: DTypeLike = dtypes.int32,
    requires_grad: bool | None = None,
) -> Tensor:
    """Integers low <= n < high, all equally likely (to one part in 2 ** 32)."""
    wanted = to_dtype(dtype)
    if not dtypes.is_int(wanted):
        raise DTypeError(f"randint of {wanted}", hint="use an integer dtype")
    if not low < high:
        raise ShapeError(
            f"randint from {low} to {high}", hint="high is not included, and must be above low"
        )
    span = high - low
    # the high word of a product replaces a remainder, where it is as even
    bits = _bits(cls, as_ints(*shape), device)
    drawn = (bits.rshift(32) * span).rshift(32) if span < 1 << 16 else bits % span
    made = drawn.cast(dtypes.int64).add(low).cast(wanted)
    return _fresh(cls, made, requires_grad)


@classmethod
def normal(
    cls: type[Tensor],
    *shape: int | Sequence[int],
    mean: float = 0.0,
    std: float = 1.0,
    requires_grad: bool | None = None,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
) -> Tensor:
    """Normal with the given mean and standard deviation."""
    made = _gauss(cls, as_ints(*shape), device) * std + mean
    return _fresh(cls, made.cast(dtype or dtypes.default_float), requires_grad)


@classmethod
def uniform(
    cls: type[Tensor],
    *shape: int | Sequence[int],
    low: float = 0.0,
    high: float = 1.0,
    device: DeviceLike = None,
    dtype: DTypeLike | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Uniform in [low, high)."""
    wanted = to_dtype(dtype or dtypes.default_float)
    inner = wanted if wanted is dtypes.float64 else dtypes.float32
    unit = _unit(_bits(cls, as_ints(*shape), device), inner)
    return _fresh(cls, (unit * (high - low) + low).cast(wanted), requires_grad)


@classmethod
def scaled_uniform(cls: type[Tensor], *shape: int | Sequence[int], **options: Any) -> Tensor:
    """Uniform in [-1, 1), divided by the square root of the number of elements."""
    bound = max(1, prod(as_ints(*shape))) ** -0.5
    return cls.uniform(*shape, low=-bound, high=bound, **options)


@classmethod
def glorot_uniform(cls: type[Tensor], *shape: int | Sequence[int], **options: Any) -> Tensor:
    """Uniform with bound sqrt(6 / (fan_in + fan_out)).

    X. Glorot and Y. Bengio, Understanding the difficulty of training deep networks (2010).
    """
    lengths = as_ints(*shape)
    if not lengths:
        raise ShapeError("glorot_uniform without axes", hint="the first axis is fan_out")
    bound = math.sqrt(6 / max(1, lengths[0] + prod(lengths[1:])))
    return cls.uniform(lengths, low=-bound, high=bound, **options)


@classmethod
def kaiming_uniform(
    cls: type[Tensor], *shape: int | Sequence[int], a: float = 0.01, **options: Any
) -> Tensor:
    """Uniform with bound sqrt(6 / ((1 + a ** 2) fan_in)), https://arxiv.org/abs/1502.01852"""
    lengths = as_ints(*shape)
    bound = math.sqrt(6 / ((1 + a * a) * max(1, prod(lengths[1:]))))
    return cls.uniform(lengths, low=-bound, high=bound, **options)


@classmethod
def kaiming_normal(
    cls: type[Tensor], *shape: int | Sequence[int], a: float = 0.01, **options: Any
) -> Tensor:
    """Normal with standard deviation sqrt(2 / ((1 + a ** 2) fan_in)), as `kaiming_uniform`."""
    lengths = as_ints(*shape)
    std = math.sqrt(2 / ((1 + a * a) * max(1, prod(lengths[1:]))))
    return cls.normal(lengths, std=std, **options)


def rand_like(self: Tensor, contiguous: bool = True, **options: Any) -> Tensor:
    """Uniform in [0, 1), shaped like this."""
    drawn = type(self).rand(self.shape, contiguous=False, **like_this(self, options))
    made = cut_alike(self, drawn)
    made = _fresh(type(self), made, drawn.requires_grad) if contiguous else made
    return with_lengths_of(made, self)


def randn_like(self: Tensor, **options: Any) -> Tensor:
    """Normal, shaped like this."""
    drawn = type(self).randn(self.shape, **like_this(self, options))
    return with_lengths_of(cut_alike(self, drawn), self)
