"""Structural keys of the nodes of a trace: equal for equal graphs, in every process.

The key of a node is made of its op, dtype, argument and tag in canonical form
(viz/compare/matching/canonical.py) and of the keys of its sources, in order. Sources have smaller
numbers than their users, so one pass in their order makes all of them, however deep the graph is.
Keys are 64 bits wide: among a million nodes two different ones share a key with a probability of
1 in 30 million; a trace can be crafted so that it happens. Never looks at lines, nor at
numbers of nodes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viz.budget import take
from viz.compare.matching.canonical import canonical_arg, canonical_tag, text_key
from viz.dialect.rundialect import RunDialect
from viz.format.pack import Ints
from viz.read.nodes import Growing
from viz.read.tracefile import TraceFile

Keys = npt.NDArray[np.uint64]

_MASK: Final = (1 << 64) - 1
_STEP: Final = 0x9E3779B97F4A7C15
"""2**64 over the golden ratio, odd: what Fibonacci hashing multiplies by (Knuth, TAOCP 3, 6.4)."""
_FIELDS: Final = ("op", "dtype", "arg", "tag")
_NODE: Final = 32
"""Bytes that are kept of a node: its head, its key, and their parts of arrays that grow."""
_LISTED: Final = 40
"""Bytes of a node meanwhile."""
_PART: Final = 1 << 16
"""Nodes after which the budget is asked."""


class NodeKeys:
    """The keys of the nodes of one file; `refresh` makes those of new nodes."""

    def __init__(self, file: TraceFile, dialect: RunDialect) -> None:
        self._file, self._dialect = file, dialect
        self._heads, self._keys = Growing(), Growing()
        self._of_head: dict[tuple[int, ...], int] = {}

    @property
    def keys(self) -> Keys:
        """By number of the node; at 0, which is no node, 0."""
        return self._keys.array.view(np.uint64)

    @property
    def heads(self) -> Keys:
        """Of each node's own fields, without its sources."""
        return self._heads.array.view(np.uint64)

    @property
    def known(self) -> int:
        """How many nodes have a key, with that at 0."""
        return len(self._keys.array)

    def refresh(self) -> None:
        """Makes the keys of nodes that are new. Raises BudgetError; then those made so far stay."""
        count = self._file.nodes.count
        if self.known > count:
            return
        take(0, _LISTED * count)
        known: list[int] = self.keys.tolist()
        while self.known <= count:
            first = self.known
            end = min(count + 1, first + _PART)
            take(end - first, _NODE * (end - first))
            self._extend(known, first, end)

    def _extend(self, known: list[int], first: int, end: int) -> None:
        """Makes the keys of these nodes; `known` are those before, as integers."""
        heads = self._new_heads(first, end)
        begins, sources = self._file.nodes.source_arrays()
        stops = begins[first : end + 1].tolist()
        take(2 * (stops[-1] - stops[0]))
        src = sources[stops[0] : stops[-1]].tolist()
        base = at = stops[0]
        for key, stop in zip(heads.tolist(), stops[1:], strict=True):
            for s in src[at - base : stop - base]:
                key = ((key ^ known[s]) * _STEP + 1) & _MASK
                key ^= key >> 29
            at = stop
            known.append(key)
        self._heads.extend(heads.view(np.int64))
        self._keys.extend(np.asarray(known[first:end], np.uint64).view(np.int64))

    def _new_heads(self, first: int, end: int) -> Keys:
        """The heads of some nodes: texts are looked at once for each combination of fields."""
        nodes = self._file.nodes
        columns = np.stack([nodes.field(name)[first:end] for name in _FIELDS], axis=1)
        distinct, place = _unique_rows(columns)
        found = np.zeros(len(distinct), np.uint64)
        for i, fields in enumerate(map(tuple, distinct.tolist())):
            known = self._of_head.get(fields)
            if known is None:
                take(8, 300)
                known = self._of_head[fields] = self._head(*fields)
            found[i] = known
        return found[place]

    def _head(self, op: int, dtype: int, arg: int, tag: int) -> int:
        text = self._file.text
        name = text(op)
        take((len(text(arg)) + len(text(tag))) // 16)
        own = (
            name,
            text(dtype),
            canonical_arg(self._dialect, name, text(arg)),
            canonical_tag(text(tag)),
        )
        key = text_key("\0".join(own))
        return ((key * _STEP) & _MASK) ^ (key >> 31)


def _unique_rows(rows: Ints) -> tuple[Ints, Ints]:
    """Distinct rows, and for each row its place among them."""
    mixed = np.zeros(len(rows), np.uint64)
    for column in rows.T:
        mixed = mix(mixed, column.astype(np.uint64))
    _, first, place = np.unique(mixed, return_index=True, return_inverse=True)
    return rows[first], place.reshape(-1)


def mix(a: Keys, b: Keys) -> Keys:
    """A key of pairs of keys, in order."""
    made = ((a * np.uint64(_STEP) + np.uint64(1)) ^ b) * np.uint64(_STEP)
    made ^= made >> np.uint64(29)
    made *= np.uint64(0xBF58476D1CE4E5B9)
    made ^= made >> np.uint64(32)
    return made


def near_keys(keys: NodeKeys, file: TraceFile, nodes: Ints) -> Keys:
    """Of each of some nodes what it is and what its sources are, without what is below them: equal
    for nodes that stand in the same place while something below has changed. Raises BudgetError."""
    begins, sources = file.nodes.source_arrays()
    known: dict[int, int] = {}
    heads = keys.heads
    found = np.zeros(len(nodes), np.uint64)
    distinct: dict[int, int] = {}
    for at, node in enumerate(nodes.tolist()):
        key = distinct.get(node)
        if key is None:
            take(2, 120)
            key = int(heads[node])
            for s in sources[begins[node] : begins[node + 1]][:64].tolist():
                of = known.get(s)
                if of is None:
                    of = known[s] = int(heads[s])
                key = ((key ^ of) * _STEP + 1) & _MASK
                key ^= key >> 29
            distinct[node] = key
        found[at] = key
    return found


def key_of_texts(*parts: Any) -> int:
    """A key of a few texts and numbers together."""
    return text_key("\0".join(map(str, parts)))
