"""A variant that is kept as a row of a table: the fields that the page shows, each of its type.

What lies beside a trace may be anything: what is no such value is left out. Never reads a file.
"""

from __future__ import annotations

import math
from typing import Any, Final, cast

from viz.format.cells import as_number, as_text
from viz.whatif.variants.tried import Tried
from viz.whatif.variants.variant import MAX_SKIPPED

Data = dict[str, Any]
_WORD: Final = 300
_SENTENCE: Final = 2000
_NOTES: Final = 20
_CHANGED: Final = 200
_COUNTS: Final = ("instructions", "registers", "lines")
_TIMES: Final = ("ratio", "low", "high", "old", "new")
_MOST: Final = 1 << 53


def variant_row(one: Tried) -> Data:
    """A row in the form `VariantRow` of the page."""
    found = one.found
    said = _fields(found.get("variant"))
    stop, opts = said.get("stop_after"), said.get("opts")
    return {
        "number": one.number,
        "kernel": one.kernel,
        "name": one.name,
        "variant": {
            "skip": _texts(said.get("skip"), MAX_SKIPPED),
            "stop_after": _count(stop),
            "inside": as_text(said.get("inside"), _WORD),
            "opts": opts[:_SENTENCE] if isinstance(opts, str) else None,
            "target": as_text(said.get("target"), _WORD),
            "edited": as_text(_fields(said.get("text")).get("kind"), _WORD),
            "said": as_text(said.get("said"), _SENTENCE),
        },
        "error": _error(found.get("error")),
        "device": as_text(found.get("device"), _WORD) or None,
        "outcome": _outcome(found.get("outcome")),
        "times": _times(found.get("times")),
        "code": _code(found.get("code")),
        "oldCode": _code(found.get("oldCode")),
        "opts": found["opts"][:_SENTENCE] if isinstance(found.get("opts"), str) else None,
        "notes": _texts(found.get("notes"), _NOTES),
        "changed": [
            text
            for row in _list(found.get("changed"))[:_CHANGED]
            if (text := as_text(_fields(row).get("said"), _WORD))
        ],
    }


def _error(data: object) -> Data | None:
    fields = _fields(data)
    return (
        {k: as_text(fields.get(k), _SENTENCE) for k in ("what", "where", "hint")}
        if fields
        else None
    )


def _outcome(data: object) -> Data | None:
    fields = _fields(data)
    if not isinstance(fields.get("equal"), bool):
        return None
    return {"equal": fields["equal"], "said": as_text(fields.get("said"), _SENTENCE)}


def _times(data: object) -> Data | None:
    fields = _fields(data)
    values = {name: _number(fields.get(name)) for name in _TIMES}
    if None in values.values():
        return None
    return {**values, "turns": _count(fields.get("turns")) or 0}


def _code(data: object) -> Data | None:
    fields = _fields(data)
    if not fields:
        return None
    counts = {name: _count(fields.get(name)) for name in _COUNTS}
    return {**counts, "text": as_text(fields.get("text"), _WORD)}


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < _MOST else None


def _number(value: object) -> float | None:
    number = as_number(value, math.nan)  # an integer may be larger than any float
    return None if math.isnan(number) else number


def _texts(data: object, most: int) -> list[str]:
    return [as_text(text, _SENTENCE) for text in _list(data)[:most]]


def _list(data: object) -> list[Any]:
    return cast("list[Any]", data) if isinstance(data, list) else []


def _fields(data: object) -> Data:
    return cast("Data", data) if isinstance(data, dict) else {}
