"""Type checks of untrusted values: database cells and JSON. Never touches a file."""

from __future__ import annotations

import math
from typing import Any, cast

from viz.format import schema
from viz.format.pack import read_json, take_json


def as_int(value: object, default: int = 0) -> int:
    """An integer from a cell that may hold anything."""
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def as_number(value: object, default: float = 0.0) -> float:
    """A finite number of JSON; an integer may have any number of digits, of which a float holds
    309."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return default
    try:
        number = float(value)
    except OverflowError:
        return default
    return number if math.isfinite(number) else default


def parse_json(text: object) -> Any:
    """The value of JSON text; None for anything else. Raises BudgetError."""
    if not isinstance(text, str):
        return None
    take_json(text)
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return None


def parse_object(text: object) -> dict[str, Any]:
    """The object of JSON text; an empty one for anything else."""
    found = parse_json(text)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def as_text(value: object, limit: int = schema.MAX_TEXT) -> str:
    """Text from a cell that may hold anything."""
    return value[:limit] if isinstance(value, str) else ""


def as_list(value: object) -> list[Any]:
    """A list; an empty one for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_object(value: object) -> dict[str, Any]:
    """An object; an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
