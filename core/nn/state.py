"""The Tensors of a model by name, and files of them in the safetensors format.

Format: 8 bytes length of the header, the header as JSON, then the elements of all tensors
(https://github.com/huggingface/safetensors). Reading believes nothing: a file that is not exactly
that raises FormatError, and no code in it is ever run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final, NoReturn, TypeVar, cast, overload

from core.capture.jit import TinyJit
from core.dtype import DType, dtypes
from core.errors import FormatError, ShapeError
from core.helpers import prod
from core.nn.files.archives import TensorIO as TensorIO
from core.nn.files.archives import bytes_of
from core.nn.files.archives import tar_extract as tar_extract
from core.nn.files.archives import zip_extract as zip_extract
from core.nn.files.checkpoints import torch_load as torch_load
from core.runtime.device import Device, DeviceLike
from core.runtime.disk.file import File, replace_file
from core.tensor import Tensor

HEADER_LIMIT: Final = 100_000_000
"""Bytes; no header that the format allows is longer."""
PARTS_LIMIT: Final = 1 << 22
"""Most lists, objects and values in a header: a Tensor takes about 12, and 2 characters may stand
for an object of 64 bytes."""

_names: Final = {
    "BOOL": dtypes.bool,
    "I8": dtypes.int8,
    "U8": dtypes.uint8,
    "I16": dtypes.int16,
    "U16": dtypes.uint16,
    "I32": dtypes.int32,
    "U32": dtypes.uint32,
    "I64": dtypes.int64,
    "U64": dtypes.uint64,
    "F8_E4M3": dtypes.fp8e4m3,
    "F8_E5M2": dtypes.fp8e5m2,
    "F16": dtypes.float16,
    "BF16": dtypes.bfloat16,
    "F32": dtypes.float32,
    "F64": dtypes.float64,
}
_name_of: Final = {dtype: name for name, dtype in _names.items()}


T = TypeVar("T")


@overload
def get_state_dict(obj: object, prefix: str = "") -> dict[str, Tensor]: ...
@overload
def get_state_dict(obj: object, prefix: str = "", *, tensor_type: type[T]) -> dict[str, T]: ...
def get_state_dict(
    obj: object, prefix: str = "", tensor_type: type[Any] = Tensor
) -> dict[str, Any]:
    """Every Tensor, or other object of `tensor_type`, reachable through attributes, dicts, lists
    and tuples, by dotted path."""
    return dict(_walk(obj, prefix.strip("."), (), tensor_type))


def get_parameters(obj: object) -> list[Tensor]:
    """The Tensors of `get_state_dict`, each once."""
    return list({id(t): t for t in get_state_dict(obj).values()}.values())


def _walk(obj: object, path: str, above: tuple[int, ...], kind: type[T]) -> Iterator[tuple[str, T]]:
    if isinstance(obj, kind):
        yield path, obj
        return
    if id(obj) in above:  # an object that holds itself
        return
    parts: Mapping[Any, object]
    if isinstance(obj, list | tuple):
        fields = getattr(obj, "_fields", range(len(obj)))
        parts = dict(zip(fields, cast("list[object]", obj), strict=True))
    elif isinstance(obj, dict):
        parts = cast("dict[Any, object]", obj)
    elif hasattr(obj, "__dict__") and not isinstance(
        obj, type | FunctionType | ModuleType | TinyJit
    ):
        parts = vars(obj)
    else:
        return
    for name, part in parts.items():
        yield from _walk(part, f"{path}.{name}" if path else str(name), (*above, id(obj)), kind)


def load_state_dict(
    model: object,
    state_dict: Mapping[str, Tensor],
    strict: bool = True,
    verbose: bool = False,
    consume: bool = False,
    realize: bool = True,
) -> list[Tensor]:
    """Assigns the Tensors of `state_dict` to the Tensors of the model with the same name, and
    returns those of the model that were given a value.

    `strict`: names that only one of the two has raise FormatError. `consume` takes what was loaded
    out of `state_dict`. `realize` False leaves it to the caller to compute them. Raises ShapeError
    where shapes differ, but for a number and a list of one.
    """
    mine = get_state_dict(model)
    missing, unknown = mine.keys() - state_dict.keys(), state_dict.keys() - mine.keys()
    if strict and (missing or unknown):
        raise FormatError(
            f"{len(missing)} names of the model are missing, {len(unknown)} are unknown to it",
            where=", ".join(sorted(missing | unknown)[:8]),
            hint="strict=False loads the names that both have",
        )
    loaded: list[Tensor] = []
    for name, tensor in mine.items():
        if name not in state_dict:
            continue
        new = state_dict[name]
        if {new.shape, tensor.shape} == {(), (1,)}:
            new = new.reshape(tensor.shape)
        if new.shape != tensor.shape:
            raise ShapeError(f"{name} is {tensor.shape} in the model and {new.shape} in the state")
        if verbose:
            print(f"loaded {name} {tensor.shape}")
        tensor.assign(new.detach().to(tensor.device).cast(tensor.dtype))
        loaded.append(tensor.realize() if realize else tensor)
        if consume and isinstance(state_dict, dict):
            del state_dict[name]
    return loaded


def safe_save(
    tensors: Mapping[str, Tensor], fn: str | Path, metadata: Mapping[str, str] | None = None
) -> None:
    """Writes Tensors and text metadata to a file, which appears whole or not at all. The Tensors
    may be loaded from that very file. Raises RunError for a file that cannot be written, and on a
    full disk."""
    header: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    # wide elements first, so that each tensor begins at a multiple of its element size
    order = sorted(tensors, key=lambda name: -tensors[name].dtype.itemsize)
    for name in order:
        t = tensors[name]
        if name == "__metadata__":
            raise FormatError("a tensor cannot be called __metadata__", hint="rename it")
        span = [at, at + t.numel() * t.dtype.itemsize]
        header[name] = {"dtype": _name_of[t.dtype], "shape": list(t.shape), "data_offsets": span}
        at = span[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)

    def write(file: File) -> None:
        file.write(memoryview(len(text).to_bytes(8, "little") + text), 0)
        at = 8 + len(text)
        for name in order:
            file.write(tensors[name].data(), at)
            at += tensors[name].numel() * tensors[name].dtype.itemsize

    replace_file(Path(fn), write)


def safe_load(fn: str | Path | bytes | Tensor, device: DeviceLike = None) -> dict[str, Tensor]:
    """The Tensors of a safetensors file, or of its bytes. Raises FormatError for anything else.

    Of a file only the header is read: each Tensor is copied to the device, by default the default
    device, when it is computed. Those of a Tensor of bytes are parts of it, on its device unless
    another is given: those of `Tensor(Path(...))` stay in the file, where they can be assigned to.
    """
    if not isinstance(fn, Tensor):
        device = Device.names(device)
    header, body = _split(bytes_of(fn))
    result: dict[str, Tensor] = {}
    spans: list[tuple[int, int]] = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        dtype, shape, start, end = _entry(name, entry, len(body))
        spans.append((start, end))
        part = body[start:end].bitcast(dtype).reshape(shape)
        result[name] = part if device is None else part.to(device)
    at = 0
    for start, end in sorted(spans):
        if start != at:
            raise _bad(f"bytes {min(at, start)}..{max(at, start)} belong to no tensor, or to two")
        at = end
    if at != len(body):
        raise _bad(f"{len(body) - at} bytes after the last tensor")
    return result


def safe_load_metadata(fn: str | Path | bytes | Tensor) -> dict[str, str]:
    """The text metadata of a safetensors file. Raises FormatError as `safe_load` does."""
    found = _split(bytes_of(fn))[0].get("__metadata__", {})
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise _bad("metadata is not text by name")
    return cast("dict[str, str]", found)


def _split(data: Tensor) -> tuple[dict[str, object], Tensor]:
    """The header and the elements of a Tensor of bytes."""
    if len(data) < 8:
        raise _bad(f"only {len(data)} bytes")
    length = int.from_bytes(data[:8].data(), "little")
    if length > HEADER_LIMIT or length > len(data) - 8:
        raise _bad(f"a header of {length} bytes in a file of {len(data)}")
    try:
        head = bytes(data[8 : 8 + length].data())
        if sum(head.count(mark) for mark in b"[{,") > PARTS_LIMIT:
            raise ValueError(f"more than {PARTS_LIMIT:,} parts")
        text = head.decode()
        header = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _bad(f"the header is not JSON: {error}") from error
    if not isinstance(header, dict) or not text.startswith("{"):
        raise _bad("the header is not an object")
    return cast("dict[str, object]", header), data[8 + length :]


def _entry(name: str, entry: object, size: int) -> tuple[DType, tuple[int, ...], int, int]:
    """(dtype, shape, start, end) of one tensor, checked against each other."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _bad(f"{name!r} has not exactly a dtype, a shape and data_offsets")
    fields = cast("dict[str, object]", entry)
    dtype = _names.get(fields["dtype"]) if isinstance(fields["dtype"], str) else None
    shape, span = _counts(fields["shape"]), _counts(fields["data_offsets"])
    if dtype is None:
        raise _bad(f"{name!r} has the unknown dtype {str(fields['dtype'])[:40]!r}")
    if shape is None or span is None or len(span) != 2:
        raise _bad(f"{name!r} has a shape or offsets that are not lists of counts")
    start, end = span
    if not start <= end <= size:
        raise _bad(f"{name!r} lies at {start}..{end} of {size} bytes")
    if prod(shape) * dtype.itemsize != end - start:
        raise _bad(f"{name!r} of shape {shape} {dtype} does not take {end - start} bytes")
    return dtype, shape, start, end


def _counts(value: object) -> tuple[int, ...] | None:
    """A short list of numbers that can be lengths; None for anything else."""
    if not isinstance(value, list) or len(cast("list[object]", value)) > 64:
        return None
    items = cast("list[object]", value)
    counts = [v for v in items if type(v) is int and 0 <= v < 1 << 63]
    return tuple(counts) if len(counts) == len(items) else None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _bad(why: str) -> FormatError:
    return FormatError(
        f"not a safetensors file: {why}", hint="the file may be truncated, or of another kind"
    )
