"""What an exported file holds besides its page and answers: its version, and the trace that it was
made from; and how both are found again.

Version 1 had no trace and did not say its version. A file without a trace is one of those, or its
budget had no room. Unpacks to a folder, in pieces, and never more than MAX_TRACE bytes.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from core.errors import TraceError
from viz.format.schema import SUFFIX

VERSION: Final = 2
LEVEL: Final = 6
"""Of gzip: 9 takes 5% of the time of an export, and makes files that are 1% smaller."""
MAX_TRACE: Final = 1 << 30
"""Bytes that all the files of a trace may unpack to."""
MAX_FILES: Final = 256
_PIECE: Final = 1 << 20
_VERSION: Final = re.compile(r'<meta name="uopviz-export" content="(\d{1,6})"')
_TRACE: Final = re.compile(
    r'<script type="application/octet-stream" id="uopviz-trace-\d+">([A-Za-z0-9+/=]*)</script>'
)


def version_tag() -> str:
    """The element of the page's head that states the version."""
    return f'<meta name="uopviz-export" content="{VERSION}" />'


def version_of(html: str) -> int:
    """The version of an exported file."""
    found = _VERSION.search(html.partition("</head>")[0])
    return int(found[1]) if found else 1


def is_export(head: bytes) -> bool:
    """Whether a file that begins like this is an exported file; one of version 1 is not known by
    that."""
    return b'<meta name="uopviz-export" content="' in head


def attached(files: Sequence[Path]) -> str:
    """The elements that hold the files of a trace, the main one first."""
    return "".join(
        f'<script type="application/octet-stream" id="uopviz-trace-{i}">{_pack(file)}</script>\n'
        for i, file in enumerate(files)
    )


def detach(html: str, folder: Path) -> Path | None:
    """Writes the trace of an exported file to `folder`; its main file, or None where there is no
    trace. Raises TraceError where it is damaged."""
    main = folder / f"run{SUFFIX}"
    left = MAX_TRACE
    found = _TRACE.finditer(html)
    for i, match in zip(range(MAX_FILES), found, strict=False):
        path = main.with_suffix(f".p{i:04}{SUFFIX}") if i else main
        left -= _unpack(match[1], path, left)
    return main if main.exists() else None


def _pack(file: Path) -> str:
    return base64.b64encode(gzip.compress(file.read_bytes(), LEVEL, mtime=0)).decode()


def _unpack(packed: str, path: Path, most: int) -> int:
    """Bytes that were written to `path`."""
    size = 0
    try:
        data = io.BytesIO(base64.b64decode(packed, validate=True))
        with gzip.open(data) as source, path.open("xb") as file:
            while piece := source.read(_PIECE):
                size += file.write(piece)
                if size > most:
                    raise ValueError("too large")
    except (gzip.BadGzipFile, zlib.error, EOFError, binascii.Error, ValueError) as error:
        raise TraceError(
            f"the trace in this exported file is damaged ({error})",
            hint="what the page shows is still here",
        ) from error
    return size
