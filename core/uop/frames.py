"""The frames of callers, and where they are written. The only module that asks the interpreter for
frames."""

from __future__ import annotations

import sys
from types import FrameType


def caller_frame(depth: int = 0) -> FrameType:
    """The frame that called the function that calls this; or the one `depth` calls above that."""
    return sys._getframe(depth + 2)  # pyright: ignore[reportPrivateUsage] - there is no other way


def caller_place(depth: int) -> str:
    """ "file:line" of the frame `depth` calls above the caller."""
    frame = caller_frame(depth)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
