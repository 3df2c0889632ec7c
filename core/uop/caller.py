"""Which line of the user's program is calling, and the block in which new nodes are marked with it.

The only module that looks at frames. Never changes what a call returns.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from core.uop.origin import split_origin
from core.uop.uop import creating

CORE: Final = f"{Path(__file__).parent.parent}{os.sep}"
"""The folder of this package."""


def user_line(
    frame: FrameType | None, call: str, own: str = CORE, users: str | None = None
) -> str | None:
    """ "file:line call" of the first frame, from `frame` outwards, that is not in the folder `own`
    (package core by default); code in the folder `users` of it counts as the user's."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(own) or (users is not None and name.startswith(users)):
            return f"{name}:{frame.f_lineno} {call}"
        frame = frame.f_back
    return None


def here() -> str:
    """The user's line in force, for error messages; "" where there is none."""
    return split_origin(creating.origin or "")[0]


@contextmanager
def origin(line: str | None) -> Generator[None]:
    """Marks nodes made in the block with `line` instead of the line in force."""
    saved, creating.origin = creating.origin, line
    try:
        yield
    finally:
        creating.origin = saved
