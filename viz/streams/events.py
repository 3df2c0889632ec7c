"""The events of a stream, as lines of JSON: see docs/stream.md. A stream is hostile input: what is
not as described becomes a Problem, and nothing is looked up, imported or evaluated."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

VERSION: Final = 1
MAX_LINE: Final = 1 << 26
"""Bytes of a line."""
_LARGEST: Final = 1 << 53


class StreamError(Exception):
    """An event is not as docs/stream.md says; its text says how."""


class Event:
    """One event: its kind, and its values in order. The methods give the value at a place as what
    it has to be, or raise StreamError; a default makes it optional."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values
        self.kind = str(values[0])

    def has(self, at: int) -> bool:
        """Whether there is a value at this place."""
        return at < len(self._values) and self._values[at] is not None

    def pairs(self, at: int) -> list[tuple[str, int]]:
        """An object of numbers, as pairs; none where it is missing."""
        found = self.fields(at).values
        if not all(type(n) is int and 0 <= n < _LARGEST for n in found.values()):
            raise StreamError(f"{self.kind}: value {at} is no object of numbers")
        return [*found.items()]

    def rows(self, at: int) -> list[tuple[int, str, int]]:
        """A list of [number, text, number]; none where it is missing."""
        value = self._at(at, [])
        rows = cast("list[Any]", value) if isinstance(value, list) else [None]
        made: list[tuple[int, str, int]] = []
        for row in rows:
            of = cast("list[Any]", row) if isinstance(row, list) else []
            if [type(one) for one in of] != [int, str, int] or not 0 <= of[2] < _LARGEST:
                raise StreamError(f"{self.kind}: value {at} is no list of rows")
            made.append((of[0], of[1], of[2]))
        return made

    def number(self, at: int, default: int | None = None) -> int:
        """A number that is not negative."""
        value = self._at(at, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _LARGEST:
            raise StreamError(f"{self.kind}: value {at} is no number")
        return value

    def text(self, at: int, default: str | None = None) -> str:
        """A text."""
        value = self._at(at, default)
        if not isinstance(value, str):
            raise StreamError(f"{self.kind}: value {at} is no text")
        return value

    def numbers(self, at: int) -> list[int]:
        """A list of numbers."""
        value = self._at(at, None)
        if not isinstance(value, list):
            raise StreamError(f"{self.kind}: value {at} is no list")
        found = cast("list[Any]", value)
        if not all(type(n) is int and 0 <= n < _LARGEST for n in found):
            raise StreamError(f"{self.kind}: value {at} is no list of numbers")
        return found

    def fields(self, at: int) -> Fields:
        """An object; an empty one where there is none."""
        value = self._values[at] if at < len(self._values) else None
        if value is None:
            return Fields(self.kind, {})
        if not isinstance(value, dict):
            raise StreamError(f"{self.kind}: value {at} is no object")
        return Fields(self.kind, cast("dict[str, Any]", value))

    def _at(self, at: int, default: object) -> object:
        if at < len(self._values):
            return self._values[at]
        if default is None:
            raise StreamError(f"{self.kind}: it has {len(self._values) - 1} values")
        return default


class Fields:
    """An object of an event, whose fields may be missing."""

    def __init__(self, kind: str, values: Mapping[str, Any]) -> None:
        self._kind, self.values = kind, values

    def text(self, name: str) -> str:
        """A text, "" where there is none."""
        value = self.values.get(name, "")
        if not isinstance(value, str):
            raise StreamError(f"{self._kind}: {name} is no text")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts, an empty one where there is none."""
        value = self.values.get(name)
        found = cast("list[Any]", value) if isinstance(value, list) else []
        if value is not None and not (
            isinstance(value, list) and all(isinstance(one, str) for one in found)
        ):
            raise StreamError(f"{self._kind}: {name} is no list of texts")
        return found

    def number(self, name: str) -> int:
        """A number, 0 where there is none."""
        value = self.values.get(name, 0)
        if type(value) is not int or not 0 <= value < _LARGEST:
            raise StreamError(f"{self._kind}: {name} is no number")
        return value

    def flag(self, name: str) -> bool:
        """A truth value, False where there is none."""
        return self.values.get(name) is True


def encode(event: Sequence[Any]) -> bytes:
    """The line of an event."""
    return json.dumps(event, separators=(",", ":")).encode()


def parse(line: bytes) -> Event:
    """The event of a line. Raises StreamError."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise StreamError("a line is not JSON") from error
    if not isinstance(values, list) or not values or not isinstance(values[0], str):
        raise StreamError("a line is not an array that begins with a kind")
    return Event(cast("list[Any]", values))
