"""Numbers for strings, nodes and rules: the same fields always give the same number.

What is new since the last `take` becomes blocks of the trace. Strings and nodes may be numbered by
several threads while another takes. Never touches a file.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from core.errors import TraceError
from viz import schema
from viz.pack import Ints, pack, pack_json
from viz.rows import plain_text

Fields = tuple[int, int, int, int, int, int, int]
"""op, dtype, arg, tag, origin, loc, extra of a node: string numbers."""
Block = tuple[int, int, int, bytes]
"""Kind, first number, count, data."""
_NOTE: Final = 40
"""Characters of the note at the end of a text that was cut before, which is left alone."""
LOCK: Final = threading.RLock()
"""Held to number nodes and strings, and not while anything is packed. One for all traces: two that
are recorded at once share the serial numbers of nodes."""


class Numbering:
    """Strings, nodes and rules of one trace."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {"": 0}
        self._nodes: dict[tuple[int, tuple[int, ...]], int] = {}
        self._node_count = 0
        self._rules: dict[tuple[str, str, int, str, str], int] = {}
        self._new_strings: list[str] = []
        self._kinds: dict[Fields, int] = {}
        self._new_kinds: list[int] = []
        self._counts: list[int] = []
        self._sources: list[int] = []
        self._new_rules: list[dict[str, object]] = []
        self.rule_rows: list[tuple[int, str, str, str, int, str]] = []
        """Rows for the table `rules`, of the rules since the last `take`."""

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

    def kind(self, fields: Fields) -> int:
        """The number of a combination of fields, from 0: most nodes share theirs with others."""
        found = self._kinds.get(fields)
        return self._kinds.setdefault(fields, len(self._kinds)) if found is None else found

    def node(self, fields: Fields, src: tuple[int, ...]) -> int:
        """The number of the node with these fields and sources. Raises TraceError for a source that
        is not an earlier node."""
        key = self.kind(fields), src
        found = self._nodes.get(key)
        if found is None:
            if src and not 0 < min(src) <= max(src) <= self._node_count:
                raise TraceError(
                    f"sources {src} of a node are not all earlier nodes",
                    hint="write the sources of a node before it",
                )
            found = self._nodes[key] = self.add_node(key[0], src)
        return found

    def add_node(self, kind: int, src: Sequence[int]) -> int:
        """The number of a node that the caller knows to be new, with sources that it got here."""
        number, count = self._node_count + 1, len(src)
        # No calls from here on: an interrupt (Ctrl-C) comes between calls and finds all or nothing.
        # Flat lists, because a tuple per node would make the garbage collector walk the program.
        self._node_count = number
        self._new_kinds += (kind,)
        self._counts += (count,)
        self._sources += src
        return number

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
            found = self._rules[key] = len(self._rules) + 1
            name, matcher, file, equation = map(plain_text, (name, matcher, file, equation))
            self.rule_rows.append((found, name, matcher, file, line, equation))
            self._new_rules.append({"id": found, **texts})
        return found

    def take(self) -> list[Block]:
        """Blocks of what is new; forgets that it was new (`rule_rows` too)."""
        with LOCK:
            strings, self._new_strings = self._new_strings, []
            kinds, self._new_kinds = self._new_kinds, []
            counts, self._counts = self._counts, []
            sources, self._sources = self._sources, []
            table = list(self._kinds) if kinds else []
            string_count, node_count = len(self._strings), self._node_count
        rules, self._new_rules, self.rule_rows = self._new_rules, [], []
        made: list[Block] = []
        if strings:
            data = pack_json(strings)
            made.append((schema.STRINGS, string_count - len(strings), len(strings), data))
        if counts:
            first = node_count - len(counts) + 1
            data = _pack_nodes(first, np.array(table)[kinds], counts, sources)
            made.append((schema.NODES, first, len(counts), data))
        if rules:
            first = len(self._rules) - len(rules) + 1
            made.append((schema.RULES, first, len(rules), pack_json(rules)))
        return made


def _pack_nodes(first: int, fields: Ints, counts: Sequence[int], sources: Sequence[int]) -> bytes:
    """A block of nodes numbered from `first`; a row of `fields` each."""
    numbers = np.repeat(np.arange(first, first + len(counts)), counts)
    columns = (*fields.T, counts, numbers - np.asarray(sources, dtype=np.int64))
    return pack(columns, schema.NODE_DELTA)
