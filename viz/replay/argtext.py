"""Arguments of nodes as people write them: `{"float": 0.5}` is 0.5, a ShapeTracker its strides.

Works on the typed JSON of a trace (core/uop/args.py) and on anything else; never fails.
"""

from __future__ import annotations

import json
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


def arg_text(text: str) -> str:
    """The argument in typed JSON `text`; JSON that is none of these is shown as it is."""
    return _remembered(text) if len(text) <= _REMEMBERED else _arg_text(text)


def _arg_text(text: str) -> str:
    if _plain(text):
        return text.strip('"')
    try:
        shown = _show(json.loads(text), 0) if len(text) <= MAX_PARSED else text
    except (ValueError, RecursionError):
        shown = text
    if not shown.isascii():  # lone surrogates, which UTF-8 does not have
        shown = shown.encode("utf-8", "replace").decode()
    if len(shown) > MAX_LENGTH:
        return f"{shown[:MAX_LENGTH]}... ({len(shown) - MAX_LENGTH} more)"
    return shown


_remembered = lru_cache(maxsize=65536)(_arg_text)


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


def _show(value: Any, depth: int) -> str:
    if depth > MAX_DEPTH:
        return "..."
    match value:
        case list():
            items = [_show(v, depth + 1) for v in cast("list[Any]", value)]
            return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
        case {"float": inner}:
            return str(inner)
        case {"view": dict() as view}:
            return _view(cast("dict[str, Any]", view), depth)
        case {"shapetracker": list() as views}:
            return " of ".join(
                _view(cast("dict[str, Any]", v), depth) if isinstance(v, dict) else "?"
                for v in reversed(cast("list[Any]", views))
            )
        case {"opt": {"op": op, "axis": axis, "arg": arg}}:
            given = [_show(v, depth + 1) for v in (axis, arg) if v is not None]
            return f"{op}({', '.join(given)})"
        case {"tensorcore": {"name": name}}:
            return _show(name, depth + 1)
        case {"kernelinfo": {"name": name, "opts": opts}}:
            return f"{name}" if opts is None else f"{name} {_show(opts, depth + 1)}"
        case dict():
            fields = cast("dict[str, Any]", value)
            if len(fields) == 1:  # one tag: int, dtype, op, axis, space, repr
                return _show(next(iter(fields.values())), depth + 1)
            return ", ".join(f"{k}={_show(v, depth + 1)}" for k, v in fields.items())
        case str():
            return value
        case _:
            return "None" if value is None else str(value)


def _view(view: dict[str, Any], depth: int) -> str:
    """`4x8 strides 8,1`, then the offset and the mask where there are any."""

    def shown(value: Any) -> list[str]:
        return [_show(n, depth + 1) for n in _list(value)]

    made = "x".join(shown(view.get("shape"))) or "scalar"
    if strides := shown(view.get("strides")):
        made += f" strides {','.join(strides)}"
    if view.get("offset"):
        made += f" offset {_show(view['offset'], depth + 1)}"
    if view.get("mask") is not None:
        made += " mask " + ",".join("-".join(shown(pair)) for pair in _list(view["mask"]))
    return made


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
