"""Node table of one trace file: an array per field, indexed by node number.

Number n is at position n; position 0 stands for "none". A lost block leaves nodes without fields:
its own, or those whose heads it had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from core.errors import TraceError
from viz.budget import take
from viz.format.blocks import HEADS, NEAR, NODE_STRINGS, NODES, PLAIN_NODES
from viz.format.pack import Ints, adds_up

FIELDS: Final = NODE_STRINGS
MAX_GAP: Final = 1 << 20
"""Nodes that a lost block may have held."""
Decoded = tuple[list[Ints], Ints, Ints]
"""Nodes: their fields, a column each; how many sources each has; and all their sources."""
_LOST: Final = -1
"""In place of the fields of a head that was lost: no node can have that many sources."""
_KEPT: Final = 16
"""Bytes that are kept of a number: arrays that grow have room for twice of what they hold."""


class Growing:
    """An array that grows at its end."""

    def __init__(self) -> None:
        self._data = np.zeros(1024, np.int64)
        self._size = 0

    @property
    def array(self) -> Ints:
        """What it holds now."""
        return self._data[: self._size]

    def extend(self, values: Ints) -> None:
        """Adds values."""
        end = self._size + len(values)
        if end > len(self._data):
            bigger = np.zeros(max(end, 2 * len(self._data)), np.int64)
            bigger[: self._size] = self.array
            self._data = bigger
        self._data[self._size : end] = values
        self._size = end


class Sources(dict[int, list[int]]):
    """The sources of nodes by number, each list made once; to be used like a function, it is faster
    by `__getitem__`. Never change what it gives."""

    def __init__(self, nodes: NodeTable) -> None:
        super().__init__()
        self._nodes = nodes

    def __missing__(self, node: int) -> list[int]:
        made = self._nodes.sources(node)
        take(1 + len(made), 180 + 40 * len(made))
        self[node] = made
        return made


class NodeTable:
    """The nodes of a trace: string ids per field, and the sources of each node."""

    def __init__(self) -> None:
        self._fields = {name: Growing() for name in FIELDS}
        self._heads = [Growing() for _ in HEADS.columns]
        """What nodes have apart from their sources, a column each; position 0 is none's."""
        for column in self._heads:
            column.extend(np.zeros(1, np.int64))
        self._end, self._src = Growing(), Growing()
        self._end.extend(np.zeros(1, np.int64))
        self.count = -1
        self._append([np.zeros(1, np.int64)] * len(FIELDS), np.zeros(1, np.int64))

    def field(self, name: str) -> Ints:
        """One of FIELDS for all nodes."""
        return self._fields[name].array

    def sources(self, node: int) -> list[int]:
        """The numbers of a node's sources; none for a number that is no node's."""
        if not 0 < node <= self.count:
            return []
        return self._srcs[self._begins[node] : self._begins[node + 1]].tolist()

    def source_count(self, node: int) -> int:
        """How many sources a node has."""
        if not 0 < node <= self.count:
            return 0
        return self._begins[node + 1] - self._begins[node]

    def source_arrays(self) -> tuple[Ints, Ints]:
        """Where the sources of each node begin (one longer than the nodes), and all sources."""
        return self._end.array, self._src.array

    def add_heads(self, first: int, count: int, blob: bytes) -> None:
        """A block of heads. Raises TraceError where it is damaged; then blocks of nodes that have
        one of these are, too."""
        columns = [*HEADS.unpack(blob, each=_KEPT).values()]
        missing = first - len(self._heads[0].array)
        if {len(column) for column in columns} != {count} or not 0 <= missing <= MAX_GAP:
            raise _damaged("its heads do not follow")
        take(missing // 4, _KEPT * len(columns) * missing)
        for kept, column in zip(self._heads, columns, strict=True):
            kept.extend(np.concatenate((np.full(missing, _LOST), column)))

    def add(self, first: int, count: int, blob: bytes) -> None:
        """A block of nodes. Raises TraceError where it is damaged; then they have no fields."""
        self._add(first, count, lambda: self._headed(first, count, blob))

    def add_plain(self, first: int, count: int, blob: bytes) -> None:
        """The same, of version 2."""
        self._add(first, count, lambda: _plain(first, count, blob))

    def _add(self, first: int, count: int, decode: Callable[[], Decoded]) -> None:
        if not self.count < first <= self.count + MAX_GAP or not 0 < count <= MAX_GAP:
            raise _damaged("its numbers do not follow")
        self.skip_to(first)
        try:
            fields, counts, src = decode()
            users = np.repeat(np.arange(first, first + count), counts)
            if len(src) and (int(src.min()) < 1 or not (src < users).all()):
                raise _damaged("a source is not an earlier node")
        except TraceError:
            self.skip_to(first + count)
            raise
        self._append(fields, counts, src)

    def _headed(self, first: int, count: int, blob: bytes) -> Decoded:
        head, near, far = NODES.unpack(blob, each=_KEPT).values()
        known = len(self._heads[0].array)
        if len(head) != count or int(head.min()) < 1 or int(head.max()) >= known:
            raise _damaged("a head is missing")
        take(count // 4, _KEPT * len(FIELDS) * count)
        *fields, counts = (column.array[head] for column in self._heads)
        if not adds_up(counts, near):
            raise _damaged("its columns do not fit together")
        is_far = near == 0
        if int(is_far.sum()) != len(far) or int(near.max(initial=0)) >= NEAR:
            raise _damaged("its columns do not fit together")
        src = np.repeat(np.arange(first, first + count), counts) - near
        src[is_far] = far
        return fields, counts, src

    def skip_to(self, first: int) -> None:
        """Nodes without fields up to `first`, which comes next."""
        missing = first - self.count - 1
        if missing > 0:
            take(missing // 4, _KEPT * (len(FIELDS) + 1) * missing)
            nothing = np.zeros(missing, np.int64)
            self._append([nothing] * len(FIELDS), nothing)

    def reachable(self, root: int, sources: Sources | None = None) -> list[int]:
        """A node and all below it, sources first; nothing for a number that is no node's. Raises
        BudgetError."""
        of = self.sources if sources is None else sources.__getitem__
        seen: set[int] = {root} if 0 < root <= self.count else set()
        stack = [*seen]
        while stack:
            below = of(stack.pop())
            take(1 + len(below), 100)
            for s in below:
                if s not in seen:
                    seen.add(s)
                    stack.append(s)
        return sorted(seen)  # a source has a smaller number than its user

    def _append(self, fields: Iterable[Ints], counts: Ints, src: Ints | None = None) -> None:
        for name, values in zip(FIELDS, fields, strict=True):
            self._fields[name].extend(values)
        self._end.extend(len(self._src.array) + np.cumsum(counts))
        if src is not None:
            self._src.extend(src)
        # Reading one integer of a memoryview takes a quarter of the time that an array takes.
        self._begins, self._srcs = self._end.array.data, self._src.array.data
        self.count += len(counts)  # last: others may read meanwhile


def _plain(first: int, count: int, blob: bytes) -> Decoded:
    columns = PLAIN_NODES.unpack(blob, each=_KEPT)
    fields = [columns[name] for name in FIELDS]
    counts, deltas = columns["nsrc"], columns["src"]
    if {len(f) for f in (*fields, counts)} != {count} or not adds_up(counts, deltas):
        raise _damaged("its columns do not fit together")
    return fields, counts, np.repeat(np.arange(first, first + count), counts) - deltas


def _damaged(how: str) -> TraceError:
    return TraceError(f"a block of nodes is damaged ({how})")
