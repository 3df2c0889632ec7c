"""The file of `uopviz what-if --text`: a source text that the user has edited, and what runs it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from core.errors import TraceError
from core.isolation.edited import RUNS
from core.isolation.isolate import MAX_TEXT
from core.render.kinds import KIND
from viz.files.regular import open_regular


def edited_text(options: argparse.Namespace) -> dict[str, Any] | None:
    """The text as `EditedText.from_data` reads it; None where none is given. Raises TraceError for
    a file that is no such text, or cannot be read."""
    name: str | None = getattr(options, "text", None)
    if name is None:
        return None
    path = Path(name)
    endings = {KIND[kind].ending: kind for kind in RUNS}
    kind = endings.get(path.suffix)
    if kind is None:
        raise TraceError(
            "the ending of this file names no text that can be run",
            where=name,
            hint=f"one of {', '.join(endings)}",
        )
    try:
        with open_regular(path) as file:
            body = file.read(4 * MAX_TEXT + 1)
        text = body.decode()
    except OSError as error:
        raise TraceError(
            f"the text cannot be read: {error.strerror or error}", where=name, hint="check the name"
        ) from error
    except UnicodeDecodeError as error:
        raise TraceError("this file is no text", where=name, hint="it has to be UTF-8") from error
    return {"kind": kind, "text": text, "device": options.device or RUNS[kind]}
