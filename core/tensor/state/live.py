"""The Tensors and Storages that are alive, and which nodes of their graphs use which.

Finds those above a node at the cost of what lies above it, however many others wait to be
computed. Graphs are looked at once, when the next search is made. Never keeps any of them or a node
alive, and never changes a graph.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Mapping
from threading import RLock
from typing import Final, Generic, Protocol, TypeAlias, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from core.dtype import IMAGE_SIDE, ImageDType
from core.uop.facts.users import Users
from core.uop.ops import GroupOp, Ops
from core.uop.uop import UOp

KEEPS_ALL: Final = GroupOp.Movement - {Ops.SHRINK}
"""Movements that lose no element."""


class Holder(Protocol):
    """What is known here of a Tensor or Storage: its graph."""

    @property
    def uop(self) -> UOp: ...
    @uop.setter
    def uop(self, uop: UOp) -> None: ...


T = TypeVar("T", bound=Holder)
_Holders: TypeAlias = "WeakKeyDictionary[UOp, WeakValueDictionary[int, Holder]]"


def memory_of(uop: UOp) -> UOp:
    """The node whose elements a value is: below all movement, detached or not, and below the
    reading of an image."""
    base = uop.base
    while base.op in (Ops.DETACH, Ops.LENGTH) or reads_image(base):
        base = base.src[0].base
    return base


def reads_image(uop: UOp) -> bool:
    """Whether a value is all elements of an image that it was, or will be, stored in."""
    if uop.op is not Ops.CAST or isinstance(uop.dtype, ImageDType):
        return False
    image, kind = uop.src[0], uop.src[0].dtype
    while image.op is Ops.RESHAPE:
        image = image.src[0]
    if not isinstance(kind, ImageDType) or image.op not in (Ops.CAST, Ops.BUFFER):
        return False
    return uop.size == kind.size and kind.side <= IMAGE_SIDE


def is_stored(uop: UOp) -> bool:
    """Whether nothing needs to run: memory or a constant, perhaps moved or detached, or no elements
    at all."""
    return memory_of(uop).op in (Ops.BUFFER, Ops.CONST) or uop.size == 0


class Live(Generic[T]):
    """A set of Tensors and Storages, by identity. Safe to use from any thread."""

    def __init__(self) -> None:
        self._tensors: WeakValueDictionary[int, T] = WeakValueDictionary()
        self._storages: WeakValueDictionary[int, Holder] = WeakValueDictionary()
        self._changed: dict[int, None] = {}
        """Those whose graph has not been looked at."""
        self._holders: _Holders = WeakKeyDictionary()
        """By the graph that has to be computed."""
        self._stored: _Holders = WeakKeyDictionary()
        """By the BUFFER or ASSIGN whose elements they are, in the order in which they were seen."""
        self._version = 0
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self._tensors)

    def add(self, tensor: T) -> None:
        """A Tensor is new, or has a new graph."""
        self._tensors[id(tensor)] = tensor
        self._change(id(tensor))

    def add_storage(self, storage: Holder) -> None:
        """A Storage is new, or has a new graph."""
        self._storages[id(storage)] = storage
        self._change(id(storage))

    def _change(self, key: int) -> None:
        """Notes what is new behind all that was before: another one, which is gone, may have had
        the same place in memory, and that differs from run to run."""
        self._changed.pop(key, None)
        self._changed[key] = None

    def version(self) -> int:
        """A number that grows whenever a graph is new: while it stays, no search finds more."""
        with self._lock:
            self._look()
            return self._version

    def all(self) -> list[T]:
        """Every Tensor that is alive; other threads may make and drop some meanwhile."""
        return [t for ref in self._tensors.valuerefs() if (t := ref()) is not None]

    def snapshot(self) -> Mapping[int, T]:
        """The Tensors that are alive now, by id, for as long as they stay so."""
        return WeakValueDictionary(self._tensors)

    def above(
        self, nodes: Collection[UOp], reads: Callable[[UOp, UOp], bool] = lambda user, source: True
    ) -> tuple[Collection[UOp], list[Holder]]:
        """The nodes above `nodes` in graphs, by way of none of `nodes` and of users that read their
        source; and the Tensors and Storages of these and of `nodes`."""
        with self._lock:
            self._look()
            found: dict[UOp, None] = {}
            stack = list(nodes)
            while stack:
                u = stack.pop()
                for v in _users_of(u):
                    if v not in found and v not in nodes and reads(v, u):
                        found[v] = None
                        stack.append(v)
            return found.keys(), [t for u in (*nodes, *found) for t in self._held(u)]

    def elements_of(self, memory: UOp) -> list[Holder]:
        """The Tensors and Storages whose value is elements of a BUFFER or ASSIGN, the first to be
        so first."""
        with self._lock:
            self._look()
            return [t for t in self._stored.get(memory, {}).values() if memory_of(t.uop) is memory]

    def named_in(self, graph: Iterable[UOp]) -> list[Holder]:
        """The Tensors and Storages whose whole value is one of the nodes of a graph."""
        with self._lock:
            self._look()
            nodes = dict.fromkeys(graph)
            found: list[Holder] = []
            for u in nodes:
                if u.op is Ops.BUFFER:
                    found += [t for t in self._stored.get(u, {}).values() if t.uop in nodes]
                else:
                    found += self._held(u)
            return found

    def has_users(self, nodes: Collection[UOp]) -> bool:
        """Whether some graph that was not computed may use one of `nodes`."""
        with self._lock:
            self._look()
            return any(_users_of(u) for u in nodes)

    def is_wanted(self, node: UOp) -> bool:
        """Whether a Tensor is `node`, or a movement of it that loses no element."""
        with self._lock:
            self._look()
            stack = [node]
            while stack:
                u = stack.pop()
                if self._held(u):
                    return True
                stack += [v for v in _users_of(u) if v.op in KEEPS_ALL]
            return False

    def _held(self, node: UOp) -> list[Holder]:
        """Those with exactly this graph."""
        return [t for t in self._holders.get(node, {}).values() if t.uop is node]

    def _look(self) -> None:
        """Notes who uses which node in graphs that are new. What has no sources, which is used by
        many and never replaced, is left out."""
        while changed := list(self._changed):
            for key in changed:
                self._changed.pop(key, None)
                for known in (self._tensors, self._storages):
                    if (found := known.get(key)) is not None:
                        self._note(found)

    def _note(self, found: Holder) -> None:
        self._version += 1
        root = found.uop
        base = memory_of(root)
        if base.op in (Ops.BUFFER, Ops.ASSIGN):
            self._stored.setdefault(base, WeakValueDictionary())[id(found)] = found
        if base.op in (Ops.BUFFER, Ops.CONST):
            return  # not so a value without elements: what it names may be an assignment
        self._holders.setdefault(root, WeakValueDictionary())[id(found)] = found
        stack = [] if hasattr(root, "users") else [root]
        if stack:
            root.users = Users()
        while stack:
            u = stack.pop()
            user = weakref.ref(u)
            for s in u.src:
                if not s.src:
                    continue
                if not hasattr(s, "users"):
                    s.users = Users()
                    stack.append(s)
                s.users.add(user)


def _users_of(node: UOp) -> list[UOp]:
    """In the order in which they were seen, so that two runs of a program are alike."""
    return list(node.users) if hasattr(node, "users") else []
