"""The table of all nodes: equal fields give the same object for as long as it is referenced.

Never makes a node.
"""

from __future__ import annotations

import weakref
from typing import Any, cast


class Interned(weakref.ref[Any]):
    """A weak reference that knows its key, so that the table forgets a node when it dies."""

    __slots__ = ("key",)
    key: tuple[Any, ...]


nodes: dict[tuple[Any, ...], Interned] = {}
"""The nodes by their fields."""


def forget(ref: weakref.ref[Any]) -> None:
    """Drops the entry of a node that has died."""
    key = cast(Interned, ref).key
    if nodes.get(key) is ref:
        del nodes[key]


def arg_key(arg: Any) -> Any:
    """What stands for an argument in a key: Python has 0.0 == -0.0, nan != nan and 1 == 1.0 ==
    True, and constants are told apart."""
    kind = arg.__class__
    if kind is float:
        return repr(arg) if arg == 0.0 or arg != arg else (float, arg)
    if kind is bool:
        return (bool, arg)
    if any(a.__class__ is float for a in arg):
        return tuple(repr(a) for a in arg)
    return arg
