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
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from core.errors import TraceError
from viz.format.schema import SUFFIX
from viz.views.compiled import MAX_FILES, path_of
from viz.views.process import MAX_PROCESSES

VERSION: Final = 2
LEVEL: Final = 6
"""Of gzip: 9 takes 5% of the time of an export, and makes files that are 1% smaller."""
MAX_TRACE: Final = 1 << 30
"""Bytes that all the files of a trace may unpack to."""
_PIECE: Final = 1 << 20
_VERSION: Final = re.compile(r'<meta name="uopviz-export" content="(\d{1,6})"')
_TRACE: Final = re.compile(
    r'<script type="application/octet-stream" id="uopviz-trace-(\d{1,7})">'
    r"([A-Za-z0-9+/=]*)</script>"
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


def attached(files: Mapping[int, Path]) -> str:
    """The elements that hold the files of a trace, by their numbers in the run."""
    return "".join(
        f'<script type="application/octet-stream" id="uopviz-trace-{i}">{_pack(file)}</script>\n'
        for i, file in files.items()
    )


def detach(html: str, folder: Path) -> Path | None:
    """Writes the trace of an exported file to `folder`; its main file, or None where there is no
    trace. Raises TraceError where it is damaged."""
    main = folder / f"run{SUFFIX}"
    left = MAX_TRACE
    found = _TRACE.finditer(html)
    for match in islice(found, MAX_PROCESSES + MAX_FILES):
        left -= _unpack(match[2], path_of(main, int(match[1])), left)
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
