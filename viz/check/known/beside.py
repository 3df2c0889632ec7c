"""The results of checks in the file beside a trace, taken up by a run that is open, and kept there.

The file is read again where it has changed: a command may check the trace meanwhile.
"""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from viz.check.known.kept import identity, kept_path, load, save
from viz.views.checks import Checks
from viz.views.compiled import FIRST
from viz.views.process import STRIDE
from viz.views.store import Store


def take_kept(store: Store) -> Checks:
    """What is known of the passes of a run, with what lies beside its trace."""
    state = _state(kept_path(store.path))
    if state is not None and state != store.checks.read:
        store.checks.read = state
        if (of := _identity(store.path)) is not None:
            known = store.checks.whole()
            for number, checked in load(store.path, of).items():
                if number not in known and store.scope_of(number) is not None:
                    store.checks.add(checked)
    return store.checks


def keep(store: Store) -> bool:
    """Keeps what is known of whole passes beside the trace; whether that was possible. What a
    program still writes is kept in memory alone, and so is what was compiled on request."""
    checks = take_kept(store)
    if store.live or (of := _identity(store.path)) is None:
        return False
    own = {number for number in checks.whole() if number < FIRST * STRIDE}
    passes = {checked["rewrite"]: checked for checked, _ in checks if checked["rewrite"] in own}
    if not passes or not save(store.path, of, passes):
        return False
    checks.read = _state(kept_path(store.path))
    return True


def _identity(trace: Path) -> dict[str, Any] | None:
    """`identity`, hashed once for each state of the trace; None where it cannot be read."""
    state = _state(trace)
    try:
        return None if state is None else _hashed(trace, state)
    except OSError:
        return None


@lru_cache(maxsize=8)
def _hashed(trace: Path, state: tuple[int, ...]) -> dict[str, Any]:
    return identity(trace)


def _state(path: Path) -> tuple[int, ...] | None:
    """What changes when a file is written; None where it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
