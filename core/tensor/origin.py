"""Remembers which line of the user's program asked for a node.

Marks nodes through `creating` and does nothing else; what a call returns is never changed.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, TypeVar, cast

from core.uop.uop import creating

_core = str(Path(__file__).resolve().parent.parent)
T = TypeVar("T")


def user_line(frame: FrameType | None) -> str | None:
    """ "file:line" of the first frame from `frame` outwards that is not in the core package."""
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_core):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def here() -> str:
    """The user's line in force, for error messages; "" where there is none."""
    return creating.origin or ""


@contextmanager
def origin(line: str | None) -> Generator[None]:
    """Marks nodes made in the block with `line` instead of the line in force."""
    saved, creating.origin = creating.origin, line
    try:
        yield
    finally:
        creating.origin = saved


def marks_origin(function: Callable[..., T]) -> Callable[..., T]:
    """`function`, marking the nodes it makes with the user's line that called it.

    A call from inside another marked call keeps the outer line.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> T:
        if creating.origin is not None:
            return function(*args, **kwargs)
        creating.origin = user_line(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
        try:
            return function(*args, **kwargs)
        finally:
            creating.origin = None

    return call


def mark_methods(cls: type[T]) -> type[T]:
    """Class decorator: every public method, own or inherited from this package, marks origins."""
    seen: set[str] = set()
    package = __name__.rpartition(".")[0]
    layers = [base for base in cls.__mro__ if base.__module__.startswith(package)]
    for base in layers:
        for name, member in list(vars(base).items()):
            if name in seen or (name.startswith("_") and name not in _operators):
                continue
            seen.add(name)
            if isinstance(member, FunctionType):
                setattr(cls, name, marks_origin(member))
            elif isinstance(member, classmethod | staticmethod):
                inner = cast("Callable[..., Any]", member.__func__)
                setattr(cls, name, type(member)(marks_origin(inner)))
    return cls


_operators = frozenset(
    f"__{prefix}{name}__"
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "matmul",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    )
    for prefix in ("", "r")
) | {
    "__init__",
    "__neg__",
    "__invert__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "__eq__",
    "__ne__",
    "__getitem__",
    "__setitem__",
}
