"""Finds nodes by their structure over all graphs of one trace file.

Nodes are matched all at once, as arrays; only a name that is used twice is checked node by node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from viz.budget import take
from viz.format import schema
from viz.format.events import Events
from viz.read.records import Rewrite
from viz.read.tracefile import TraceFile
from viz.views.runs.process import Process
from viz.views.search.shape import Shape

Mask = npt.NDArray[np.bool_]
MAX_COUNTED: Final = 20_000
"""Nodes of one pass that are visited to count its hits."""


@dataclass(frozen=True)
class Place:
    """Where a rewrite first has a node that was asked for: the state after `step` steps. `count`:
    how many such nodes come with it there, in the graph, or below what the step put into it."""

    rewrite: int
    step: int
    node: int
    count: int


class Structures:
    """Structural search in one file. `arg_text`: how an argument is written; `number`: that of a
    node in the whole run."""

    def __init__(
        self, file: TraceFile, arg_text: Callable[[str], str], number: Callable[[int], int] = int
    ) -> None:
        self._file, self._arg_text, self._number = file, arg_text, number

    @classmethod
    def of(cls, process: Process) -> Structures:
        """Search in the file of a process."""
        return cls(process.file, process.dialect.arg_text, process.node)

    def search(self, shape: Shape) -> list[Place]:
        """For every rewrite that has such a node in one of its graphs, where the first one is; in
        the order of the rewrites. Raises BudgetError."""
        mask = self._matching(shape)
        if not mask.any():
            return []
        return sorted(self._places(mask, self._above(mask)), key=lambda place: place.rewrite)

    def ops(self) -> list[str]:
        """The ops of all nodes."""
        column = self._file.nodes.field("op")
        take(len(column) // 8)
        return [self._file.text(op) for op in np.unique(column).tolist()]

    def describe(self, node: int) -> str:
        """A node with its argument and its sources' ops, on one line."""
        parts = [self._label(s) for s in self._file.nodes.sources(node)[:8]]
        return f"{self._label(node)}({', '.join(parts)})" if parts else self._label(node)

    def _label(self, node: int) -> str:
        op, arg = (self._file.text(int(self._file.nodes.field(f)[node])) for f in ("op", "arg"))
        shown = self._arg_text(arg)[:40] if arg else ""
        return f"{op} {shown}".strip()

    def _matching(self, shape: Shape) -> Mask:
        """Which nodes match, by number."""
        mask = self._candidates(shape)
        names = Counter(part.name for part in shape.walk() if part.name is not None)
        if any(count > 1 for count in names.values()):
            for node in np.flatnonzero(mask).tolist():
                mask[node] = any(True for _ in self._binds(shape, node, {}))
        return mask

    def _candidates(self, shape: Shape) -> Mask:
        """Which nodes match where equal names may be different nodes."""
        nodes = self._file.nodes
        size = nodes.count + 1
        take(size // 8, 4 * size)
        mask = np.ones(size, np.bool_)
        mask[0] = False
        if shape.ops is not None:
            mask &= self._texts_in("op", mask, lambda text: text.casefold() in (shape.ops or ()))
        if shape.dtype is not None:
            mask &= self._texts_in("dtype", mask, lambda text: text.casefold() == shape.dtype)
        if shape.arg is not None:
            wanted = shape.arg
            mask &= self._texts_in(
                "arg", mask, lambda text: _same_arg(self._arg_text(text), wanted)
            )
        if shape.src is None:
            return mask
        begins, sources = nodes.source_arrays()
        found = np.flatnonzero(mask)
        lengths = begins[found + 1] - begins[found]
        fits = lengths >= len(shape.src) if shape.rest else lengths == len(shape.src)
        found = found[fits]
        inner = [self._candidates(part) for part in shape.src]
        columns = [sources[begins[found] + i] for i in range(len(inner))]
        keep = np.ones(len(found), np.bool_)
        for column, ok in zip(columns, inner, strict=True):
            keep &= ok[column]
        if shape.commutes:
            keep |= inner[0][columns[1]] & inner[1][columns[0]]
        mask[:] = False
        mask[found[keep]] = True
        return mask

    def _texts_in(self, field: str, mask: Mask, wanted: Callable[[str], bool]) -> Mask:
        """Of all nodes, those whose text of a field is wanted; asked once per text."""
        column = self._file.nodes.field(field)[: len(mask)]
        texts = np.unique(column[mask])
        take(4 * len(texts), 8 * len(column))
        kept = [t for t in texts.tolist() if wanted(self._file.text(t))]
        return np.isin(column, kept)

    def _binds(self, shape: Shape, node: int, known: dict[str, int]) -> Iterator[dict[str, int]]:
        """Every way to bind names so that `shape` matches a node that is a candidate."""
        take(2)
        if shape.name is not None:
            if known.get(shape.name, node) == node:
                yield {**known, shape.name: node}
        elif self._is_like(shape, node):
            sources = self._file.nodes.sources(node)
            parts = shape.src or ()
            yield from self._bind_all(parts, sources, known)
            if shape.commutes:
                yield from self._bind_all(parts[::-1], sources, known)

    def _bind_all(
        self, parts: Sequence[Shape], nodes: Sequence[int], known: dict[str, int]
    ) -> Iterator[dict[str, int]]:
        """The same of several, one after the other."""
        if not parts:
            yield known
            return
        for bound in self._binds(parts[0], nodes[0], known):
            yield from self._bind_all(parts[1:], nodes[1:], bound)

    def _is_like(self, shape: Shape, node: int) -> bool:
        """Whether a node itself is as described, whatever its sources are."""
        fields = self._file.nodes
        op, dtype, arg = (
            self._file.text(int(fields.field(f)[node])) for f in ("op", "dtype", "arg")
        )
        count = len(fields.sources(node))
        return (
            (shape.ops is None or op.casefold() in shape.ops)
            and (shape.dtype is None or dtype.casefold() == shape.dtype)
            and (shape.arg is None or _same_arg(self._arg_text(arg), shape.arg))
            and (
                shape.src is None
                or count == len(shape.src)
                or (shape.rest and count > len(shape.src))
            )
        )

    def _above(self, mask: Mask) -> Mask:
        """Which nodes have a hit among themselves and all below them."""
        begins, sources = self._file.nodes.source_arrays()
        size = len(mask)
        take(len(sources) // 2 + size // 8, 24 * len(sources) + 2 * size)
        users = np.repeat(np.arange(size), np.diff(begins[: size + 1]))
        order = np.argsort(sources[: len(users)], kind="stable")
        users = users[order]
        starts = np.searchsorted(sources[order], np.arange(size + 1))
        above = mask.copy()
        fresh = np.flatnonzero(mask)
        while len(fresh):
            lengths = starts[fresh + 1] - starts[fresh]
            total = int(lengths.sum())
            take(total // 4 + 1, 16 * total)
            offsets = np.repeat(starts[fresh] - np.cumsum(lengths) + lengths, lengths)
            next_ = np.unique(users[offsets + np.arange(total)])
            fresh = next_[~above[next_]]
            above[fresh] = True
        return above

    def _places(self, mask: Mask, above: Mask) -> Iterator[Place]:
        """Where each rewrite first has a hit: in its input graph, below what a match put in, or in
        the nodes that were rebuilt after it, of which the one with the lowest number counts."""
        waiting: dict[int, Rewrite] = {}
        for rewrite in [*self._file.rewrites.values()]:
            if 0 < rewrite.sink < len(above) and above[rewrite.sink]:
                yield self._place(rewrite.id, 0, rewrite.sink, mask, above)
            elif rewrite.matches or rewrite.rebuilds:
                waiting[rewrite.id] = rewrite
        done = Counter[int]()
        rebuilt: dict[int, tuple[int, int]] = {}
        """Rewrites whose step with a hit may go on in the next block: that step, and its node."""
        for at in range(len(self._file.event_blocks) if waiting else 0):
            arrays = self._file.event_blocks.at(at)
            if arrays is None:
                continue
            take(len(arrays.kind) // 8)
            root = _roots(arrays, mask, above)
            matches = arrays.kind == schema.MATCH
            first = dict.fromkeys(rebuilt, -1)
            hits = np.flatnonzero(root)
            for number, index in zip(
                *(a.tolist() for a in np.unique(arrays.rewrite[hits], return_index=True)),
                strict=True,
            ):
                if waiting.pop(number, None) is not None:
                    position = first[number] = int(hits[index])
                    before = matches[: position + 1] & (arrays.rewrite[: position + 1] == number)
                    step = done[number] + int(before.sum())
                    rebuilt[number] = step, int(root[position])
                    if matches[position]:
                        yield self._place(number, *rebuilt.pop(number), mask, above)
            for number, position in first.items():
                if number in rebuilt:
                    step, lowest = rebuilt[number]
                    rest = np.flatnonzero(arrays.rewrite[position + 1 :] == number) + position + 1
                    ends = np.flatnonzero(matches[rest])
                    own = root[rest[: ends[0]] if len(ends) else rest]
                    found = [lowest, *own[own > 0].tolist()]
                    rebuilt[number] = step, min(found, key=self._number)
                    if len(ends):
                        yield self._place(number, *rebuilt.pop(number), mask, above)
            for number, count in zip(
                *np.unique(arrays.rewrite[matches], return_counts=True), strict=True
            ):
                done[int(number)] += int(count)
        for number, (step, node) in rebuilt.items():
            yield self._place(number, step, node, mask, above)

    def _place(self, rewrite: int, step: int, root: int, mask: Mask, above: Mask) -> Place:
        """The hit nearest to `root`, and how many there are below it."""
        nearest, count = 0, 0
        seen, level = {root}, [root]
        while level and len(seen) < MAX_COUNTED:
            below: list[int] = []
            for node in level:
                if mask[node]:
                    nearest, count = nearest or node, count + 1
                sources = self._file.nodes.sources(node)
                take(1 + len(sources), 100)
                for source in sources:
                    if above[source] and source not in seen:
                        seen.add(source)
                        below.append(source)
            level = below
        return Place(rewrite, step, nearest, count)


def _same_arg(shown: str, wanted: str) -> bool:
    """Whether an argument is what a query writes; numbers are compared as such."""
    if shown == wanted:
        return True
    try:
        return float(shown) == float(wanted)
    except ValueError:
        return False


def _roots(arrays: Events, mask: Mask, above: Mask) -> npt.NDArray[np.int64]:
    """The node by which each event brings a hit into the graph, 0 for none."""
    root = np.zeros(len(arrays.kind), np.int64)
    for kind, column, of in (
        (schema.MATCH, arrays.match[:, 2], above),
        (schema.REBUILD, arrays.rebuild[:, 1], mask),
    ):
        inside = np.where((column > 0) & (column < len(of)), column, 0)
        root[arrays.kind == kind] = np.where(of[inside], inside, 0)
    return root
