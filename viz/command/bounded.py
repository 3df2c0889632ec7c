"""JSON answers of a bounded size: the caller, a person's script or an assistant, reads no more
than was asked for, and is told what is not there.

Rows at the end of lists go first, as many of each list, then ends of texts. What an answer lost is
said beside it, as `cut`. Never changes an answer that fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from core.errors import TraceError
from viz.terminal import json_text

ROWS: Final = 1000
"""Items of a list, unless more are asked for; CHARACTERS of a whole answer."""
CHARACTERS: Final = 16_000
_TEXTS: Final = (4000, 1000, 300, 100)
"""Lengths to which texts are cut, one after the other."""
_ALL: Final = 1 << 60
_ENOUGH: Final = 10
"""Rows that should be there before texts are cut further."""
_CELLS: Final = 64
"""Numbers and short texts that belong together, such as the cells of a row, are not parted."""
_SAID: Final = 20
"""Lists that are named as cut."""


@dataclass(frozen=True)
class Bounds:
    """How much an answer may have: items of a list, characters in all; None: any number."""

    rows: int | None = ROWS
    characters: int | None = CHARACTERS


class Answer(NamedTuple):
    """An answer as JSON, and whether something was cut."""

    text: str
    is_cut: bool


def bounded(data: Any, bounds: Bounds, hint: str) -> Answer:
    """The answer, cut where it is larger than its bounds; `hint` says how to ask for less. Raises
    TraceError where nothing that can be cut is left."""
    rows = _ALL if bounds.rows is None else bounds.rows
    characters = _ALL if bounds.characters is None else bounds.characters
    if _size(data, characters) <= characters:
        made = _Cutting(rows, _ALL).answer(data, hint)
        if len(made.text) <= characters:
            return made
    best: Answer | None = None
    for length in _TEXTS:
        found, count = _most_rows(data, characters, rows, length, hint)
        best = found or best
        if count >= _ENOUGH:
            break
    if best is None:
        raise TraceError(
            f"this answer does not fit into {characters:,} characters",
            hint="allow more: --characters N, or --whole",
        )
    return best


def _size(data: Any, enough: int) -> int:
    """At least how many characters an answer has: counted no further than to `enough`."""
    size, stack = 0, [data]
    while stack and size <= enough:
        value = stack.pop()
        if isinstance(value, str):
            size += len(value)
        elif isinstance(value, Mapping):
            stack += cast("Mapping[str, Any]", value).values()
        elif isinstance(value, list | tuple):
            items = cast("list[Any]", value)
            size += 2 * len(items)
            stack += items if len(items) <= enough else []
    return size


def _most_rows(
    data: Any, characters: int, rows: int, length: int, hint: str
) -> tuple[Answer | None, int]:
    """The answer with as many rows as fit, where texts have this length, and how many; None and 0
    where not even one does."""
    best, fits, limit = None, 0, 1
    while True:  # from below: an answer may be a thousand times too large
        cutting = _Cutting(limit, length)
        made = cutting.answer(data, hint)
        if len(made.text) > characters:
            break
        best, fits = made, limit
        if limit >= rows or not cutting.cuts_lists:
            return best, _ALL
        limit = min(2 * limit, rows)
    while limit - fits > 1:
        middle = (fits + limit) // 2
        made = _Cutting(middle, length).answer(data, hint)
        if len(made.text) <= characters:
            best, fits = made, middle
        else:
            limit = middle
    return best, fits


class _Cutting:
    """Cuts every list to `rows` items and every text to `length` characters."""

    def __init__(self, rows: int, length: int) -> None:
        self._rows, self._length = rows, length
        self._lists: dict[str, tuple[int, int]] = {}
        """By the place of lists: the items shown, and all, of the longest one there."""
        self._texts = 0

    @property
    def cuts_lists(self) -> bool:
        """Whether a list was longer."""
        return bool(self._lists)

    def answer(self, data: Any, hint: str) -> Answer:
        """The whole answer, with what was cut."""
        kept = self._kept(data, "")
        if not self._lists and not self._texts:
            return Answer(json_text(kept), False)
        if not isinstance(kept, dict):
            kept = {"items": kept}
        places = sorted(self._lists.items(), key=lambda item: item[1][0] - item[1][1])
        said = {
            "lists": [
                {"at": at or "items", "shown": shown, "of": of}
                for at, (shown, of) in places[:_SAID]
            ],
            "moreLists": max(0, len(places) - _SAID),
            "texts": self._texts,
            "hint": hint,
        }
        return Answer(json_text({**cast("dict[str, Any]", kept), "cut": said}), True)

    def _kept(self, value: Any, at: str) -> Any:
        if isinstance(value, str):
            if len(value) <= self._length:
                return value
            self._texts += 1
            return f"{value[: self._length]}... ({len(value) - self._length:,} more characters)"
        if isinstance(value, Mapping):
            fields = cast("Mapping[str, Any]", value)
            return {k: self._kept(v, f"{at}.{k}" if at else str(k)) for k, v in fields.items()}
        if not isinstance(value, list | tuple):
            return value
        items = cast("list[Any]", value)
        plain = not any(isinstance(item, list | tuple | Mapping) for item in items[:_CELLS])
        most = max(self._rows, _CELLS) if plain and _are_cells(items) else self._rows
        if len(items) > most:
            shown, of = self._lists.get(at, (0, 0))
            if len(items) - most > of - shown:
                self._lists[at] = most, len(items)
        return [self._kept(item, f"{at}[]") for item in items[:most]]


def _are_cells(items: list[Any]) -> bool:
    """Whether these belong together, as far as that can be told: few, and short."""
    texts = sum(len(item) for item in items[:_CELLS] if isinstance(item, str))
    return texts <= 40 * _CELLS
