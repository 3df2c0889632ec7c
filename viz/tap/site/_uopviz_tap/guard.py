"""What keeps taps from harming the program that is recorded, and how they see what they patch."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

from _uopviz_tap.stream import Stream


class GuardedTap:
    """A tap of one compiler. Never lets an exception out: the first one ends the stream.

    `COMPILER` and `DIALECT` are stated in the stream; `PACKAGE` is what is installed, `TITLE` its
    usual name. `reset` is called once before the first event, and again in a forked process, which
    has a separate stream.
    """

    COMPILER: ClassVar[str]
    PACKAGE: ClassVar[str]
    TITLE: ClassVar[str]
    DIALECT: ClassVar[int]

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._generation = -1
        self.reset()

    def reset(self) -> None:
        """Nothing was told yet."""
        raise NotImplementedError

    def safely(self, tell: Callable[..., Any], *args: Any) -> Any:
        """What `tell` gives; None once the stream is over."""
        if not self._stream.is_open:
            return None
        try:
            if self._generation != self._stream.generation:
                self._generation = self._stream.generation
                self.reset()
                version = version_of(self.PACKAGE)
                self._stream.put("compiler", self.COMPILER, version, self.DIALECT)
            return tell(*args)
        except Exception as error:
            what = f"the tap of {self.TITLE} failed, and recording ends"
            self._stream.problem(what, _where(error))
            self._stream.is_open = False
            return None


def member(module: ModuleType, path: str) -> Any:
    """What a module has at a dotted path; None for nothing."""
    value: Any = module
    for name in path.split("."):
        value = getattr(value, name, None)
    return value


def version_of(package: str) -> str:
    """The version of an installed package."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _where(error: BaseException) -> str:
    """An exception, with the file and line that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return repr(error)
    return f"{error!r} at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
