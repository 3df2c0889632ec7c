"""Figures as the page writes them, read back."""

from __future__ import annotations

from typing import Final

UNITS: Final = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}
ROUNDED: Final = 0.0051
"""How far a time of three digits may be from what it stands for, relative to it."""


def microseconds(shown: str) -> float:
    """A time such as "4.96 µs"."""
    number, unit = shown.split()
    return float(number.replace(",", "")) * UNITS[unit]
