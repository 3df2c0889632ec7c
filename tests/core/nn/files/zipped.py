"""Zip archives for tests."""

from __future__ import annotations

import io
import zipfile


def zipped(members: dict[str, bytes], compressed: bool = False) -> bytes:
    into = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(into, "w", kind) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return into.getvalue()
