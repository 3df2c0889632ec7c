"""Slots: the places of a graph while it is rewritten, and what each step changes in them.

To the eye, a node whose sources were rebuilt is the same node with a moved edge. So a slot stays
while its content changes. An event costs what it changes, never the size of the graph; a test holds
that the replayed graph is the one that the engine returned. Raises BudgetError where that is more
than the budget in force allows. Never looks inside nodes: they are numbers with sources.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from viz.budget import take

Sources = Callable[[int], Sequence[int]]
_SLOT: Final = 700
"""Bytes of a slot with its sets, apart from its edges."""
_EDGE: Final = 130
"""Bytes of an edge: in the list of its user, and in the set of users of its source."""


@dataclass
class Delta:
    """What a step changed: `set` is (slot, node, source slots) after it, `drop` slots that went.
    `removed` is to be marked in the graph before, `added` in the one after, `moved` in both."""

    set: list[tuple[int, int, list[int]]] = field(default_factory=list[tuple[int, int, list[int]]])
    drop: list[int] = field(default_factory=list[int])
    removed: list[int] = field(default_factory=list[int])
    added: list[int] = field(default_factory=list[int])
    moved: list[int] = field(default_factory=list[int])


class Slots:
    """The graph of node `root`; `sources` gives the sources of a node, `kind` what tells apart a
    node with moved edges (same kind) from another node."""

    def __init__(self, root: int, sources: Sources, kind: Callable[[int], object]) -> None:
        self.content: list[int] = []
        self.edges: list[list[int]] = []
        self.repairs = 0
        """Edges that only `settle` brought to where they belong; 0 for every run of the engine."""
        self._sources, self._kind = sources, kind
        self._refs: list[int] = []
        self._users: list[dict[int, int]] = []
        self._holder: dict[int, int] = {}
        self._moved_to: dict[int, int] = {}
        self._was: dict[int, tuple[bool, int, list[int]]] = {}
        self._replaced: set[int] = set()
        self.root = self._place(root)
        self._refs[self.root] += 1
        for edges in self.edges:  # all of them are part of the graph
            for e in edges:
                self._refs[e] += 1
        self._was.clear()

    def present(self, slot: int) -> bool:
        """Whether the slot is part of the graph now."""
        return self._refs[slot] > 0

    def holding(self, node: int) -> int:
        """The slot of the graph that holds a node now; -1 for none."""
        slot = self._holder.get(node, -1)
        return slot if slot >= 0 and self._refs[slot] > 0 and self.content[slot] == node else -1

    def users(self, slot: int) -> Collection[int]:
        """The slots with an edge to `slot`."""
        return self._users[slot].keys()

    def standing_for(self, slot: int) -> int:
        """The slot, or the one that it was merged into."""
        while slot in self._moved_to:
            slot = self._moved_to[slot]
        return slot

    def match(self, before: int, after: int) -> int:
        """Node `after` takes the place of `before`. Returns the slot where it happened."""
        slot = self._place(before)
        above = self._above(after, before)
        for node in above:
            self._holder.pop(node, None)  # a new place inside `after`, or the graph had a cycle
        self._holder.pop(before, None)
        self._replaced.add(slot)
        self._become(slot, after)
        return slot

    def rebuild(self, old: int, new: int) -> None:
        """`old` is `new` from here on: the same node with other sources, or merged with another."""
        slot = self._place(old)
        if old == new:
            return
        del self._holder[old]
        if self._kind(old) != self._kind(new):
            self._replaced.add(slot)
        self._become(slot, new)

    def settle(self, result: int) -> None:
        """The rewrite is over and `result` is its graph: whatever still differs is put right."""
        stack, seen = [self.root], {self.root}
        if self.content[self.root] != result:
            self.repairs += 1
            self._holder.pop(self.content[self.root], None)
            self._become(self.root, result)
        while stack:
            slot = stack.pop()
            wanted = self._sources(self.content[slot])
            if not self._fits(slot, wanted):
                self.repairs += 1
                self._link(slot, wanted)
            for s in self.edges[slot]:
                if s not in seen:
                    seen.add(s)
                    stack.append(s)

    def is_circular(self) -> bool:
        """Whether a slot of the graph is below itself: the events are not those of an engine."""
        return self._has_circle([self.root])

    def became_circular(self) -> bool:
        """The same, where it was not before the last `take`: costs what lies below the changes."""
        changed = [
            slot
            for slot, (was_present, _, edges) in self._was.items()
            if self._refs[slot] > 0 and (not was_present or edges is not self.edges[slot])
        ]
        return self._has_circle(changed) and self.is_circular()

    def _has_circle(self, starts: Sequence[int]) -> bool:
        edges, open_, done = self.edges, set[int](), set[int]()
        for start in starts:
            if start in done:
                continue
            open_.add(start)
            stack = [(start, iter(edges[start]))]
            while stack:
                slot, rest = stack[-1]
                for s in rest:
                    if s in open_:
                        return True
                    if s not in done:
                        open_.add(s)
                        stack.append((s, iter(edges[s])))
                        break
                else:
                    open_.discard(slot)
                    done.add(slot)
                    stack.pop()
        return False

    def take(self) -> Delta:
        """What has changed since the last call."""
        delta = Delta()
        for slot, (was_present, node, edges) in self._was.items():
            here = self._refs[slot] > 0
            moved = edges != self.edges[slot]
            if here and (not was_present or moved or node != self.content[slot]):
                delta.set.append((slot, self.content[slot], self.edges[slot]))
            if was_present and not here:
                delta.drop.append(slot)
                delta.removed.append(slot)
            elif here and not was_present:
                delta.added.append(slot)
            elif here and slot in self._replaced and node != self.content[slot]:
                delta.removed.append(slot)
                delta.added.append(slot)
            elif here and moved:
                delta.moved.append(slot)
        self._was.clear()
        self._replaced.clear()
        return delta

    # one slot

    def _become(self, slot: int, node: int) -> None:
        """`slot`, which holds nothing now, holds `node`, or merges with the slot that does."""
        other = self._holder.get(node)
        if other == slot:
            return
        if other is not None and slot != self.root:
            self._redirect(slot, other)
            return
        self._touch(slot)
        self.content[slot] = node
        self._holder[node] = slot
        if other is not None:  # the root itself: it stays, and its twin is no longer needed
            self._set_edges(slot, self.edges[other])
        else:
            self._link(slot, self._sources(node))

    def _link(self, slot: int, wanted: Sequence[int]) -> None:
        """Edges to where the sources are: those that are right already stay."""
        if not self._fits(slot, wanted):
            had = self.edges[slot]
            self._set_edges(
                slot,
                [
                    had[i] if i < len(had) and self.content[had[i]] == s else self._place(s)
                    for i, s in enumerate(wanted)
                ],
            )

    def _fits(self, slot: int, wanted: Sequence[int]) -> bool:
        take(len(wanted) // 4)
        return [self.content[e] for e in self.edges[slot]] == [*wanted]

    def _place(self, node: int) -> int:
        """The slot of `node`, made with those of its sources where they are missing."""
        holder = self._holder
        if (found := holder.get(node)) is not None:
            return found
        stack = [node]
        while stack:
            n = stack[-1]
            if n not in holder:
                missing = [s for s in self._sources(n) if s not in holder]
                if missing:
                    stack.extend(missing)
                    continue
                holder[n] = len(self.content)
                self._make(n, [holder[s] for s in self._sources(n)])
            stack.pop()
        return holder[node]

    def _make(self, node: int, edges: list[int]) -> None:
        take(2 + len(edges), _SLOT + _EDGE * len(edges))
        slot = len(self.content)
        self.content.append(node)
        self.edges.append(edges)
        self._refs.append(0)
        self._users.append({})
        self._was[slot] = False, node, edges
        for e in edges:
            self._users[e][slot] = self._users[e].get(slot, 0) + 1

    def _above(self, after: int, before: int) -> set[int]:
        """The nodes of `after`'s graph that contain `before`. A source has a smaller number than
        its user, so that only nodes made after `before` need a look."""
        found: set[int] = set()
        seen: set[int] = set()
        stack = [(after, False)]
        while stack:
            node, done = stack.pop()
            if done:
                if any(s == before or s in found for s in self._sources(node)):
                    found.add(node)
            elif node > before and node not in seen:
                take(2)
                seen.add(node)
                stack.append((node, True))
                stack.extend((s, False) for s in self._sources(node))
        return found

    # edges and presence

    def _set_edges(self, slot: int, edges: list[int]) -> None:
        """`edges`, which is never changed afterwards, replaces the edges of `slot`. Costs what
        differs: a node may have thousands of sources of which one has moved."""
        take(1 + len(edges), 8 * len(edges))
        self._touch(slot)
        old, self.edges[slot] = self.edges[slot], edges
        new: Sequence[int] = edges
        if len(old) == len(edges):
            differ = [i for i, (a, b) in enumerate(zip(old, edges, strict=True)) if a != b]
            old, new = [old[i] for i in differ], [edges[i] for i in differ]
        for e in new:
            self._users[e][slot] = self._users[e].get(slot, 0) + 1
        for e in old:
            self._unuse(e, slot)
        if self._refs[slot]:
            for e in new:
                self._retain(e)
            for e in old:
                self._release(e)

    def _unuse(self, slot: int, user: int) -> None:
        left = self._users[slot][user] - 1
        if left:
            self._users[slot][user] = left
        else:
            del self._users[slot][user]

    def _redirect(self, slot: int, to: int) -> None:
        """All users of `slot` use `to` instead; `slot` goes away."""
        self._moved_to[slot] = to
        self._moved_to.pop(to, None)
        take(len(self._users[slot]))
        for user in list(self._users[slot]):
            self._set_edges(user, [to if e == slot else e for e in self.edges[user]])

    def _retain(self, slot: int) -> None:
        stack = [slot]
        while stack:
            s = stack.pop()
            self._touch(s)
            self._refs[s] += 1
            if self._refs[s] == 1:
                take(1 + len(self.edges[s]))
                stack.extend(self.edges[s])

    def _release(self, slot: int) -> None:
        stack = [slot]
        while stack:
            s = stack.pop()
            self._touch(s)
            self._refs[s] -= 1
            if self._refs[s] == 0:
                take(1 + len(self.edges[s]))
                stack.extend(self.edges[s])

    def _touch(self, slot: int) -> None:
        if slot not in self._was:
            self._was[slot] = self._refs[slot] > 0, self.content[slot], self.edges[slot]
