"""What devices of this machine were measured to do (`viz/work/peaks.py`), kept in the cache.

By machine: a figure is never shown as that of another one. A file that holds anything else has
none. Never measures.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, cast

from core.errors import TraceError
from core.private import read_own
from viz.environment import cache_folder, private_folder
from viz.files.machine import machine_key
from viz.files.regular import create_new

FILE: Final = "peaks.json"
_MAX_FILE: Final = 1 << 16
_MOST: Final = 1e21
"""Per second; what is more is no measurement."""


def known_peaks() -> list[dict[str, Any]]:
    """What was measured on this machine, of each device: Peak[]."""
    return list(_read().get(machine_key(), {}).values())


def keep_peak(peak: Mapping[str, Any]) -> None:
    """Keeps what was measured just now; does nothing where there is no folder for it."""
    with suppress(OSError, TraceError):
        folder = cache_folder()
        private_folder(folder)
        kept = _read()
        kept.setdefault(machine_key(), {})[str(peak["device"])] = _peak(peak) or {}
        draft = folder / f".{FILE}.{os.getpid()}"
        draft.unlink(missing_ok=True)
        with os.fdopen(create_new(draft, 0o600), "w", encoding="utf-8") as file:
            json.dump(kept, file)
        draft.replace(folder / FILE)


def _read() -> dict[str, dict[str, dict[str, Any]]]:
    """All that is kept, by machine and device; what is no peak is left out."""
    with suppress(OSError, TraceError, ValueError, RecursionError):
        data = json.loads(read_own(cache_folder() / FILE, _MAX_FILE) or b"")
        machines = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        return {key: _devices(found) for key, found in machines.items()}
    return {}


def _devices(found: object) -> dict[str, dict[str, Any]]:
    devices = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {name: peak for name, of in devices.items() if (peak := _peak(of)) is not None}


def _peak(found: object) -> dict[str, Any] | None:
    """A peak from data that may be anything."""
    match found:
        case {
            "device": str(device),
            "processor": str(name),
            "flops": float(flops),
            "bytes": float(moved),
            "measured": str(when),
        } if 0 < flops < _MOST and 0 < moved < _MOST:
            texts = {"device": device[:100], "processor": name[:200], "measured": when[:40]}
            return {**texts, "flops": flops, "bytes": moved}
        case _:
            return None
