"""Captured values in a trace that anybody may have written: what is no kernel, or no values."""

from __future__ import annotations

import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from core.errors import TraceError
from viz.format import schema
from viz.format.captured import (
    MAX_BYTES,
    Captured,
    CapturedArgument,
    pack_captured,
    pack_values,
    unpack_captured,
    unpack_values,
)
from viz.format.pack import MAX_RAW, pack_json
from viz.format.rows import BLOCKS, BlockRow
from viz.read.tracefile import TraceFile
from viz.write.database import TraceDatabase
from viz.write.writer import TraceWriter

KERNEL = Captured(7, "k", "CPU", {"n": 3}, (CapturedArgument(1, "float32", 4, 16, 2),))


def test_what_is_packed_comes_back() -> None:
    assert unpack_captured(pack_captured([KERNEL, Captured(8, "l", "CPU", why="no")])) == [
        KERNEL,
        Captured(8, "l", "CPU", why="no"),
    ]
    raw = bytes(range(256)) * 1000
    assert unpack_values(pack_values(raw), len(raw)) == raw
    assert unpack_values(pack_values(b""), 0) == b""
    assert MAX_BYTES < MAX_RAW


def changed(**fields: Any) -> dict[str, Any]:
    return {**asdict(KERNEL), **fields}


@pytest.mark.parametrize(
    "item",
    [
        3,
        None,
        {},
        changed(variables=[1]),
        changed(arguments={"number": 1}),
        changed(arguments=[4]),
        changed(arguments=[{"number": -1, "dtype": "int8", "size": 1, "bytes": 1, "values": 1}]),
        changed(arguments=[{"number": 1, "dtype": "int8", "size": 1 << 60, "bytes": 1}]),
        changed(arguments=[{"number": 1, "dtype": "int8", "size": 1, "bytes": MAX_BYTES + 1}]),
        changed(arguments=2 * [asdict(CapturedArgument(1, "int8", 1, MAX_BYTES - 1, 1))]),
    ],
)
def test_what_is_no_kernel_is_left_out(item: Any) -> None:
    assert unpack_captured(pack_json([item, asdict(KERNEL)])) == [KERNEL]


def test_other_variables_are_left_out() -> None:
    (kernel,) = unpack_captured(
        pack_json([changed(variables={"n": 3, "m": "4", "o": True, "p": 1.5})])
    )
    assert kernel.variables == {"n": 3}


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"no zlib",
        zlib.compress(b"x" * 15),
        zlib.compress(b"x" * 17),
        zlib.compress(b"x" * 16)[:-2],
        zlib.compress(bytes(MAX_RAW + 1)),
    ],
    ids=["nothing", "no zlib", "too few", "too many", "cut off", "a bomb"],
)
def test_values_of_another_size(blob: bytes) -> None:
    with pytest.raises(TraceError):
        unpack_values(blob, 16)


def test_too_many_values_are_not_written(tmp_path: Path) -> None:
    with TraceWriter(tmp_path / "t.viz", {}) as t:
        with pytest.raises(TraceError, match="60,000,001 bytes"):
            t.captured(1, "k", "CPU", {0: ("uint8", 1, bytes(MAX_BYTES + 1))}, {})
        t.captured(1, "k", "CPU", {0: ("uint8", 3, b"abc")}, {})
        t.captured(1, "again", "CPU", {0: ("uint8", 3, b"xyz")}, {})
    file = TraceFile(tmp_path / "t.viz")
    file.refresh()
    assert file.captured[1].name == "k"
    assert [unpack_values(d, 3) for d in file.packed_values(file.captured[1])] == [b"abc"]
    file.close()


def test_values_that_are_missing(tmp_path: Path) -> None:
    database = TraceDatabase(tmp_path / "t.viz", {})
    database.write([(BLOCKS, [BlockRow(1, schema.CAPTURED, 0, 1, pack_captured([KERNEL]))])])
    database.close()
    file = TraceFile(tmp_path / "t.viz")
    file.refresh()
    with pytest.raises(TraceError):
        file.packed_values(file.captured[7])
    file.close()
