"""Takes the numbers by which texts name their values out of them, as columns, and puts them back.

In the texts of kernels most lines are like others but for such numbers: `%v43 = mul i32 %v42, 8,
!dbg !59`. Without them the lines repeat each other, and take less than half of the bytes; the
numbers are near each other, so that their differences are small. Of a line, the first number is
told as its difference to that of the line before that has any; a further one by how far it is
before the first; of one that refers to a line of another listing ("!" stands before it), that
distance mostly is the one of the last such number. Knows no language of texts; never allocates
what a count claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from viz.budget import take
from viz.format.pack import MAX_COUNT, MAX_RAW, Ints

_SLOT: Final = 1
"""The byte that stands in the place of a number: JSON has no such character."""
_DIGITS: Final = 9
"""A longer number stays where it is."""
_VALUE, _REFERENCE = ord("%"), ord("!")
_ZERO, _ESCAPE, _N = ord("0"), ord("\\"), ord("n")
Bytes = npt.NDArray[np.uint8]
Numbers = tuple[Ints, Ints, Ints]
"""The first number of each line; how far further ones are before it; the same of references."""


def take_out(raw: bytes) -> tuple[bytes, Numbers]:
    """JSON text with a byte in place of each number of a value (after "%" and any other byte, or
    after "!"), and these numbers; all of it, and none, where there are too many."""
    text = np.frombuffer(raw, np.uint8)
    is_digit = np.zeros(len(text) + 2, np.bool_)
    is_digit[1:-1] = text - _ZERO < 10  # what is less than "0" wraps around
    edges = np.flatnonzero(is_digit[1:] != is_digit[:-1])
    starts, ends = edges[::2], edges[1::2]
    inside = starts >= 2
    starts, ends = starts[inside], ends[inside]
    named = (text[starts - 1] == _REFERENCE) | (text[starts - 2] == _VALUE)
    sizes = ends - starts
    named &= (sizes <= _DIGITS) & ((text[starts] != _ZERO) | (sizes == 1))
    starts, sizes = starts[named], sizes[named]
    if len(starts) > MAX_COUNT or _SLOT in raw:
        starts, sizes = starts[:0], sizes[:0]
    values = np.zeros(len(starts), np.int64)
    stays = np.ones(len(text), np.bool_)
    for place in range(int(sizes.max(initial=0))):
        longer = sizes > place
        digits = starts[longer] + place
        values[longer] = values[longer] * 10 + (text[digits] - _ZERO)
        stays[digits] = place == 0
    made = text.copy()
    made[starts] = _SLOT
    template = made[stays]
    is_first, is_reference, first = _classes(template)
    before = values[is_first][first] - values
    numbers = values[is_first], before[~is_first & ~is_reference], before[is_reference]
    return template.tobytes(), numbers


def put_back(template: bytes, numbers: Sequence[Ints]) -> bytes:
    """The text that `take_out` was given. Raises TraceError where the numbers do not fit."""
    firsts, before, references = numbers
    count = template.count(_SLOT)
    if count != sum(map(len, numbers)):
        raise _damaged("the numbers in them do not fit")
    if len(template) + _DIGITS * count > MAX_RAW:
        raise _damaged("they are too large")
    take(count, 150 * count + 16 * template.count(b"\\n"))
    is_first, is_reference, first = _classes(np.frombuffer(template, np.uint8))
    is_other = ~is_first & ~is_reference
    counts = [int(which.sum()) for which in (is_first, is_other, is_reference)]
    if counts != [len(firsts), len(before), len(references)]:
        raise _damaged("the numbers in them do not fit")
    values = np.zeros(len(first), np.int64)
    values[is_first] = firsts
    for which, distances in ((is_other, before), (is_reference, references)):
        values[which] = firsts[first[which]] - distances
    if len(values) and not 0 <= int(values.min()) <= int(values.max()) < 10**_DIGITS:
        raise _damaged("a number in them is out of range")
    parts = template.split(bytes((_SLOT,)))
    made = [b""] * (2 * len(parts) - 1)
    made[::2] = parts
    made[1::2] = [b"%d" % value for value in values.tolist()]
    return b"".join(made)


def _classes(template: Bytes) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], Ints]:
    """Of each number that was taken out: whether it is the first of its line, whether it is a
    further one that is a reference, and which of the first ones is that of its line."""
    slots = np.flatnonzero(template == _SLOT)
    breaks = np.flatnonzero((template[:-1] == _ESCAPE) & (template[1:] == _N))
    lines = np.searchsorted(breaks, slots)
    is_first = np.diff(lines, prepend=-1) != 0
    is_reference = (template[slots - 1] == _REFERENCE) & ~is_first
    return is_first, is_reference, np.cumsum(is_first) - 1


def _damaged(how: str) -> TraceError:
    return TraceError(
        f"a block of source texts is damaged ({how})",
        hint="what other blocks hold is still shown",
    )
