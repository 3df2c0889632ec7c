"""Interns strings, nodes and rules: equal fields get the same number.

What is new since the last flush becomes blocks of the trace. Strings and nodes may be numbered by
several threads while another takes. What has a number is in a dict by one assignment, and what is
new is told from that, so that an interrupt finds all or nothing (see `log.py`). Never touches a
file.
"""

from __future__ import annotations

import threading
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby, islice, takewhile
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from viz.format import schema
from viz.format.blocks import HEADS, NEAR, NODES
from viz.format.pack import pack_json
from viz.format.rows import RULES, RuleRow
from viz.write.log import Block, Taken

T = TypeVar("T")
Fields = tuple[int, int, int, int, int, int, int]
"""op, dtype, arg, tag, origin, loc, extra of a node: string numbers."""
Head = tuple[Fields, int]
"""What a node has apart from its sources: its fields, and how many sources there are."""
Node = tuple[Fields, tuple[int, ...]]
"""A node: its fields and its sources."""
Uints = npt.NDArray[np.uint32]


class Chunk(NamedTuple):
    """Nodes: the number of the first; the number of the head of each, how many sources each has,
    and all their sources."""

    first: int
    heads: Uints
    counts: Uints
    sources: Uints

    @property
    def last(self) -> int:
        """The number of the last one."""
        return self.first + len(self.counts) - 1


class Written(NamedTuple):
    """How many strings, heads, nodes and rules the file holds."""

    strings: int
    heads: int
    nodes: int
    rules: int


_NOTE: Final = 40
"""Characters of the note at the end of a text that was cut before, which is left alone."""
LOCK: Final = threading.RLock()
"""Held to number nodes and strings, and not while anything is packed. One for all traces: two that
are recorded at once share the serial numbers of nodes."""


class Numbering:
    """Strings, nodes and rules of one trace."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {"": 0}
        self._heads: dict[Head, int] = {}
        self._nodes: dict[Node, int] = {}
        """Those that came one by one."""
        self._chunks: list[Chunk] = []
        """The others that the file does not hold."""
        self._rules: dict[tuple[object, ...], int] = {}
        self._rule_texts: dict[int, dict[str, object]] = {}
        """Of rules that the file does not hold, and of such as an interrupt left without a number;
        the next one that is new has that number, and its texts in this place."""
        self._written = Written(len(self._strings), 0, 0, 0)

    @property
    def node_count(self) -> int:
        """How many nodes there are; the last one has this number."""
        chunked = self._chunks[-1].last if self._chunks else self._written.nodes
        return max(next(reversed(self._nodes.values()), 0), chunked)

    def string(self, text: str) -> int:
        """The number of `text`; 0 for "". Longer than MAX_TEXT: it is cut, see `_cut`."""
        found = self._strings.get(text)
        if found is None:
            with LOCK:
                found = self._strings.get(text)
                if found is None:
                    found = len(self._strings)
                    self._strings[text] = found
        return found

    def node(self, fields: Fields, src: tuple[int, ...]) -> int:
        """The number of the node with these fields and sources. Raises TraceError for a source that
        is not an earlier node."""
        key = fields, src
        found = self._nodes.get(key)
        if found is None:
            count = self.node_count
            if src and not 0 < min(src) <= max(src) <= count:
                raise TraceError(
                    f"sources {src} of a node are not all earlier nodes",
                    hint="write the sources of a node before it",
                )
            self.head(fields, len(src))
            found = count + 1
            self._nodes[key] = found
        return found

    def head(self, fields: Fields, sources: int) -> int:
        """The number of what a node with these fields and so many sources has apart from them."""
        key = fields, sources
        found = self._heads.get(key)
        if found is None:
            with LOCK:
                found = self._heads.get(key)
                if found is None:
                    found = len(self._heads) + 1
                    self._heads[key] = found
        return found

    def add_nodes(self, heads: Uints, counts: Uints, sources: Uints) -> None:
        """The next nodes, which the caller knows to be new and sorted: the number of the head of
        each, how many sources it has, and all their sources one after the other."""
        if len(counts):
            self._chunks.append(Chunk(self.node_count + 1, heads, counts, sources))

    def rule(
        self,
        name: str,
        file: str,
        line: int,
        matcher: str,
        equation: str,
        texts: Mapping[str, object],
    ) -> int:
        """The number of a rule; `texts`: doc, source, sourceLine, pattern."""
        key = (name, file, line, matcher, str(texts["source"]))
        found = self._rules.get(key)
        if found is None:
            found = len(self._rules) + 1
            self._add(key, RuleRow(found, name, matcher, file, line, equation), texts)
        return found

    def add_rule(self, row: RuleRow, texts: Mapping[str, object]) -> None:
        """Adds a rule whose number no other rule has."""
        self._add((row.id,), row, texts)

    def take(self) -> Taken:
        """Blocks of what is new."""
        with LOCK:
            before = self._written
            now = Written(len(self._strings), len(self._heads), self.node_count, len(self._rules))
            strings = _between(self._strings, before.strings, now.strings)
            heads = _between(self._heads, before.heads, now.heads)
            chunks = self._new_nodes(before.nodes)
            rules = [self._rules[key] for key in _between(self._rules, before.rules, now.rules)]
        made: list[Block] = []
        if strings:
            data = pack_json(list(map(_cut, strings)))
            made.append(Block(schema.STRINGS, before.strings, len(strings), data))
        if heads:
            columns = zip(*((*fields, sources) for fields, sources in heads), strict=True)
            data = HEADS.pack(list(columns))
            made.append(Block(schema.HEADS, before.heads + 1, len(heads), data))
        if chunks:
            first, count = before.nodes + 1, now.nodes - before.nodes
            made.append(Block(schema.NODES, first, count, _pack_nodes(first, chunks)))
        if rules:
            data = pack_json([self._rule_texts[number] for number in rules])
            made.append(Block(schema.RULES, min(rules), len(rules), data))

        def forget() -> None:
            with LOCK:
                self._written = now
                self._chunks = [chunk for chunk in self._chunks if chunk.first > now.nodes]
            for number in rules:
                self._rule_texts.pop(number, None)

        return Taken(made, forget)

    def _add(self, key: tuple[object, ...], row: RuleRow, texts: Mapping[str, object]) -> None:
        fields = {name: getattr(row, name) for name in RULES.names}
        self._rule_texts[row.id] = {**texts, **fields}
        self._rules[key] = row.id

    def _new_nodes(self, written: int) -> list[Chunk]:
        """Chunks of the nodes after number `written`, with those that came one by one."""
        new = takewhile(lambda item: item[1] > written, reversed(self._nodes.items()))
        single = [*new][::-1]
        starts = [chunk.first for chunk in self._chunks]
        runs = groupby(single, lambda item: bisect(starts, item[1]))
        return sorted(
            chain(self._chunks, (self._chunk([*run]) for _, run in runs)),
            key=lambda chunk: chunk.first,
        )

    def _chunk(self, nodes: Sequence[tuple[Node, int]]) -> Chunk:
        """A chunk of nodes with their numbers, which follow each other."""
        heads = [self._heads[fields, len(src)] for (fields, src), _ in nodes]
        counts = [len(src) for (_, src), _ in nodes]
        sources = [s for (_, src), _ in nodes for s in src]
        return Chunk(
            nodes[0][1],
            np.array(heads, np.uint32),
            np.array(counts, np.uint32),
            np.array(sources, np.uint32),
        )


def _between(known: dict[T, int], first: int, end: int) -> list[T]:
    """Keys from one place in their order to another, which is near the last one."""
    found = islice(reversed(known), len(known) - end, len(known) - first)
    return [*found][::-1]


def _cut(text: str) -> str:
    """A text as the file holds it: longer than MAX_TEXT, it is cut, with a note of how much."""
    if len(text) <= schema.MAX_TEXT + _NOTE:
        return text
    return text[: schema.MAX_TEXT] + f"... ({len(text) - schema.MAX_TEXT} more)"


def _pack_nodes(first: int, chunks: Iterable[Chunk]) -> bytes:
    """A block of nodes numbered from `first`."""
    columns = zip(*((chunk.heads, chunk.counts, chunk.sources) for chunk in chunks), strict=True)
    heads, counts, sources = (np.concatenate(column) for column in columns)
    near = np.repeat(np.arange(first, first + len(counts)), counts) - sources
    is_far = near >= NEAR
    near[is_far] = 0
    return NODES.pack((heads, near, sources[is_far]))
