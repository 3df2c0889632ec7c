"""Which slots of two passes are the same node, over all of their states.

Works on the bundles that the page has, so that numbers of slots and steps are those. First graphs
go together by structural key, then from the roots down and from the leaves up where what stands
around is the same; what steps that go together make, in order. Never looks into the trace.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from viz.budget import take
from viz.compare.matching.align import align, fill
from viz.compare.matching.keys import Keys, mix, near_keys
from viz.compare.matching.side import Part

Bundle = dict[str, Any]
_SLOT: Final = 300
"""Bytes of a slot meanwhile; _STEP those of a step."""
_STEP: Final = 400
_MULTIPLIER: Final = 0x9E3779B97F4A7C15
"""Odd: numbers of rules become keys that are not small."""


class Walked:
    """A pass of one run: its bundle, and the keys of what is in it."""

    def __init__(self, part: Part, bundle: Bundle, classes: Mapping[int, int]) -> None:
        self.bundle = bundle
        part.keys.refresh()  # of a run that has gone on, the bundle has nodes that are new
        first = part.process.id(0)
        ids: list[int] = bundle["nodes"]["id"]
        steps: list[Bundle] = bundle["steps"]
        take(8 * len(ids) + 8 * len(steps), _SLOT * len(ids) + _STEP * len(steps))
        nodes = np.array([number - first for number in ids], np.int64)
        self.exact: Keys = part.keys.keys[nodes] if len(nodes) else np.zeros(0, np.uint64)
        self.near: Keys = near_keys(part.keys, part.file, nodes)
        self.own: Keys = part.keys.heads[nodes] if len(nodes) else np.zeros(0, np.uint64)
        rules = np.array([classes.get(s["rule"], 0) for s in steps], np.uint64)
        self._rules = rules * np.uint64(_MULTIPLIER)
        self._before = np.array([s["before"] for s in steps], np.int64)
        self._after = np.array([s["after"] for s in steps], np.int64)

    def step_keys(self) -> list[Keys]:
        """Keys of the steps: by whole nodes; by nodes and what they read; by rule and node."""
        return [
            self._steps(self.exact, self.exact),
            self._steps(self.near, self.near),
            self._steps(self.own, None),
        ]

    def _steps(self, before: Keys, after: Keys | None) -> Keys:
        if not len(self._before):
            return np.zeros(0, np.uint64)
        made = mix(self._rules, before[self._before])
        return made if after is None else mix(made, after[self._after])


def pair_slots(a: Walked, b: Walked, steps: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Slots of both bundles that are the same node, each at most once. Raises BudgetError."""
    pairing = _Pairing(a, b)
    pairing.first_graphs()
    pairing.walk(steps)
    return sorted(pairing.of_a.items())


class _Pairing:
    """Slots as they are paired; `content` holds what each slot was last, by side."""

    def __init__(self, a: Walked, b: Walked) -> None:
        self.a, self.b = a, b
        self.of_a: dict[int, int] = {}
        self.of_b: dict[int, int] = {}
        self._content: tuple[dict[int, int], dict[int, int]] = {}, {}
        self._edges: tuple[dict[int, list[int]], dict[int, list[int]]] = {}, {}

    def put(self, slot_a: int, slot_b: int) -> bool:
        """Pairs two slots, if neither is paired."""
        if slot_a in self.of_a or slot_b in self.of_b:
            return False
        self.of_a[slot_a] = slot_b
        self.of_b[slot_b] = slot_a
        return True

    def first_graphs(self) -> None:
        """Pairs the slots of the first graphs."""
        for side, walked in enumerate((self.a, self.b)):
            initial = walked.bundle["initial"]
            take(4 * len(initial["slot"]), 2 * _SLOT * len(initial["slot"]))
            self._content[side].update(zip(initial["slot"], initial["node"], strict=True))
            self._edges[side].update(zip(initial["slot"], initial["src"], strict=True))
        self._by_key(*([*content] for content in self._content))
        root_a, root_b = self.a.bundle["root"], self.b.bundle["root"]
        if root_a in self._content[0] and root_b in self._content[1]:
            self.put(root_a, root_b)
        self._down()
        self._up()

    def _by_key(self, slots_a: list[int], slots_b: list[int]) -> None:
        """Pairs slots that hold nodes of one key, the first such with the first."""
        waiting: dict[int, list[int]] = {}
        for slot in reversed(slots_b):
            if slot not in self.of_b:
                waiting.setdefault(int(self.b.exact[self._content[1][slot]]), []).append(slot)
        for slot in slots_a:
            others = waiting.get(int(self.a.exact[self._content[0][slot]]))
            if others and slot not in self.of_a:
                self.put(slot, others.pop())

    def _down(self) -> None:
        """From what is paired to its sources: those in the same place, if they are of one op."""
        waiting = deque(self.of_a.items())
        while waiting:
            slot_a, slot_b = waiting.popleft()
            edges_a, edges_b = self._edges[0].get(slot_a, []), self._edges[1].get(slot_b, [])
            take(2 + len(edges_a) + len(edges_b))
            left_a = [s for s in edges_a if s not in self.of_a]
            left_b = [s for s in edges_b if s not in self.of_b]
            if not left_a or not left_b:
                continue
            if len(edges_a) == len(edges_b):
                pairs = [*zip(edges_a, edges_b, strict=True)]
            else:
                of = self._of(self.a.own, 0, left_a), self._of(self.b.own, 1, left_b)
                pairs = [(left_a[i], left_b[j]) for i, j in align(*of)]
            for one, other in pairs:
                if self._same_op(one, other) and self.put(one, other):
                    waiting.append((one, other))

    def _up(self) -> None:
        """From sources to what reads them: nodes of the same fields whose paired sources agree."""
        waiting: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for slot in reversed(self._content[1]):
            if slot not in self.of_b:
                waiting.setdefault(self._seen(1, slot), []).append(slot)
        for slot in self._content[0]:
            if slot not in self.of_a:
                others = waiting.get(self._seen(0, slot))
                if others:
                    self.put(slot, others.pop())

    def _seen(self, side: int, slot: int) -> tuple[int, tuple[int, ...]]:
        """A node's own fields, and its paired sources by their slots in A."""
        walked = (self.a, self.b)[side]
        edges = self._edges[side].get(slot, [])
        take(1 + len(edges), 16 * len(edges))
        if side:
            known = tuple(self.of_b[s] for s in edges if s in self.of_b)
        else:
            known = tuple(s for s in edges if s in self.of_a)
        return int(walked.own[self._content[side][slot]]), known

    def walk(self, steps: Sequence[tuple[int, int]]) -> None:
        """Goes through the steps of both: what those that go together make is paired in order. At
        last, what holds the same node as something that is left over."""
        steps_a, steps_b = self.a.bundle["steps"], self.b.bundle["steps"]
        at_a = at_b = 0
        for i, j in (*steps, (len(steps_a), len(steps_b))):
            for n in range(at_a, i):
                self._take_up(0, steps_a[n])
            for n in range(at_b, j):
                self._take_up(1, steps_b[n])
            if i < len(steps_a) and j < len(steps_b):
                self.put(steps_a[i]["slot"], steps_b[j]["slot"])
                new_a = self._take_up(0, steps_a[i])
                new_b = self._take_up(1, steps_b[j])
                self._in_order(new_a, new_b)
            at_a, at_b = i + 1, j + 1
        self._by_key(
            [slot for slot in self._content[0] if slot not in self.of_a],
            [slot for slot in self._content[1] if slot not in self.of_b],
        )

    def _take_up(self, side: int, step: Bundle) -> list[int]:
        """What a step changed; the slots that it made."""
        content, edges = self._content[side], self._edges[side]
        changed: list[tuple[int, int, list[int]]] = step["set"]
        take(2 + len(changed), _SLOT * len(changed))
        new = [slot for slot, _, _ in changed if slot not in content]
        for slot, node, src in changed:
            content[slot] = node
            edges[slot] = src
        return new

    def _in_order(self, new_a: list[int], new_b: list[int]) -> None:
        """Pairs what two steps made: by whole nodes, then by their own fields."""
        if not new_a or not new_b:
            return
        self._by_key(new_a, new_b)
        left_a = [slot for slot in new_a if slot not in self.of_a]
        left_b = [slot for slot in new_b if slot not in self.of_b]
        if left_a and left_b:
            of = self._of(self.a.own, 0, left_a), self._of(self.b.own, 1, left_b)
            pairs = align(*of)
            for i, j in pairs:
                self.put(left_a[i], left_b[j])
            for gap_a, gap_b in fill(pairs, len(left_a), len(left_b)):
                for i, j in zip(gap_a, gap_b, strict=False):
                    if self._same_op(left_a[i], left_b[j]):
                        self.put(left_a[i], left_b[j])

    def _of(self, keys: Keys, side: int, slots: list[int]) -> Keys:
        return keys[np.array([self._content[side][slot] for slot in slots], np.int64)]

    def _same_op(self, slot_a: int, slot_b: int) -> bool:
        if slot_a not in self._content[0] or slot_b not in self._content[1]:
            return False
        return self._op(self.a, 0, slot_a) == self._op(self.b, 1, slot_b)

    def _op(self, walked: Walked, side: int, slot: int) -> str:
        bundle = walked.bundle
        return bundle["ops"][bundle["nodes"]["op"][self._content[side][slot]]]
