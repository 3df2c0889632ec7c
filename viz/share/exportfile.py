"""What an exported file holds besides its page and answers: its version, the names of its runs, and
the traces that it was made from; and how they are read back.

Version 1 had no trace and did not say its version. A file without a trace is one of those, or its
budget had no room. Versions 1 and 2 hold one run, and their answers do not name it; up to 3, passes
are not dense (`viz/share/packed/dense.py`). Unpacks to a folder, in pieces, and never more than
MAX_TRACE bytes.
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
from viz.views.kernels.compiled import MAX_FILES, path_of
from viz.views.runs.process import MAX_PROCESSES
from viz.views.runs.run import FIRST, NAMES, base_of

VERSION: Final = 4
LEVEL: Final = 6
"""Of gzip: 9 takes 5% of the time of an export, and makes files that are 1% smaller."""
MAX_TRACE: Final = 1 << 30
"""Bytes that all the files of all traces may unpack to."""
_PIECE: Final = 1 << 20
_VERSION: Final = re.compile(r'<meta name="uopviz-export" content="(\d{1,6})"')
NAMES_WITHIN: Final = 1 << 12
"""Characters of a file within which it names its runs."""
_NAMED: Final = re.compile(rf'<meta name="uopviz-runs" content="([{NAMES}]{{1,{len(NAMES)}}})"')
_TRACE: Final = re.compile(
    rf'<script type="application/octet-stream" id="uopviz-trace-(?:([{NAMES}])-)?(\d{{1,7}})">'
    r"([A-Za-z0-9+/=]*)</script>"
)


def version_tag(runs: int) -> str:
    """The elements of the page's head that state the version, and the names of this many runs."""
    named = f'<meta name="uopviz-runs" content="{NAMES[:runs]}" />'
    return f'<meta name="uopviz-export" content="{VERSION}" />\n    {named}'


def names_in(html: str) -> str:
    """The names of the runs in an exported file, a letter each, in their order."""
    found = _NAMED.search(html[:NAMES_WITHIN])
    return found[1] if found and NAMES.startswith(found[1]) else FIRST


def held_base(version: int, name: str) -> str:
    """The prefix of the paths of the answers about a run, in a file of this version."""
    return base_of(name) if version > 2 else "/api"


def version_of(html: str) -> int:
    """The version of an exported file."""
    found = _VERSION.search(html.partition("</head>")[0])
    return int(found[1]) if found else 1


def is_export(head: bytes) -> bool:
    """Whether a file that begins like this is an exported file; version 1 cannot be told by
    that."""
    return b'<meta name="uopviz-export" content="' in head


def attached(files: Mapping[int, Path], name: str = FIRST) -> str:
    """The elements that hold the files of the trace of a run, by their numbers in it. Those of A
    are as they were in version 2, which finds them."""
    of = "" if name == FIRST else f"{name}-"
    kind = "application/octet-stream"
    return "".join(
        f'<script type="{kind}" id="uopviz-trace-{of}{i}">{_pack(file)}</script>\n'
        for i, file in files.items()
    )


def detach(html: str, folder: Path, name: str, most: int) -> tuple[Path | None, int]:
    """Writes the trace of a run of an exported file to `folder`, `most` bytes; its main file, or
    None where there is no trace, and how many bytes it has. Raises TraceError where it is
    damaged."""
    main = folder / f"run{SUFFIX}"
    size = 0
    found = (match for match in _TRACE.finditer(html) if (match[1] or FIRST) == name)
    for match in islice(found, MAX_PROCESSES + MAX_FILES):
        size += _unpack(match[3], path_of(main, int(match[2])), most - size)
    return (main if main.exists() else None), size


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
