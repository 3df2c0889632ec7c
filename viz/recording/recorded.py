"""What a finished recording holds, in a few words for the end of the program.

Reads the files that the recorder has written, and never fails: what cannot be read is not said.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing, suppress
from glob import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

from viz.format import schema

_COUNTS: Final = f"""SELECT (SELECT count(*) FROM contexts WHERE kind = 'kernel'),
(SELECT count(*) FROM rewrites)
  + (SELECT coalesce(sum(count), 0) FROM blocks WHERE kind = {schema.REWRITES}),
(SELECT sum(matches) FROM rule_totals)
WHERE (SELECT value FROM meta WHERE key = 'run') = ?"""


def recorded(path: Path, run: str) -> str:
    """What the trace at `path` holds, with those of further processes of its run: "13 kernels, 171
    passes, 1,204 steps, 0.9 MB"; "" where it cannot be read."""
    further = path.parent.glob(f"{escape(path.stem)}.p*{escape(path.suffix)}")
    totals = [0, 0, 0]
    files = size = 0
    for file in (path, *sorted(further)):
        with suppress(sqlite3.Error, OSError):
            url = f"file:{quote(os.fsencode(file))}?mode=ro"
            with closing(sqlite3.connect(url, uri=True, timeout=0.5)) as db:
                counts = db.execute(_COUNTS, (json.dumps(run),)).fetchone() or (0, 0, 0)
            if counts[1] or file == path:
                totals = [a + (b or 0) for a, b in zip(totals, counts, strict=True)]
                size += file.stat().st_size
                files += 1
    if not files:
        return ""
    names = (("kernel", "kernels"), ("pass", "passes"), ("step", "steps"))
    said = [
        f"{n:,} {one if n == 1 else many}" for n, (one, many) in zip(totals, names, strict=True)
    ]
    said += [f"{files} processes"] if files > 1 else []
    return ", ".join([*said, f"{size / 1e6:,.1f} MB"])
