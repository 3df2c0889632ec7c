"""Events of the next block, and the counts per rewrite and per rule that follow from them.

Of very many declines of one rule in one rewrite only the first are kept one by one. Never touches a
file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Final

import numpy as np

from viz.format import schema
from viz.format.events import Events, MatchField, events_of, joined
from viz.format.rows import TotalRow
from viz.write.entries import Counts, Entries
from viz.write.events.grouping import Groups, counted
from viz.write.log import Block, Log

BLOCK: Final = 20_000
"""Events of one block: what a reader decodes at once. More begin a new one."""
DECLINES_KEPT: Final = 64
"""Declines of one rule in one rewrite that are kept one by one; the others are counted."""
_cells: Final = attrgetter("pass_", "rule", "matches", "declines", "ns")
Key = tuple[int, int]
"""The name of a pass (the number of a text) and a rule."""
Declined = dict[int, dict[int, int]]
"""By rewrite and rule, how many declines there were."""


class Totals:
    """What each rule did in all passes of a name."""

    def __init__(self) -> None:
        self._rows: dict[Key, TotalRow] = {}
        self._new: Log[TotalRow] = Log()

    def add(
        self, name: int, rule: int, *, matches: int = 0, declines: int = 0, ns: int = 0
    ) -> None:
        """Adds to the total of a rule in passes called `name` (the number of a text)."""
        self._new.add(TotalRow(name, rule, matches, declines, ns))

    def take(self, counted: Sequence[TotalRow]) -> tuple[list[TotalRow], Callable[[], None]]:
        """The totals that have changed since the last flush or change by what is counted now, and
        what forgets that."""
        told = self._new.items()
        changed: dict[Key, TotalRow] = {}
        for more in [*told, *counted]:
            key = more.pass_, more.rule
            row = changed.get(key)
            if row is None:
                row = changed[key] = TotalRow(
                    *_cells(self._rows.get(key) or TotalRow(*key, 0, 0, 0))
                )
            row.matches += more.matches
            row.declines += more.declines
            row.ns += more.ns
        end = self._new.forgotten + len(told)

        def forget() -> None:
            self._rows.update(changed)
            self._new.forget(end)

        return [*changed.values()], forget


@dataclass(frozen=True, slots=True)
class NewEvents:
    """The block of the events since the last flush, what it adds to the rows of rewrites, the
    totals that have changed, and what forgets all that."""

    blocks: list[Block]
    counts: dict[int, Counts]
    totals: list[TotalRow]
    forget: Callable[[], None]


class EventLog:
    """Events of rewrites. `counting`: they add to the counts in the rows of their rewrites and to
    the totals; a copy, whose counts are known, goes without."""

    def __init__(self, entries: Entries, counting: bool = True) -> None:
        self.totals = Totals()
        self._entries, self._counting = entries, counting
        self._new: Log[tuple[int, ...] | Events] = Log()
        """Blocks of events, and single events as rows of `events_of`."""
        self._count = 0
        """How many these are; less where an interrupt came in between."""
        self._empty: Log[int] = Log()
        """The rewrites around those that changed nothing, one for each."""
        self._declined: Declined = {}
        """Of open rewrites."""

    @property
    def full(self) -> bool:
        """Whether there is a whole block of events."""
        return self._count >= BLOCK

    def match(
        self,
        rewrite: int,
        rule: int,
        before: int,
        after: int,
        ns: int,
        signature: int,
        nodes: Sequence[int],
    ) -> None:
        """`rule` replaced `before` by `after`; `signature` names the `nodes` that it bound."""
        self._add(schema.MATCH, rewrite, rule, before, after, ns, signature, len(nodes), *nodes)

    def rebuild(self, rewrite: int, old: int, new: int) -> None:
        """Node `old` became `new`."""
        self._add(schema.REBUILD, rewrite, old, new)

    def decline(self, rewrite: int, rule: int, node: int) -> None:
        """`rule` declined `node`."""
        self._add(schema.DECLINE, rewrite, rule, node)

    def empty(self, rewrite: int) -> None:
        """A rewrite inside of an open one changed nothing."""
        self._entries.open_rewrite(rewrite)
        self._empty.add(rewrite)

    def extend(self, part: Events) -> None:
        """Many events at once, of rewrites that are open or have ended since the last flush."""
        for rewrite in set(part.rewrite):
            self._entries.rewrite(rewrite)
        self._new.add(part)
        self._count += len(part)

    def take(self, block: int) -> NewEvents:
        """What is new since the last flush; the block gets the number `block`."""
        told, empty = self._new.items(), self._empty.items()
        events = _joined(told)
        counts: defaultdict[int, Counts] = defaultdict(Counts)
        totals: list[TotalRow] = []
        declined: Declined = {}
        for number, count in Counter(empty).items():
            counts[number].empty += count
        for number in set(events.rewrite.tolist()):
            counts[number].block = block
        if self._counting:
            events = self._counted(events, counts, totals, declined)
        changed, forget_totals = self.totals.take(totals)
        count = len(events)
        blocks = [Block(schema.EVENTS, 0, count, events.pack())] if count else []
        ends = self._new.forgotten + len(told), self._empty.forgotten + len(empty)

        def forget() -> None:
            forget_totals()
            self._declined = {
                n: self._declined.get(n, {}) | declined.get(n, {})
                for n in self._declined | declined
                if self._entries.is_open(n)
            }
            self._empty.forget(ends[1])
            self._new.forget(ends[0])
            self._count = sum(
                len(one) if isinstance(one, Events) else 1 for one in self._new.items()
            )

        return NewEvents(blocks, dict(counts), changed, forget)

    def _add(self, kind: int, rewrite: int, *numbers: int) -> None:
        self._entries.open_rewrite(rewrite)
        self._new.add((kind, rewrite, *numbers))
        self._count += 1

    def _counted(
        self,
        events: Events,
        counts: defaultdict[int, Counts],
        totals: list[TotalRow],
        declined: Declined,
    ) -> Events:
        """Notes what events add to the counts of their rewrites and rules; returns them without
        those declines that are only counted."""
        name_of = {number: self._entries.rewrite(number).name for number in counts}
        for number, count in counted(events.rewrite[events.kind == schema.REBUILD]):
            counts[number].rebuilds += count
        rules, times = events.match[:, MatchField.RULE], events.match[:, MatchField.NS]
        matched = Groups(events.rewrite[events.kind == schema.MATCH], rules)
        for number, rule, count, ns in matched.sums(times):
            counts[number].matches += count
            totals.append(TotalRow(name_of[number], rule, count, 0, ns))
        groups = Groups(events.rewrite[events.kind == schema.DECLINE], events.decline[:, 0])
        seen: list[int] = []
        for number, rule, count, _ in groups.sums():
            counts[number].declines += count
            totals.append(TotalRow(name_of[number], rule, 0, count, 0))
            seen.append(self._declined.get(number, {}).get(rule, 0))
            declined.setdefault(number, {})[rule] = seen[-1] + count
        drop = groups.ranks(seen) >= DECLINES_KEPT
        if not drop.any():
            return events
        left_out = np.flatnonzero(events.kind == schema.DECLINE)[drop]
        return events.at(np.delete(np.arange(len(events)), left_out))


def _joined(told: Sequence[tuple[int, ...] | Events]) -> Events:
    """All these events."""
    parts: list[Events] = []
    for _, group in groupby(told, type):
        same = [*group]
        parts += [one for one in same if isinstance(one, Events)]
        if rows := [one for one in same if not isinstance(one, Events)]:
            parts.append(events_of(rows))
    return joined(parts)
