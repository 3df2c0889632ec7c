"""Columns survive packing; anything that is not a whole blob is an error, never a wrong answer."""

from __future__ import annotations

import lzma
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import TraceError
from viz.format.blocks import EVENTS
from viz.format.events import read_events
from viz.format.pack import adds_up, inflate, pack, pack_json, unpack, unpack_json
from viz.format.textnumbers import put_back, take_out
from viz.format.texts import groups, pack_texts, unpack_texts

column = st.lists(st.integers(-(1 << 62), 1 << 62), max_size=40)


@given(st.lists(st.tuples(column, st.booleans()), max_size=5))
def test_round_trip(columns: list[tuple[list[int], bool]]) -> None:
    blob = pack([values for values, _ in columns], [delta for _, delta in columns])
    assert [c.tolist() for c in unpack(blob, len(columns))] == [values for values, _ in columns]


def test_small_numbers_cost_little() -> None:
    assert len(pack([list(range(10_000))], [True])) < 100


@given(st.binary(max_size=200))
def test_any_bytes_are_an_error(data: bytes) -> None:
    for blob in (data, zlib.compress(data)):
        try:
            found = unpack(blob, 3)
        except TraceError:
            continue
        assert len(found) == 3


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_changed_byte_never_goes_unnoticed(at: int, change: int) -> None:
    values = [list(range(0, 3000, 7)), [5] * 100]
    blob = bytearray(pack(values, [True, False]))
    blob[at % len(blob)] ^= change
    try:
        found = unpack(bytes(blob), 2)
    except TraceError:
        return
    assert [c.tolist() for c in found] == values  # a bit of the zlib header that means nothing


def test_the_wrong_number_of_columns_is_an_error() -> None:
    with pytest.raises(TraceError):
        unpack(pack([[1], [2]], [False, False]), 3)


def test_a_bomb_is_an_error() -> None:
    with pytest.raises(TraceError):
        inflate(zlib.compress(bytes(1 << 27)))


def test_huge_counts_are_refused_before_anything_is_allocated() -> None:
    raw = bytes([1]) + (0).to_bytes(1) + (0).to_bytes(1) + (0xFFFFFFFF).to_bytes(4, "little")
    with pytest.raises(TraceError):
        unpack(zlib.compress(raw), 1)


def test_json_round_trip_and_nesting() -> None:
    assert unpack_json(pack_json({"a": ["é", None]})) == {"a": ["é", None]}
    with pytest.raises(TraceError):
        unpack_json(zlib.compress(b"[" * 200_000))


def test_counts_add_up() -> None:
    def ints(*values: int) -> np.ndarray:
        return np.asarray(values, np.int64)

    assert adds_up(ints(1, 2), ints(0, 0, 0))
    assert adds_up(ints(), ints())
    assert not adds_up(ints(1, -1), ints())
    assert not adds_up(ints(1 << 62, 1 << 62), ints(0))
    assert not adds_up(ints(), ints(1))


def test_texts_come_back_with_and_without_lzma(monkeypatch: pytest.MonkeyPatch) -> None:
    few = ["define\nret", "", "é\n" * 1000, "\ud800"]
    texts = [*few, "é\n" * 20_000]
    kept = [*texts[:3], "?", texts[4]]
    assert unpack_texts(pack_texts(few)) == kept[:4]
    packed = pack_texts(texts)
    assert unpack_texts(packed) == kept
    monkeypatch.setattr("viz.format.texts.lzma", None)
    assert unpack_texts(pack_texts(texts)) == kept
    with pytest.raises(TraceError, match="LZMA, which this Python cannot read"):
        unpack_texts(packed)


@pytest.mark.parametrize("size", [5000, 50_000])
def test_damaged_texts(size: int) -> None:
    packed = pack_texts(["a" * size, "b"])
    bomb = lzma.compress(bytes(1 << 27), preset=0)
    for blob in (packed[:-9], packed[:20] + b"\0" + packed[21:], bomb, lzma.compress(b"[[[" * 9)):
        with pytest.raises(TraceError):
            unpack_texts(blob)
    assert unpack_texts(lzma.compress(b'[1, "x"]')) == ["", "x"]


named = st.from_regex(r"(%[a-z.]?|!|\\\\n|i|x )?[0-9]{0,11}", fullmatch=True)


@given(st.lists(named, max_size=30).map("".join))
def test_numbers_in_texts_come_back(text: str) -> None:
    template, numbers = take_out(text.encode())
    assert put_back(template, numbers) == text.encode()
    for wrong in (template + b"%v\1", template.replace(b"\1", b"", 1)):
        if wrong != template:
            with pytest.raises(TraceError, match="do not fit"):
                put_back(wrong, numbers)


def test_lines_that_differ_in_numbers_alone_cost_little() -> None:
    lines = [f"  %v{n} = add i32 %v{n - 3}, %v{n - 1}, !dbg !{n + 16}" for n in range(50, 20_000)]
    text = "\n".join(lines) + "\n %v007 %1234567890 !5"
    packed = pack_texts([text])
    assert unpack_texts(packed) == [text]
    assert len(packed) < 1500
    numbers = [np.array([5]), np.array([], np.int64), np.array([6])]
    with pytest.raises(TraceError, match="out of range"):
        put_back(b"%v\1 !\1", numbers)
    with pytest.raises(TraceError, match="too large"):
        put_back(b"%v\1" + bytes(1 << 26), [np.array([5]), *numbers[1:2] * 2])
    for wrong in (packed[:4], packed[:40], packed[:-40], b"N\xff\xff\xff\xff" + packed[5:]):
        with pytest.raises(TraceError):
            unpack_texts(wrong)


def test_texts_in_groups() -> None:
    texts = ["x" * (1 << 23), "y" * (1 << 23), "z", "w" * (1 << 24)]
    assert [len(part) for part in groups(texts)] == [2, 1, 1]
    assert list(groups([])) == []


def test_a_block_of_too_many_events() -> None:
    columns = len(EVENTS.names)
    zeros = np.zeros(1 << 20, np.int64)
    with pytest.raises(TraceError, match="larger than any"):
        read_events(pack([zeros] * columns, [False] * columns))
