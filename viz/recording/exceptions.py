"""Serializes exceptions: message, the user's frames, and the full traceback.

Between the program that called and the rule that raised stand frames of the compiler and of the
engine, which say nothing about the fault. They are kept apart. Never keeps the exception.
"""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Final

import core
from core.errors import UopvizError
from core.uop.engine import observe, rewrite
from core.uop.patterns import compiled, interpreted, matcher

_ENGINE: Final = frozenset(
    str(m.__file__) for m in (compiled, interpreted, matcher, observe, rewrite)
)
OURS: Final = tuple(
    f"{folder}{os.sep}" for folder in (Path(core.__file__).parent, Path(__file__).parents[1])
)
"""How the names of the project's own files begin."""
Frames = list[traceback.FrameSummary]


def error_data(error: BaseException) -> dict[str, object]:
    """`message`; `traceback`: the frames of the user's program and of the rule; `full`: what Python
    prints, the engine's frames too; `place`: "file:line" in the rule's file that raised, or ""."""
    chain = _chain(error)
    frames = _callers(error)
    for one in chain[::-1]:
        frames += traceback.extract_tb(one.__traceback__)
    last = max((i for i, f in enumerate(frames) if _is_engine(f)), default=-1)
    inside = frames[last + 1 :]
    shown = [f for f in frames[: last + 1] if not _is_engine(f) and not _is_ours(f)] + inside
    cause = chain[0]
    said = (
        [f"{type(cause).__name__}: {cause.what}\n"]
        if isinstance(cause, UopvizError)
        else traceback.format_exception_only(cause)
    )
    head = [
        "Traceback (most recent call last):\n",
        *traceback.StackSummary.from_list(shown).format(),
    ]
    own = [f for f in inside if f.filename == inside[0].filename] if last >= 0 else []
    return {
        "message": f"{type(error).__name__}: {_text(error)}",
        "traceback": "".join([*(head if shown else ()), *said]),
        "full": "".join(traceback.format_exception(error)),
        "place": f"{own[-1].filename}:{own[-1].lineno}" if own else "",
    }


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception of the user's may fail even at that
        return "(its text cannot be made)"


def _chain(error: BaseException) -> list[BaseException]:
    """The exception that was raised first, and those that were raised because of it."""
    chain = [error]
    while chain[-1].__cause__ is not None and chain[-1].__cause__ not in chain:
        chain.append(chain[-1].__cause__)
    return chain[::-1]


def _callers(error: BaseException) -> Frames:
    """The frames above those of the traceback, outermost first."""
    trace = error.__traceback__
    above = None if trace is None else trace.tb_frame.f_back
    if above is None:
        return []
    return list(traceback.StackSummary.extract(traceback.walk_stack(above)))[::-1]


def _is_engine(frame: traceback.FrameSummary) -> bool:
    return frame.filename in _ENGINE or frame.filename.startswith("<compiled pattern")


def _is_ours(frame: traceback.FrameSummary) -> bool:
    return frame.filename.startswith(OURS)
