"""Packs source texts of kernels into a compressed blob, and unpacks it.

The kernels of a run repeat each other, beyond the 32 KiB that zlib looks back: packed together with
LZMA they take half of the bytes. A few texts are packed with zlib, which begins faster; so are all
where Python was built without LZMA. Decoding never makes more than MAX_RAW bytes.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from core.errors import TraceError
from viz.budget import take
from viz.format.blocks import TEXT_NUMBERS
from viz.format.pack import MAX_RAW, deflate, inflate, read_json, take_json
from viz.format.textnumbers import put_back, take_out

try:
    import lzma
except ImportError:  # a Python that was built without
    lzma = None

_PRESET: Final = 1
_BACK: Final = 1 << 18
"""Bytes that it looks back: to clear the memory for more takes time, and gains nothing but where
texts that are longer repeat each other."""
_FARTHEST: Final = 1 << 23
_MAGIC: Final = b"\xfd7zXZ\x00"
_APART: Final = struct.Struct("<cI")
"""What a blob begins with whose numbers are apart: a mark, and the bytes of the packed numbers,
which follow."""
_MARK: Final = b"N"
"""No stream of LZMA or zlib begins so."""
_FEW: Final = 1 << 15
"""Bytes that zlib looks back over as well."""
_GROUP: Final = 1 << 24
"""Characters of one blob; more begin another one."""


def groups(texts: Sequence[str], most: int = _GROUP) -> Iterator[list[str]]:
    """`texts` in order, in parts that each make a blob, of `most` characters if that can be."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and size + len(text) > most:
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part


def pack_texts(texts: Sequence[str]) -> bytes:
    """A list of texts: JSON, compressed with LZMA (a .xz stream) or zlib, behind the numbers of
    values in it if there are any."""
    raw = json.dumps(texts, ensure_ascii=False).encode("utf-8", "replace")
    longest = max(map(len, texts), default=0)
    template, numbers = take_out(raw)
    if not len(numbers[0]):
        return _compressed(raw, longest)
    packed = TEXT_NUMBERS.pack(numbers)
    return _APART.pack(_MARK, len(packed)) + packed + _compressed(template, longest)


def unpack_texts(blob: bytes) -> list[str]:
    """What `pack_texts` made. Raises TraceError for anything else."""
    if not blob.startswith(_MARK):
        raw = _inflated(blob)
    else:
        if len(blob) < _APART.size:
            raise _damaged("cut off")
        end = _APART.size + _APART.unpack_from(blob)[1]
        numbers = [*TEXT_NUMBERS.unpack(blob[_APART.size : end], MAX_RAW).values()]
        raw = put_back(_inflated(blob[end:]), numbers)
    take_json(raw)
    try:
        found = read_json(raw)
    except (ValueError, RecursionError) as error:
        raise _damaged("not JSON") from error
    items = cast("list[Any]", found) if isinstance(found, list) else []
    return [item if isinstance(item, str) else "" for item in items]


def _compressed(raw: bytes, longest: int) -> bytes:
    """`raw`, in which no text takes more characters than `longest`."""
    if lzma is None or len(raw) < _FEW:
        return deflate(raw)
    back = min(max(_BACK, 2 * longest), _FARTHEST)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": _PRESET, "dict_size": back, "pb": 0}]
    return lzma.compress(raw, lzma.FORMAT_XZ, lzma.CHECK_CRC32, filters=filters)


def _inflated(blob: bytes) -> bytes:
    """What `_compressed` was given. Raises TraceError for anything else."""
    if not blob.startswith(_MAGIC):
        return inflate(blob)
    if lzma is None:
        raise TraceError(
            "source texts of this trace are compressed with LZMA, which this Python cannot read",
            hint="use a Python that has the module lzma",
        )
    try:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_RAW)
        raw = stream.decompress(blob, MAX_RAW)
    except lzma.LZMAError as error:
        raise _damaged(str(error)) from error
    if not stream.eof or stream.unused_data:
        raise _damaged("too large, or cut off")
    take(len(raw) // 32)
    return raw


def _damaged(how: str) -> TraceError:
    return TraceError(
        f"a block of source texts is damaged ({how})",
        hint="what other blocks hold is still shown",
    )
