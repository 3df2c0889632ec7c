"""Kernels of a run compiled for targets, many at a time: their texts, or their passes as well."""

from __future__ import annotations

from typing import Final

USUAL: Final = ("sm_90", "gfx942")
"""The targets whose texts an exported file shows unasked: those that a page shows first."""
