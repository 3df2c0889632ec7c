"""Which line of the user's program is calling, and the block in which new nodes are marked with it.

Never changes what a call returns.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from core.origintext import split_origin
from core.uop.engine.origin import lines_in
from core.uop.frames import caller_frame
from core.uop.uop import creating

CORE: Final = f"{Path(__file__).parents[2]}{os.sep}"
"""The folder of this package."""


def user_line(
    frame: FrameType | None, call: str | None = None, own: str = CORE, users: str | None = None
) -> str | None:
    """ "file:line call" of the first frame, from `frame` outwards, that is not in the folder `own`
    (package core by default); code in the folder `users` of it counts as the user's. Without
    `call`, with the name of the function that the line is in; with no name where it is ""."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(own) or (users is not None and file.startswith(users)):
            name = frame.f_code.co_name if call is None else call
            return f"{file}:{frame.f_lineno} {name}".rstrip()
        frame = frame.f_back
    return None


def here() -> str:
    """The user's line in force, for error messages; "" where there is none."""
    return split_origin(lines_in(creating.origin)[0])[0] if creating.origin else ""


@contextmanager
def origin(line: str | None) -> Generator[None]:
    """Marks nodes made in the block with `line` instead of the line in force."""
    saved, creating.origin = creating.origin, line
    find, creating.find = creating.find, None
    try:
        yield
    finally:
        creating.origin, creating.find = saved, find


@contextmanager
def own_lines() -> Generator[None]:
    """Marks each node made in the block with the line that makes it, in place of the line in force:
    for a user's function that is called from a public call."""
    with origin(None):
        creating.find = _line_of_caller
        yield


def _line_of_caller() -> str | None:
    return user_line(caller_frame(1))


def raised_at(error: BaseException) -> str:
    """ "file:line" of the innermost frame, not in package core, that an error passed through; ""
    where there is none."""
    found, trace = "", error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(CORE):
            found = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
