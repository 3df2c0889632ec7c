"""The parts that typed JSON is made of, each looked at before it is believed.

What args.py and tiledata.py decode with. Never knows what the parts are of.
"""

from __future__ import annotations

from typing import Final, TypeAlias, cast

from core.errors import FormatError
from core.tensor_cores import Fragment, fragment

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_TEXT: Final = 1 << 20
MAX_BITS: Final = 1 << 12
MAX_RANK: Final = 256


def bad(wanted: str, got: object) -> FormatError:
    """An error that says what was expected in place of `got`."""
    shown = repr(got)
    return FormatError(
        f"expected {wanted}, got {shown[:80]}",
        where="a node's argument",
        hint="the data is damaged or was not written by this program",
    )


def text_of(data: object) -> str:
    """Text of bounded length. Raises FormatError for anything else."""
    if not isinstance(data, str) or len(data) > MAX_TEXT:
        raise bad("text", data)
    return data


def integer(data: object) -> int:
    """An integer of bounded size. Raises FormatError for anything else."""
    if isinstance(data, bool) or not isinstance(data, int) or data.bit_length() > MAX_BITS:
        raise bad("an integer", data)
    return data


def integers(data: object) -> tuple[int, ...]:
    """A list of at most MAX_RANK integers. Raises FormatError for anything else."""
    if not isinstance(data, list) or len(cast("list[object]", data)) > MAX_RANK:
        raise bad("a list of integers", data)
    return tuple(integer(item) for item in cast("list[object]", data))


def fields_of(data: object, names: tuple[str, ...]) -> dict[str, Json]:
    """An object with exactly these fields. Raises FormatError for anything else."""
    if not isinstance(data, dict):
        raise bad("an object", data)
    fields = cast("dict[str, Json]", data)
    if tuple(sorted(fields)) != tuple(sorted(names)):
        raise bad("the fields " + ", ".join(names), fields)
    return fields


def layout_of(data: Json) -> Fragment:
    """A fragment, as [lanes, elements]. Raises DTypeError where it is no layout."""
    if not isinstance(data, list) or len(data) != 2:
        raise bad("a layout", data)
    return fragment(text_of(data[0]), text_of(data[1]))
