"""Packs columns of integers into a compressed blob, and unpacks it.

A blob is zlib of: the number of columns; per column its flags, width and count; then the bytes of
every column, most significant ones apart from least significant ones, so that small numbers cost
next to nothing. A column may hold the differences (`delta`) of neighbouring values. Decoding checks
every size before it allocates, and takes what it is about to make from the budget in force
(`viz/budget.py`); never trusts a count, never returns part of a damaged blob.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from viz.budget import take

Ints = npt.NDArray[np.int64]

MAX_RAW: Final = 1 << 26
"""No blob is larger than this when unpacked (64 MiB); the writer makes much smaller ones."""
MAX_COUNT: Final = 1 << 22
"""No column is longer; the writer makes blocks of tens of thousands."""
_LEVEL: Final = 5
"""A higher one takes half as long again for two bytes in a hundred."""
_HEAD: Final = struct.Struct("<B")
_COLUMN: Final = struct.Struct("<BBI")
_WIDTHS: Final = (0, 1, 2, 4, 8)
_UNSIGNED: Final = {width: np.dtype(f"<u{width}") for width in _WIDTHS if width}
_AT_ONCE: Final = 32
"""Bytes that are unpacked in the time that one item of a budget stands for."""
_OF_MARK: Final = {b"{": 240, b"[": 80, b",": 64, b":": 64}
"""Most bytes of the Python object that such a character of JSON may begin."""


def pack(columns: Sequence[Sequence[int] | Ints], delta: Sequence[bool]) -> bytes:
    """`columns` as a blob; where `delta` is true, neighbouring values are stored as differences."""
    head = [_HEAD.pack(len(columns))]
    planes: list[bytes] = []
    for values, differences in zip(columns, delta, strict=True):
        column = np.array(values, dtype=np.int64)
        if differences:
            column[1:] -= column[:-1].copy()
        negative = column >> 63
        column <<= 1  # small magnitudes become small
        column ^= negative
        folded = column.view(np.uint64)
        width = _width(int(np.maximum.reduce(folded, initial=0)))
        head.append(_COLUMN.pack(int(differences), width, folded.size))
        if width == 1:
            planes.append(folded.astype(np.uint8).tobytes())
        elif width:
            split = folded.astype(_UNSIGNED[width]).view(np.uint8).reshape(-1, width)
            planes.append(split.T.tobytes())
    return deflate(b"".join((*head, *planes)))


def unpack(blob: bytes, columns: int, most: int | None = None, each: int = 0) -> list[Ints]:
    """The columns of a blob that has exactly `columns`, of at most `most` bytes in all. `each`:
    what is going to be kept of a number, in bytes. Raises TraceError for anything else, and
    BudgetError."""
    raw = inflate(blob)
    at = _HEAD.size + columns * _COLUMN.size
    if len(raw) < at or raw[0] != columns:
        raise _damaged("the number of columns is wrong")
    numbers = sum(count for _, _, count in _COLUMN.iter_unpack(raw[_HEAD.size : at]))
    if most is not None and 8 * numbers > most:
        raise _damaged("it is larger than any that is written")
    take(numbers // 4, each * numbers)
    result: list[Ints] = []
    for i in range(columns):
        differences, width, count = _COLUMN.unpack_from(raw, _HEAD.size + i * _COLUMN.size)
        size = width * count
        if differences > 1 or width not in _WIDTHS or size > len(raw) - at or count > MAX_COUNT:
            raise _damaged("a column does not fit")
        if width:
            planes = np.frombuffer(raw, np.uint8, size, at).reshape(width, count)
            folded = np.ascontiguousarray(planes.T).view(f"<u{width}").reshape(-1)
            folded = folded.astype(np.uint64)
        else:
            folded = np.zeros(count, np.uint64)
        at += size
        column = (folded >> np.uint64(1)).view(np.int64) ^ -(folded & np.uint64(1)).view(np.int64)
        result.append(np.cumsum(column, dtype=np.int64) if differences else column)
    if at != len(raw):
        raise _damaged("bytes are left over")
    return result


def pack_json(value: object) -> bytes:
    """Any JSON value, compressed."""
    return deflate(json.dumps(value, separators=(",", ":")).encode())


def unpack_json(blob: bytes) -> Any:
    """The value that `pack_json` wrote. Raises TraceError for anything else, and BudgetError."""
    raw = inflate(blob)
    take_json(raw)
    try:
        return read_json(raw)
    except (ValueError, RecursionError) as error:
        raise _damaged("not JSON") from error


def take_json(text: str | bytes) -> None:
    """Takes what the value of JSON text needs from the budget. Raises BudgetError."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    marks = {mark: raw.count(mark) for mark in _OF_MARK}
    take(sum(marks.values()) // 2, len(raw) + sum(marks[m] * cost for m, cost in _OF_MARK.items()))


def read_json(text: str | bytes) -> Any:
    """The value of JSON text, with None for numbers that JSON has not: NaN and the infinities,
    which a page could not read again; and with "?" for lone surrogates, which UTF-8 does not have.
    Raises ValueError or RecursionError for other text."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    found = _load(text)
    if "\\ud" in text or "\\uD" in text:  # it may be half of a pair
        take_json(text)
        whole = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
        return _load(whole)
    return found


def deflate(raw: bytes) -> bytes:
    """Bytes, compressed."""
    return zlib.compress(raw, _LEVEL)


def inflate(blob: bytes) -> bytes:
    """What was compressed, of bounded size. Raises TraceError for anything else."""
    take(1 + len(blob) // _AT_ONCE)
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(blob, MAX_RAW)
    except zlib.error as error:
        raise _damaged(str(error)) from error
    if not stream.eof or stream.unconsumed_tail or stream.unused_data:
        raise _damaged("too large, or cut off")
    take(len(raw) // _AT_ONCE)
    return raw


def adds_up(counts: Ints, items: Ints) -> bool:
    """Whether `counts` cut `items` into parts; checked before anything is sized by `counts`."""
    if not counts.size:
        return not items.size
    low, high = int(counts.min()), int(counts.max())
    return low >= 0 and high <= items.size and int(counts.sum()) == items.size


def _load(text: str | bytes) -> Any:
    return json.loads(text, parse_constant=_no_number, parse_float=_finite)


def _width(largest: int) -> int:
    size = (largest.bit_length() + 7) // 8
    return size if size <= 2 else 4 if size <= 4 else 8


def _no_number(_: str) -> None:
    return None


def _finite(text: str) -> float | None:
    found = float(text)
    return found if math.isfinite(found) else None  # 1e999


def _damaged(how: str) -> TraceError:
    return TraceError(
        f"a block of the trace is damaged ({how})",
        hint="what other blocks hold is still shown",
    )
