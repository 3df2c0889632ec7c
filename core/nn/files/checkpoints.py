"""Files that PyTorch's `save` writes: zip archives with a pickle that describes Tensors, and their
bytes beside it.

The pickle is read by a machine that makes plain values (`pickles.py`): it can run nothing. Every
Tensor is checked against the bytes of its storage. What is not as expected raises FormatError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import numpy as np

from core.dtype import DType, dtypes
from core.helpers import prod
from core.nn.files.archives import (
    UNPACKED_LIMIT,
    UNPACKED_RATIO,
    not_a,
    reading,
    zip_extract,
)
from core.nn.files.pickles import Named, plain_value
from core.runtime.device import Device, DeviceLike
from core.tensor import Tensor

PICKLE_LIMIT: Final = 1 << 26
"""Most bytes of the pickle: it describes Tensors, and holds none."""
VALUES_LIMIT: Final = 1 << 18
NESTING_LIMIT: Final = 100
PATH_LIMIT: Final = 1024
"""Most values in all dicts and lists, how deep they are nested, and characters of a path. Lists can
hold one list many times, so that a few bytes of a pickle stand for more than any memory holds."""
AXES_LIMIT: Final = 64
ELEMENTS_LIMIT: Final = 1 << 40
"""Most axes of a Tensor, and elements of one that repeats what is stored."""
KIND: Final = "file of PyTorch's"

_STORAGES: Final[Mapping[str, DType]] = {
    "FloatStorage": dtypes.float32,
    "DoubleStorage": dtypes.float64,
    "HalfStorage": dtypes.float16,
    "BFloat16Storage": dtypes.bfloat16,
    "LongStorage": dtypes.int64,
    "IntStorage": dtypes.int32,
    "ShortStorage": dtypes.int16,
    "CharStorage": dtypes.int8,
    "ByteStorage": dtypes.uint8,
    "BoolStorage": dtypes.bool,
    "UntypedStorage": dtypes.uint8,
}
_DTYPES: Final[Mapping[str, DType]] = {
    **{d.name: d for d in dtypes.all},
    "float8_e4m3fn": dtypes.fp8e4m3,
    "float8_e5m2": dtypes.fp8e5m2,
}

_LATER: Final = ("neg", "conj")
"""Marks of values that are not those in the storage."""


def torch_load(fn: str | Path | bytes | Tensor, device: DeviceLike = None) -> dict[str, Tensor]:
    """The Tensors of a file that PyTorch's `save` wrote of a dict of them, of numbers and of nested
    dicts and lists of both, by dotted path. Other values are left out.

    As by `safe_load`, a file is read where its Tensors are used: they are copied to the device, by
    default the default device, or stay where a Tensor of bytes is. Raises FormatError for what is
    no such file: for PyTorch's format before 1.6, too, and for pickles of classes.
    """
    if not isinstance(fn, Tensor):
        device = Device.names(device)
    members = zip_extract(fn)
    names = [name for name in members if name.endswith("/data.pkl")]
    if len(names) != 1:
        raise not_a(KIND, "it has no data.pkl")
    root = names[0].removesuffix("data.pkl")
    order = members.get(f"{root}byteorder")
    if order is not None and (len(order) != 6 or bytes(order.data()) != b"little"):
        raise not_a(KIND, "its byte order is not little endian")
    if len(members[names[0]]) > PICKLE_LIMIT:
        raise not_a(KIND, f"a pickle of {len(members[names[0]])} bytes")
    found: dict[str, Tensor] = {}
    with reading(KIND):
        size = Path(fn).stat().st_size if isinstance(fn, str | Path) else len(fn)
        value = plain_value(bytes(members[names[0]].data()), _call, _storage, size)
        described = _described(value)
    room = _Room(max(UNPACKED_LIMIT, UNPACKED_RATIO * sum(len(data) for data in members.values())))
    for path, each in described.items():
        data = members.get(f"{root}data/{each.storage.key}")
        if data is None:
            raise not_a(KIND, f"{path!r} is stored nowhere")
        tensor = each.tensor(path, data, room)
        found[path] = tensor if device is None else tensor.to(device)
    return found


class _Storage(NamedTuple):
    """Memory that Tensors are in: its name among the files."""

    dtype: DType
    key: str


class _Room:
    """Bytes that copies of what is stored may take: many Tensors can copy the same bytes."""

    def __init__(self, left: int) -> None:
        self._left = left

    def take(self, count: int, path: str) -> None:
        self._left -= count
        if self._left < 0:
            raise not_a(KIND, f"the Tensors up to {path!r} take much more memory than is stored")


class _Described(NamedTuple):
    """A Tensor as a pickle describes it, with lengths in elements."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DType

    def tensor(self, path: str, data: Tensor, room: _Room) -> Tensor:
        """The Tensor, in the bytes of its storage; or a copy, where it skips some of them."""
        width, numbers = self.dtype.itemsize, (self.offset, *self.shape, *self.strides)
        fits = len(self.shape) == len(self.strides) and min(numbers) >= 0
        axes = [(n, s) for n, s in zip(self.shape, self.strides, strict=False) if n != 1]
        span = 0 if 0 in self.shape else 1 + sum((n - 1) * s for n, s in axes)
        if not fits or (self.offset + span) * width > len(data):
            raise not_a(KIND, f"{path!r} of shape {self.shape} leaves its storage")
        if prod(n for n in self.shape if n) > ELEMENTS_LIMIT:
            raise not_a(KIND, f"{path!r} has the shape {self.shape}")
        start = self.offset * width
        flat = data[start : start + span * width].bitcast(self.dtype)
        if 0 in self.shape:
            return flat.reshape(self.shape)
        order = sorted(range(len(self.shape)), key=lambda i: (-self.strides[i], -self.shape[i]))
        order = [i for i in order if self.shape[i] > 1 and self.strides[i]]
        packed = [self.shape[i] for i in order]
        steps = [self.strides[i] for i in order]
        if steps == [prod(packed[k + 1 :]) for k in range(len(packed))]:
            x = flat.reshape(packed)
        elif prod(packed) > span:
            raise not_a(KIND, f"the elements of {path!r} overlap")
        else:
            room.take((span + prod(packed)) * width, path)
            words = np.frombuffer(flat.data(), f"u{width}")
            view = np.lib.stride_tricks.as_strided(words, packed, [n * width for n in steps])
            x = Tensor(view.copy()).bitcast(self.dtype)
        kept = [n if i in order else 1 for i, n in enumerate(self.shape)]
        return x.permute([order.index(i) for i in sorted(order)]).reshape(kept).expand(self.shape)


def _rebuilt(
    storage: object, offset: object, shape: object, strides: object, *more: object
) -> _Described:
    """What `torch._utils._rebuild_tensor_v2` and `_v3` are called with."""
    lengths = (shape, strides)
    if not isinstance(storage, _Storage) or type(offset) is not int:
        raise ValueError("a Tensor without a storage")
    if not all(isinstance(x, tuple) and len(cast("Sized", x)) <= AXES_LIMIT for x in lengths):
        raise ValueError(f"a shape that is no tuple of at most {AXES_LIMIT} lengths")
    if not all(type(n) is int for x in lengths for n in cast("tuple[object, ...]", x)):
        raise ValueError("a shape that is not made of integers")
    if any(cast(Any, x).get(mark) for x in more if isinstance(x, dict) for mark in _LATER):
        raise ValueError("a Tensor whose values are negated or conjugated later")
    dtype = storage.dtype
    if len(more) > 2 and isinstance(more[2], Named):
        dtype = _DTYPES.get(more[2].name.removeprefix("torch."))
        if dtype is None:
            raise ValueError(f"a Tensor of {more[2].name}")
    return _Described(storage, offset, cast(Any, shape), cast(Any, strides), dtype)


def _same(value: object, *more: object) -> object:
    """A parameter is the Tensor that it is made of, and so are sizes, sets and devices."""
    return value


def _empty() -> dict[object, object]:
    return {}


_CALLED: Final[Mapping[str, Callable[..., object]]] = {
    "torch._utils._rebuild_tensor_v2": _rebuilt,
    "torch._utils._rebuild_tensor_v3": _rebuilt,
    "torch._utils._rebuild_parameter": _same,
    "collections.OrderedDict": _empty,
    "torch.Size": _same,
    "torch.device": _same,
    "builtins.set": _same,
    "__builtin__.set": _same,
}
"""Everything that a pickle may call, and what its calls give."""


def _call(name: str, args: tuple[object, ...]) -> object:
    if name not in _CALLED:
        raise ValueError(f"its pickle calls {name}, which is not read")
    return _CALLED[name](*args)


def _storage(pid: object) -> _Storage:
    match pid:
        case ("storage", Named(name=name), str(key), _, _) if name.startswith("torch."):
            dtype = _STORAGES.get(name.rpartition(".")[2])
            if dtype is not None:
                return _Storage(dtype, key)
        case _:
            pass
    raise ValueError("a storage of another kind")


def _described(value: object) -> dict[str, _Described]:
    """The Tensors in dicts, lists and tuples, by dotted path."""
    found: dict[str, _Described] = {}
    seen, stack = 0, [(value, "", 0)]
    while stack:
        value, path, depth = stack.pop()
        if isinstance(value, _Described):
            if path in found:
                raise not_a(KIND, f"two Tensors are named {path!r}")
            found[path] = value
        elif isinstance(value, dict | list | tuple) and not isinstance(value, _Storage):
            seen += len(cast("Sized", value))
            if seen > VALUES_LIMIT or depth == NESTING_LIMIT:
                raise not_a(KIND, "its values are too many, or nested too deep")
            parts = value if isinstance(value, dict) else dict(enumerate(cast(Any, value)))
            named = [
                (part, _joined(path, name), depth + 1)
                for name, part in cast("dict[object, object]", parts).items()
            ]
            stack += reversed(named)
    return found


def _joined(path: str, name: object) -> str:
    """The path of a part. Its name is looked at only where it is short: the same long one may name
    very many parts."""
    length = len(name) if isinstance(name, str | bytes) else 0
    if length > PATH_LIMIT or len(found := f"{path}.{name}" if path else str(name)) > PATH_LIMIT:
        raise not_a(KIND, f"a name of more than {PATH_LIMIT} characters")
    return found
