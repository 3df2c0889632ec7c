"""Tells recorders of a fork: a child must not write the file of its parent."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from typing import Protocol

from viz.write.numbering import LOCK


class Forks(Protocol):
    """What a fork of the process concerns."""

    def before_fork(self) -> None:
        """Called in the parent, before."""

    def after_fork_in_parent(self) -> None:
        """Called in the parent, after."""

    def after_fork_in_child(self) -> None:
        """Called in the child."""


told: weakref.WeakSet[Forks] = weakref.WeakSet()
"""Those who are told, for as long as they are in here."""


def _before() -> None:
    for one in list(told):
        one.before_fork()
    LOCK.acquire()  # last: what is written before takes it


def _after_in_parent() -> None:
    _unlock()
    for one in list(told):
        one.after_fork_in_parent()


def _after_in_child() -> None:
    _unlock()
    for one in list(told):
        one.after_fork_in_child()


def _unlock() -> None:
    with suppress(RuntimeError):  # an interrupt came before it was taken
        LOCK.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
