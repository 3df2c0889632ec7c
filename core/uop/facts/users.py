"""The nodes that use a node, as far as an index of graphs has noted them.

Keeps no node alive. A node forgets users that died when it has twice as many as it had at its last
look, so that a note costs the same however many there were. Not safe for threads: the index is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Generic
from weakref import ref

from core.uop.node import N

FEW: Final = 8
"""Users that are noted before any is looked for that died."""


class Users(Generic[N]):
    """The users of one node, in the order in which they were noted."""

    __slots__ = ("_limit", "_refs")

    def __init__(self) -> None:
        self._refs: list[ref[N]] = []
        self._limit = FEW

    def __iter__(self) -> Iterator[N]:
        """Those that are alive."""
        return (u for r in self._refs if (u := r()) is not None)

    def add(self, user: ref[N]) -> None:
        """Notes a user; once, where it is noted twice in a row."""
        refs = self._refs
        if refs and refs[-1] is user:
            return
        if len(refs) == self._limit:
            refs[:] = [r for r in refs if r() is not None]
            self._limit = max(FEW, 2 * len(refs))
        refs.append(user)
