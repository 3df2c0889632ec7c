"""Proofs that a recording of this user named a source file.

A trace may name any file of the machine that shows it, and must not reveal whether that file is
there or what is in it. So a recording signs each file that it has read, by its path and digest,
with a key that lies in the user's cache folder and that only this user can read; a viewer looks at
a file again only where the trace has that signature. A stranger can at most repeat a signature from
a trace of the user's own. Never opens the files themselves.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from core.errors import TraceError
from core.private import read_own
from viz.environment import cache_folder, private_folder
from viz.files.regular import create_new

KEY: Final = "vouching-key"
"""Name of the file of the key, in the cache folder."""
_BYTES: Final = 32
_DIGITS: Final = 32
"""Hexadecimal digits of a signature."""


def vouch(path: str, digest: str) -> str:
    """The signature of a file that this process has read; "" where the user has no folder for a
    key. Makes the key where there is none yet."""
    with suppress(OSError, TraceError):
        folder = cache_folder()
        key = _read(folder / KEY) or _make(folder)
        return _sign(key, path, digest) if key else ""
    return ""


def is_vouched(path: str, digest: str, proof: str) -> bool:
    """Whether a recording of this user made this signature for this file."""
    with suppress(OSError, TraceError):
        key = _read(cache_folder() / KEY) if proof else None
        return key is not None and hmac.compare_digest(
            _sign(key, path, digest).encode(), proof.encode("utf-8", "replace")
        )
    return False


def _sign(key: bytes, path: str, digest: str) -> str:
    said = f"{digest}\0{path}".encode("utf-8", "surrogatepass")
    return hmac.new(key, said, hashlib.sha256).hexdigest()[:_DIGITS]


def _read(path: Path) -> bytes | None:
    """The key; None where there is none, or where others could have written or read it."""
    key = read_own(path, _BYTES + 1)
    return key if key is not None and len(key) == _BYTES else None


def _make(folder: Path) -> bytes | None:
    """A new key, or that of another process which made one meanwhile. Raises OSError."""
    private_folder(folder)
    part = folder / f".{KEY}.{os.urandom(4).hex()}"
    try:
        with os.fdopen(create_new(part, 0o600), "wb") as file:
            file.write(os.urandom(_BYTES))
        with suppress(FileExistsError):
            os.link(part, folder / KEY)
    finally:
        part.unlink(missing_ok=True)
    return _read(folder / KEY)
