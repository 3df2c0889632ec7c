"""Numbers for strings, nodes and rules: the same fields always give the same number.

What is new since the last `take` becomes blocks of the trace. Never touches a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.errors import TraceError
from viz import schema
from viz.pack import pack, pack_json
from viz.rows import plain_text

NodeKey = tuple[int, int, int, int, int, int, int, tuple[int, ...]]
Block = tuple[int, int, int, bytes]
"""Kind, first number, count, data."""
_SOURCES = 7


class Numbering:
    """Strings, nodes and rules of one trace."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {"": 0}
        self._nodes: dict[NodeKey, int] = {}
        self._node_count = 0
        self._rules: dict[tuple[str, str, int, str, str], int] = {}
        self._new_strings: list[str] = []
        self._new_nodes = 0
        self._fields: list[int] = []
        self._counts: list[int] = []
        self._deltas: list[int] = []
        self._new_rules: list[dict[str, object]] = []
        self.rule_rows: list[tuple[int, str, str, str, int, str]] = []
        """Rows for the table `rules`, of the rules since the last `take`."""

    def string(self, text: str) -> int:
        """The number of `text`; 0 for "". Longer than MAX_TEXT: cut, with a note of how much."""
        found = self._strings.get(text)
        if found is None:
            kept = text
            if len(text) > schema.MAX_TEXT:
                kept = text[: schema.MAX_TEXT] + f"... ({len(text) - schema.MAX_TEXT} more)"
            found = self._strings[text] = len(self._strings)
            self._new_strings.append(kept)
        return found

    def node(self, key: NodeKey) -> int:
        """The number of the node with these strings and sources. Raises TraceError for a source
        that is not an earlier node."""
        found = self._nodes.get(key)
        if found is None:
            src = key[_SOURCES]
            if src and not 0 < min(src) <= max(src) <= self._node_count:
                raise TraceError(
                    f"sources {src} of a node are not all earlier nodes",
                    hint="write the sources of a node before it",
                )
            found = self._nodes[key] = self.add_node(*key)
        return found

    def add_node(
        self,
        op: int,
        dtype: int,
        arg: int,
        tag: int,
        origin: int,
        loc: int,
        extra: int,
        src: Sequence[int],
    ) -> int:
        """The number of a node that the caller knows to be new, with sources that it got here."""
        self._new_nodes += 1
        self._node_count = number = self._node_count + 1
        self._fields += (op, dtype, arg, tag, origin, loc, extra)  # flat: a tuple per node would
        self._counts.append(len(src))  # make the garbage collector walk the whole program
        self._deltas += [number - s for s in src]
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
        made: list[Block] = []
        if strings := self._new_strings:
            first = len(self._strings) - len(strings)
            made.append((schema.STRINGS, first, len(strings), pack_json(strings)))
        if nodes := self._new_nodes:
            columns = [self._fields[i::_SOURCES] for i in range(_SOURCES)]
            data = pack((*columns, self._counts, self._deltas), schema.NODE_DELTA)
            made.append((schema.NODES, self._node_count - nodes + 1, nodes, data))
            self._fields, self._counts, self._deltas = [], [], []
        if rules := self._new_rules:
            first = len(self._rules) - len(rules) + 1
            made.append((schema.RULES, first, len(rules), pack_json(rules)))
        self._new_strings, self._new_nodes, self._new_rules = [], 0, []
        self.rule_rows = []
        return made
