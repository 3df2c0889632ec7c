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
BUILD: Final = "npm --prefix viz/web ci && npm --prefix viz/web run build"
"""What builds the page, in a checkout."""
NOT_BUILT: Final = "the page has not been built"


def is_built() -> bool:
    """Whether there is a page to be served."""
    return (DIST / "index.html").is_file()


def page_file(name: str, folder: Path | None = None) -> bytes | None:
    """One of FILES, of the page in `folder` (that of this installation); None where it has not been
    built."""
    try:
        return ((folder or DIST) / name).read_bytes()
    except OSError:
        return None
