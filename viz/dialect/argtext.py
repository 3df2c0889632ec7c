"""Arguments of nodes as people write them: `{"float": 0.5}` is 0.5, `[1, 2]` is (1, 2).

Works on the typed JSON of a trace and on anything else; never fails. A dialect spells the objects
that its compiler writes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, cast

MAX_DEPTH: Final = 24
MAX_LENGTH: Final = 2000
"""Longer texts are cut, with a note of how much."""

MAX_PARSED: Final = 1 << 16
"""Longer typed JSON is shown as it is."""
_SHORT: Final = 60
_REMEMBERED: Final = 1000
"""Characters of an argument whose text is kept for the next time."""
_ESCAPED: Final = frozenset('"\\')


Show = Callable[[Any], str]
"""The text of a value inside another one."""
Spell = Callable[[Mapping[str, Any], Show], str | None]
"""The text of an object that a compiler writes in arguments; None: as any other."""


class ArgTexts:
    """The texts of arguments of one dialect, of which short ones are kept for the next time."""

    def __init__(self, spell: Spell | None = None) -> None:
        self._spell = spell
        self._remembered = lru_cache(maxsize=65536)(self._text)

    def __call__(self, text: str) -> str:
        """The argument in typed JSON `text`; JSON that is none of these is shown as it is."""
        return self._remembered(text) if len(text) <= _REMEMBERED else self._text(text)

    def _text(self, text: str) -> str:
        if _plain(text):
            return text.strip('"')
        try:
            shown = self._show(json.loads(text), 0) if len(text) <= MAX_PARSED else text
        except (ValueError, RecursionError):
            shown = text
        if not shown.isascii():  # lone surrogates, which UTF-8 does not have
            shown = shown.encode("utf-8", "replace").decode()
        if len(shown) > MAX_LENGTH:
            return f"{shown[:MAX_LENGTH]}... ({len(shown) - MAX_LENGTH} more)"
        return shown

    def _show(self, value: Any, depth: int) -> str:
        if depth > MAX_DEPTH:
            return "..."

        def show(inner: Any) -> str:
            return self._show(inner, depth + 1)

        match value:
            case list():
                items = [show(v) for v in cast("list[Any]", value)]
                return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
            case dict():
                fields = cast("dict[str, Any]", value)
                spelled = None if self._spell is None else self._spell(fields, show)
                if spelled is not None:
                    return spelled
                if len(fields) == 1:  # one tag: int, dtype, op, axis, space, repr
                    return show(next(iter(fields.values())))
                return ", ".join(f"{k}={show(v)}" for k, v in fields.items())
            case str():
                return value
            case _:
                return "None" if value is None else str(value)


def _plain(text: str) -> bool:
    """Whether it is a short number or string in JSON as it would be shown: where there are many
    arguments, most are."""
    if len(text) > _SHORT or not text.isascii():
        return False
    if text[:1] == '"':
        return (
            len(text) > 1
            and text[-1] == '"'
            and text[1:-1].isprintable()
            and not _ESCAPED & {*text[1:-1]}
        )
    return text.isdecimal() and (text[0] != "0" or text == "0")
