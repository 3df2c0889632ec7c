"""The form of the text that says where a node comes from: "file:line", or "file:line call" with the
name of the public call on that line, such as "model.py:12 relu". Knows no node."""

from __future__ import annotations

import re
from typing import Final

_FORM: Final = re.compile(r"(.*:\d{1,9})(?: (.*))?", re.DOTALL)


def split_origin(origin: str) -> tuple[str, str]:
    """("file:line", call); the call is "" where the text has none."""
    found = _FORM.fullmatch(origin)
    return (found[1], found[2] or "") if found else (origin, "")
