"""The built page of viz/web: three files, looked up among known names, never on the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Final

DIST: Final = Path(__file__).resolve().parents[1] / "web" / "dist"
FILES: Final = {
    "index.html": "text/html; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "app.css": "text/css; charset=utf-8",
}


def page_file(name: str, folder: Path | None = None) -> bytes | None:
    """One of FILES, of the page in `folder` (that of this installation); None where it has not been
    built."""
    try:
        return ((folder or DIST) / name).read_bytes()
    except OSError:
        return None
