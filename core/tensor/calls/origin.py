"""Remembers which line of the user's program asked for a node, and with which public call.

Marks nodes through `creating`, and has arguments checked on the way in; what a call returns is
never changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, TypeVar

from core.errors import UopvizError
from core.tensor.calls.arguments import Check, check_of
from core.uop.engine.caller import here, origin, own_lines, raised_at, user_line
from core.uop.frames import caller_frame
from core.uop.uop import creating

__all__ = [
    "here",
    "mark_methods",
    "mark_object",
    "marks_origin",
    "origin",
    "own_lines",
    "raised_at",
    "user_line",
]

T = TypeVar("T")


def marks_origin(
    function: Callable[..., T],
    name: str | None = None,
    of_class: bool = False,
    check: Check | None = None,
) -> Callable[..., T]:
    """`function`, marking the nodes it makes with the user's line that called it and with `name`
    (that of the function by default); `of_class` puts the class of the first argument before it.
    `check` looks at the arguments first, and an error that names no place gets the user's line.

    A call from inside another marked call keeps the outer line and name, and is not checked.
    """
    label = function.__name__ if name is None else name

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> T:
        if creating.origin is not None:
            return function(*args, **kwargs)
        called = type(args[0]).__name__ + label if of_class else label
        creating.origin = user_line(caller_frame(), called)
        try:
            if check is not None:
                check(args, kwargs)
            return function(*args, **kwargs)
        except UopvizError as error:
            if not error.where:
                error.locate(here())
            raise
        finally:
            creating.origin = None

    return call


def mark_methods(cls: type[T]) -> type[T]:
    """Class decorator: every public method, own or inherited from `core.tensor`, refuses arguments
    of the wrong type and marks origins with its name; an operator with its name alone (`add` for
    `__radd__` and `__iadd__`), the constructor with that of the class."""
    named: set[object] = set()
    for base in [base for base in cls.__mro__ if base.__module__.startswith("core.tensor")]:
        for name, member in list(vars(base).items()):
            inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if not isinstance(inner, FunctionType):
                continue
            _name(cls, name, inner, named)
            if name.startswith("_") and name not in _special:
                continue
            label = _special.get(name, name) or cls.__name__
            check = check_of(inner, cls, static=isinstance(member, staticmethod))
            marked = marks_origin(inner, label, check=check)
            setattr(cls, name, marked if inner is member else type(member)(marked))
    return cls


def _name(cls: type[Any], name: str, method: FunctionType, named: set[object]) -> None:
    """Gives a method, and what it wraps, the name by which users call it, which Python says where
    arguments do not fit: the first that it has in the class."""
    inner: object = method
    while isinstance(inner, FunctionType) and inner not in named:
        named.add(inner)
        inner.__name__, inner.__qualname__ = name, f"{cls.__name__}.{name}"
        inner = getattr(inner, "__wrapped__", None)


def mark_object(cls: type[T], tensor: type[Any], **methods: str) -> type[T]:
    """Makes the constructor of a layer, an optimizer or a schedule refuse arguments of the wrong
    type, and mark origins with the name of the class; each of `methods` does so with that name and
    a suffix. What a layer is called with, operations check. `tensor`: the class of Tensors."""
    for name, suffix in {"__init__": "", **methods}.items():
        if isinstance(own := vars(cls).get(name), FunctionType):
            check = None if name == "__call__" else check_of(own, cls, tensor=tensor)
            setattr(cls, name, marks_origin(own, suffix, of_class=True, check=check))
    return cls


_binary = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
    *("and", "or", "xor", "lshift", "rshift"),
)
_unary = (
    "neg",
    "pos",
    "abs",
    "index",
    "format",
    "array",
    "invert",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "getitem",
    "setitem",
    "bool",
    "int",
    "float",
    "len",
    "iter",
)
_special: Final[dict[str, str]] = {
    "__init__": "",
    **{f"__{prefix}{name}__": name for name in _binary for prefix in ("", "r", "i")},
    **{f"__{name}__": name for name in _unary},
}
"""Marked besides public methods, and the names to mark with; "": that of the class."""
