"""`call`: marks what a public call of this package makes with the user's line, and puts that line
on its errors.

Never changes what a call returns. Lines of the kernels that are shipped here count as the user's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from core.errors import UopvizError
from core.uop.engine.caller import CORE, here, origin, user_line
from core.uop.frames import caller_frame
from core.uop.uop import creating

P = ParamSpec("P")
T = TypeVar("T")
_SHIPPED: Final = str(Path(__file__).parent / "kernels")


def call(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, with its nodes marked with the line that called it, and with its name if users
    write it (not `__exit__`). A call from inside another one keeps the outer line."""
    name = "" if function.__name__.startswith("__") else function.__name__

    @functools.wraps(function)
    def marked(*args: P.args, **kwargs: P.kwargs) -> T:
        frame = caller_frame()
        if creating.origin is not None and frame.f_globals.get("__package__") == __package__:
            return function(*args, **kwargs)
        with origin(user_line(frame, name, CORE, _SHIPPED)):
            try:
                return function(*args, **kwargs)
            except UopvizError as error:
                if not error.where:
                    error.locate(here())
                raise

    return marked
