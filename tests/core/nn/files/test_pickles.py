"""Pickles as plain values: what Python writes is read, and nothing is run."""

from __future__ import annotations

import os
import pickle
import tracemalloc
from contextlib import suppress
from pickletools import genops
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.nn.files import pickles
from core.nn.files.pickles import Named, plain_value

KEYS = st.text() | st.integers(-1 << 63, (1 << 63) - 1)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.tuples(inner, inner, inner, inner)
    | st.dictionaries(KEYS, inner),
    max_leaves=20,
)  # fmt: skip


def read(data: bytes) -> object:
    return plain_value(data, lambda name, args: (name, args), lambda pid: ("kept", pid), 0)


def write(value: object, protocol: int) -> bytes:
    return pickle.dumps(value, protocol)


@settings(max_examples=150, deadline=None)
@given(value=plain, protocol=st.integers(0, 5))
def test_plain_values(value: Any, protocol: int) -> None:
    if protocol < 3 and "GLOBAL" in {op.name for op, _, _ in genops(write(value, protocol))}:
        return  # bytes, which these protocols make by a call
    assert read(write(value, protocol)) == value


@pytest.mark.parametrize("protocol", range(6))
def test_values_met_twice_and_in_themselves(protocol: int) -> None:
    shared = [1]
    found: Any = read(write([shared, shared, {"a": (shared,)}], protocol))
    assert found == [[1], [1], {"a": ([1],)}]
    assert found[0] is found[1] is found[2]["a"][0]
    shared.append(shared)
    found = read(write(shared, protocol))
    assert found[1] is found


@pytest.mark.parametrize("protocol", range(6))
def test_names_and_calls(protocol: int) -> None:
    found = read(write(os.getcwd, protocol))
    assert isinstance(found, Named)
    assert found.name.endswith(".getcwd")
    name, args = read(write(complex(1, 2), protocol))
    assert (name.partition(".")[2], args) == ("complex", (1.0, 2.0))
    if protocol >= 4:
        assert sorted(read(write({1, 2}, protocol))) == [1, 2]


def test_persistent_values() -> None:
    assert read(b"\x80\x02K\x05Q.") == ("kept", 5)


HOSTILE = {
    "attribute": b"cos\nsystem\n}X\x01\x00\x00\x00aK\x01sb.", "instance": b"(ios\nsystem\n.",
    "object": b"(cos\nsystem\no.", "extension": b"\x82\x01.", "text": b"Pabc\n.",
    "underflow": b"a.", "no mark": b"t.", "tuple": b"\x80\x02K\x01\x87.", "memo": b"h\x05.",
    "key": b"}(K\x01)\x85K\x02s.", "tuple key": b"}((K\x01tK\x02u.", "odd": b"}(K\x01K\x02K\x03u.",
    "list": b"K\x01K\x02a.", "dict": b"]K\x01K\x02s.", "args": b"cos\nsystem\nK\x01R.",
    "no function": b"K\x01)R.", "endless": b"K\x01", "nothing": b"", "opcode": b"\xff.",
    "length": b"X\xff\xff\xff\x7fabc.", "empty": b".", "name": b"\x8c\x02osK\x01\x93.",
    "buffer": b"\x97.", "digits": b"I" + b"9" * 5000 + b"\n.",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_pickle_of_plain_values(name: str) -> None:
    with pytest.raises((ValueError, TypeError, LookupError, OverflowError)):
        read(HOSTILE[name])


LARGE = b"X" + (4000).to_bytes(4, "little") + b"a" * 4000
HUGE = b"\x8b" + (200).to_bytes(4, "little") + b"\x7f" * 200
LIMITS = {
    "marks": (b"(" * 12_000_000, "marks"),
    "arguments": (b"cos\nsystem\n(" + b"N" * 65 + b"tR.", "arguments"),
    "a name": (LARGE + b"q\x000" + (b"h\0h\0\x930" * 9) + b"N.", "characters of a name"),
    "an integer": (HUGE + b".", "bits of an integer"),
    "a key": (b"}\x8a\x09" + b"\x7f" * 9 + b"Ns.", "bits of a key"),
    "a number": (b"Np" + b"9" * 30 + b"\n.", "bits of a number"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_few_bytes_cost_little(name: str) -> None:
    """Each of these would cost more than a pickle of its length may, repeated as often as fits."""
    data, what = LIMITS[name]
    assert _peak(data, what) < 8 << 20


MANY = {
    "dicts": b"}" * (1 << 22) + b".", "lists": b"]" * (1 << 22) + b".",
    "tuples": b"N\x85" * (1 << 21) + b".", "names": b"cos\nsystem\n" * (1 << 22) + b".",
    "numbers": b"N" + b"\x94" * (1 << 22) + b".", "nothing": b"N0" * (1 << 21) + b"N.",
    "integers": b"J\x00\x00\x00\x7f" * (1 << 21) + b".",
    "constants": b"}(" + b"N" * (1 << 22) + b".",
    "texts": (b"X\x00\x04\x00\x00" + b"a" * 1024) * (1 << 15) + b".",
    "items": b"](" + b"h\0" * (1 << 22) + b"e.",
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MANY)
def test_many_opcodes_take_no_more_than_their_room(name: str) -> None:
    """Deflated, each is a file of a few KiB, and with the limit of opcodes alone would be read."""
    data = MANY[name] if name != "items" else b"Nq\x00" + MANY[name]
    assert _peak(data, "bytes of values") < pickles.ROOM * 1.25


def test_a_name_is_one_object_however_often_it_is_met() -> None:
    found: Any = read(b"](" + b"cos\nsystem\n" * 3 + b"cos\npath\ne.")
    assert [each.name for each in found] == ["os.system"] * 3 + ["os.path"]
    assert len({id(each) for each in found}) == 2


def test_a_large_file_has_more_room() -> None:
    data = b"](" + b"}" * 200_000 + b"e."
    made: Any = plain_value(data, lambda name, _: name, lambda pid: pid, len(data) * 4)
    assert len(made) == 200_000
    with pytest.raises(ValueError, match="bytes of values"):
        read(data)


def _peak(data: bytes, what: str) -> int:
    """The most memory that is taken until it is said that there is too much of something."""
    tracemalloc.start()
    with pytest.raises(ValueError, match=f"its pickle has more than [0-9,]+ {what}"):
        read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    with suppress(ValueError, TypeError, LookupError, OverflowError):
        read(b"\x80\x04(]}" + data + b".")
