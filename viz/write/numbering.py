"""Interns strings, nodes and rules: equal fields get the same number.

What is new since the last `take` becomes blocks of the trace. Strings and nodes may be numbered by
several threads while another takes. Never touches a file.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from viz.format import schema
from viz.format.blocks import HEADS, NEAR, NODES
from viz.format.pack import pack_json
from viz.format.rows import RULES, RuleRow

Fields = tuple[int, int, int, int, int, int, int]
"""op, dtype, arg, tag, origin, loc, extra of a node: string numbers."""
Head = tuple[Fields, int]
"""What a node has apart from its sources: its fields, and how many sources there are."""
Uints = npt.NDArray[np.uint32]
Chunk = tuple[Uints, Uints, Uints]
"""Nodes: the number of the head of each, how many sources each has, and all their sources."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block without its number: a kind of `viz/format/schema.py`, the first number in it, how
    many it holds, and the packed data."""

    kind: int
    first: int
    count: int
    data: bytes


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
        self._nodes: dict[tuple[Fields, tuple[int, ...]], int] = {}
        self.node_count = 0
        """How many nodes there are; the last one has this number."""
        self._rules: dict[tuple[str, str, int, str, str], int] = {}
        self._new_strings: list[str] = []
        self._new_heads: list[Head] = []
        self._chunks: list[Chunk] = []
        self._single: list[tuple[int, tuple[int, ...]]] = []
        self._new_rules: list[dict[str, object]] = []

    def string(self, text: str) -> int:
        """The number of `text`; 0 for "". Longer than MAX_TEXT: cut, with a note of how much."""
        found = self._strings.get(text)
        if found is None:
            kept = text
            if len(text) > schema.MAX_TEXT + _NOTE:
                kept = text[: schema.MAX_TEXT] + f"... ({len(text) - schema.MAX_TEXT} more)"
            with LOCK:
                found = self._strings.get(text)
                if found is None:
                    found = self._strings[text] = len(self._strings)
                    self._new_strings.append(kept)
        return found

    def node(self, fields: Fields, src: tuple[int, ...]) -> int:
        """The number of the node with these fields and sources. Raises TraceError for a source that
        is not an earlier node."""
        key = fields, src
        found = self._nodes.get(key)
        if found is None:
            if src and not 0 < min(src) <= max(src) <= self.node_count:
                raise TraceError(
                    f"sources {src} of a node are not all earlier nodes",
                    hint="write the sources of a node before it",
                )
            single = self.head(fields, len(src)), src
            # No calls from here on, here and in `add_nodes`: an interrupt (Ctrl-C) comes between
            # calls and finds all or nothing.
            self._single += (single,)
            self.node_count = self._nodes[key] = found = self.node_count + 1
        return found

    def head(self, fields: Fields, sources: int) -> int:
        """The number of what a node with these fields and so many sources has apart from them."""
        key = fields, sources
        found = self._heads.get(key)
        if found is None:
            with LOCK:
                found = self._heads.get(key)
                if found is None:
                    number = len(self._heads) + 1
                    self._new_heads += (key,)
                    found = self._heads[key] = number
        return found

    def add_nodes(self, heads: Uints, counts: Uints, sources: Uints) -> None:
        """The next nodes, which the caller knows to be new and sorted: the number of the head of
        each, how many sources it has, and all their sources one after the other."""
        count, chunk = len(counts), (heads, counts, sources)
        if self._single:
            self._gather()
        self._chunks += (chunk,)
        self.node_count += count

    def _gather(self) -> None:
        """Makes a chunk of the nodes that came one by one."""
        single, self._single = self._single, []
        heads = np.array([head for head, _ in single], np.uint32)
        counts = np.array([len(src) for _, src in single], np.uint32)
        sources = np.array([s for _, src in single for s in src], np.uint32)
        self._chunks.append((heads, counts, sources))

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
            number = len(self._rules) + 1
            made = _rule(RuleRow(number, name, matcher, file, line, equation), texts)
            self._new_rules += (made,)  # no calls from here on: see `node`
            found = self._rules[key] = number
        return found

    def add_rule(self, row: RuleRow, texts: Mapping[str, object]) -> None:
        """Adds a rule whose number no other rule has."""
        self._new_rules.append(_rule(row, texts))

    def take(self) -> list[Block]:
        """Blocks of what is new; forgets that it was new."""
        with LOCK:
            strings, self._new_strings = self._new_strings, []
            if self._single:
                self._gather()
            chunks, self._chunks = self._chunks, []
            heads, self._new_heads = self._new_heads, []
            string_count, node_count = len(self._strings), self.node_count
            head_count = len(self._heads)
        rules, self._new_rules = self._new_rules, []
        made: list[Block] = []
        if strings:
            data = pack_json(strings)
            first = string_count - len(strings)
            made.append(Block(schema.STRINGS, first, len(strings), data))
        if heads:
            first = head_count - len(heads) + 1
            columns = zip(*((*fields, sources) for fields, sources in heads), strict=True)
            made.append(Block(schema.HEADS, first, len(heads), HEADS.pack(list(columns))))
        if chunks:
            count = sum(len(counts) for _, counts, _ in chunks)
            first = node_count - count + 1
            made.append(Block(schema.NODES, first, count, _pack_nodes(first, chunks)))
        if rules:
            first = min(cast("int", rule["id"]) for rule in rules)
            made.append(Block(schema.RULES, first, len(rules), pack_json(rules)))
        return made


def _rule(row: RuleRow, texts: Mapping[str, object]) -> dict[str, object]:
    return {**texts, **{name: getattr(row, name) for name in RULES.names}}


def _pack_nodes(first: int, chunks: Sequence[Chunk]) -> bytes:
    """A block of nodes numbered from `first`."""
    heads, counts, sources = (np.concatenate(column) for column in zip(*chunks, strict=True))
    near = np.repeat(np.arange(first, first + len(counts)), counts) - sources
    is_far = near >= NEAR
    near[is_far] = 0
    return NODES.pack((heads, near, sources[is_far]))
