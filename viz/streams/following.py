"""Derives what an engine did between two matches, of which its compiler tells nothing.

Between two matches an engine builds users of replaced nodes anew and applies what it remembers of
nodes that it has rewritten before. Slots are kept as a replay keeps them (`viz/replay/slots.py`);
before a match at a node that no slot holds, the slot is found whose content has the same fields,
and whose edges lead to where the node's sources stand now. Never guesses: what cannot be derived
is left to the reader of the trace, which puts right the last graph of a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from viz.replay.slots import Slots

_WIDE: Final = 64
"""Edges of a slot that is looked at only when its node is needed: to look at each change of
thousands of sources would be quadratic."""
Rebuild = tuple[int, int]
"""A node, and what it became."""


class Following:
    """The slots of one pass. `sources` and `head` say what nodes are made of, `find` gives the
    number of a node with a head and sources, 0 where none is known."""

    def __init__(
        self,
        sink: int,
        sources: Callable[[int], Sequence[int]],
        head: Callable[[int], object],
        find: Callable[[object, tuple[int, ...]], int],
        remembers: bool = True,
    ) -> None:
        self._sources, self._head, self._find = sources, head, find
        self._slots = Slots(sink, sources, head)
        self._became: dict[int, int] = {}
        """What each node became that was replaced or rebuilt."""
        self._remembers = remembers
        """Whether the engine gives a node that it has replaced before its replacement again."""

    def before(self, node: int) -> list[Rebuild]:
        """The rebuilds that lead to a graph that holds `node`."""
        made: list[Rebuild] = []
        stack, seen = [node], set[int]()
        while stack:
            n = stack.pop()
            if self._slots.holding(n) >= 0:
                continue
            missing = [s for s in self._sources(n) if self._slots.holding(s) < 0]
            if missing and n not in seen:
                stack += [n, *missing]
            else:
                made += self._bring(n)
            seen.add(n)
        return made

    def match(self, before: int, after: int) -> list[Rebuild]:
        """A rule replaced a node; the rebuilds that follow from what the engine remembers."""
        first = len(self._slots.content)
        slot = self._slots.match(before, after)
        made: list[Rebuild] = []
        changed = [slot]
        if self._remembers:
            for new in (*range(first, len(self._slots.content)), self._slots.standing_for(slot)):
                if self._slots.present(new):
                    made += self._remembered(new, changed, before)
        self._became[before] = after
        made += self._follow(changed)
        self._slots.take()
        return made

    def end(self, result: int) -> list[Rebuild]:
        """The rebuilds that lead to the result of the pass."""
        return self.before(result)

    def last(self, make: Callable[[int, tuple[int, ...]], int]) -> tuple[int, list[Rebuild]]:
        """The graph as it is now: its root, and the rebuilds that lead to it. `make` gives the node
        that one is with other sources."""
        slots, made = self._slots, list[Rebuild]()
        nodes: dict[int, int] = {}
        opened: set[int] = set()
        stack = [slots.root]
        while stack:
            slot = stack[-1]
            below = [e for e in slots.edges[slot] if e not in nodes]
            if slot in nodes or (below and slot in opened):  # done, or below itself
                nodes.setdefault(slot, slots.content[slot])
                stack.pop()
                continue
            opened.add(slot)
            if below:
                stack += below
                continue
            stack.pop()
            held = slots.content[slot]
            sources = tuple(nodes[e] for e in slots.edges[slot])
            nodes[slot] = held if sources == tuple(self._sources(held)) else make(held, sources)
            if nodes[slot] != held:
                made.append((held, nodes[slot]))
        return nodes[slots.root], made

    def _bring(self, node: int) -> list[Rebuild]:
        """Rebuilds as `node`, whose sources have slots, what has its fields and these edges."""
        slots = self._slots
        wanted = [slots.holding(s) for s in self._sources(node)]
        if not wanted or min(wanted) < 0:
            return []
        head, made = self._head(node), list[Rebuild]()
        for slot in list(slots.users(wanted[0])):  # several, where they become equal
            held = slots.content[slot]
            is_it = slots.holding(held) == slot and slots.edges[slot] == wanted
            if is_it and self._head(held) == head:
                made += self._rebuild(slot, node)
        return [*made, *self._follow([slots.holding(node)])] if made else []

    def _rebuild(self, slot: int, node: int) -> Iterator[Rebuild]:
        held = self._slots.content[slot]
        if held != node:
            self._slots.rebuild(held, node)
            self._became[held] = node
            yield held, node

    def _remembered(self, slot: int, changed: list[int], replaced: int) -> list[Rebuild]:
        """What becomes of a node of a replacement that the engine has rewritten before."""
        held = self._slots.content[slot]
        target = self._fate(held)
        if held in (target, replaced) or self._slots.holding(held) != slot:
            return []
        made = [*self._rebuild(slot, target)]
        changed.append(self._slots.holding(target))
        return made

    def _fate(self, node: int) -> int:
        seen: set[int] = set()
        while node in self._became and node not in seen:
            seen.add(node)
            node = self._became[node]
        return node

    def _follow(self, changed: list[int]) -> list[Rebuild]:
        """Users of changed slots which now are nodes that the graph has had before."""
        slots = self._slots
        made: list[Rebuild] = []
        while changed:
            for user in list(slots.users(slots.standing_for(changed.pop()))):
                edges = slots.edges[user]
                if not slots.present(user) or len(edges) > _WIDE:
                    continue
                held = slots.content[user]
                if slots.holding(held) != user:
                    continue
                now = self._find(self._head(held), tuple(slots.content[e] for e in edges))
                if now in (0, held) or not (slots.holding(now) >= 0 or now in self._became):
                    continue
                made += self._rebuild(user, now)
                fate = self._fate(now) if self._remembers else now
                if fate != now and slots.holding(now) >= 0:
                    made += self._rebuild(slots.holding(now), fate)
                stands = slots.holding(fate)
                if stands >= 0:
                    changed.append(stands)
        return made
