"""Events of the next block, and the counts per rewrite and per rule that follow from them.

Of very many declines of one rule in one rewrite only the first are kept one by one. Never touches a
file.
"""

from __future__ import annotations

from typing import Final

from viz.format import schema
from viz.format.events import Columns, Events, MatchField
from viz.format.rows import TotalRow
from viz.write.entries import Entries
from viz.write.grouping import Groups, counted
from viz.write.numbering import Block

BLOCK: Final = 20_000
"""Events of one block: what a reader decodes at once. More begin a new one."""
DECLINES_KEPT: Final = 64
"""Declines of one rule in one rewrite that are kept one by one; the others are counted."""


class Totals:
    """What each rule did in all passes of a name."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, int], TotalRow] = {}
        self._changed: dict[tuple[int, int], TotalRow] = {}

    def add(
        self, name: int, rule: int, *, matches: int = 0, declines: int = 0, ns: int = 0
    ) -> None:
        """Adds to the total of a rule in passes called `name` (the number of a text)."""
        key = name, rule
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = TotalRow(name, rule, 0, 0, 0)
        row.matches += matches
        row.declines += declines
        row.ns += ns
        self._changed[key] = row

    def take(self) -> list[TotalRow]:
        """The totals that have changed since the last call."""
        changed, self._changed = self._changed, {}
        return [*changed.values()]


class EventLog:
    """Events of rewrites. `counting`: they add to the counts in the rows of their rewrites and to
    the totals; a copy, whose counts are known, goes without."""

    def __init__(self, entries: Entries, counting: bool = True) -> None:
        self.totals = Totals()
        self._entries, self._counting = entries, counting
        self._events = Events()
        self._declined: dict[int, dict[int, int]] = {}
        """By open rewrite and rule, how many declines there were."""

    @property
    def full(self) -> bool:
        """Whether there is a whole block of events."""
        return len(self._events.kind) >= BLOCK

    def match(
        self,
        rewrite: int,
        rule: int,
        before: int,
        after: int,
        ns: int,
        signature: int,
        nodes: list[int],
    ) -> None:
        """`rule` replaced `before` by `after`; `signature` names the `nodes` that it bound."""
        events = self._of(rewrite, schema.MATCH)
        events.matches.extend((rule, before, after, ns, signature, len(nodes)))
        events.binds.extend([before - node for node in nodes])

    def rebuild(self, rewrite: int, old: int, new: int) -> None:
        """Node `old` became `new`."""
        self._of(rewrite, schema.REBUILD).rebuilds.extend((old, new))

    def decline(self, rewrite: int, rule: int, node: int) -> None:
        """`rule` declined `node`."""
        self._of(rewrite, schema.DECLINE).declines.extend((rule, node))

    def extend(self, part: Events) -> None:
        """Many events at once, of rewrites that are open or have ended since the last `take`."""
        self._events.extend(part)

    def take(self, block: int) -> list[Block]:
        """The block of the events since the last call, which has the number `block`."""
        if not self._events.kind:
            return []
        events, self._events = self._events.arrays(), Events()
        for number in set(events.rewrite.tolist()):
            row = self._entries.rewrite(number)
            row.first_block = row.first_block or block
            row.last_block = block
        if self._counting:
            events = self._counted(events)
        count = len(events.kind)
        return [Block(schema.EVENTS, 0, count, events.pack())] if count else []

    def _of(self, rewrite: int, kind: int) -> Events:
        """Where an event goes; what belongs to its kind is still to be added."""
        self._entries.rewrite(rewrite)
        self._events.kind.append(kind)
        self._events.rewrite.append(rewrite)
        return self._events

    def _counted(self, events: Columns) -> Columns:
        """Adds events to the counts of their rewrites and rules; without those declines that are
        only counted."""
        row_of, totals = self._entries.rewrite, self.totals
        for number, count in counted(events.rewrite[events.kind == schema.REBUILD]):
            row_of(number).rebuilds += count
        rules, times = events.match[:, MatchField.RULE], events.match[:, MatchField.NS]
        matched = Groups(events.rewrite[events.kind == schema.MATCH], rules)
        for number, rule, count, ns in matched.sums(times):
            row = row_of(number)
            row.matches += count
            totals.add(row.name, rule, matches=count, ns=ns)
        declined = Groups(events.rewrite[events.kind == schema.DECLINE], events.decline[:, 0])
        seen: list[int] = []
        for number, rule, count, _ in declined.sums():
            row = row_of(number)
            row.declines += count
            totals.add(row.name, rule, declines=count)
            earlier = self._declined.setdefault(number, {})
            seen.append(earlier.get(rule, 0))
            earlier[rule] = seen[-1] + count
        is_open = self._entries.is_open
        self._declined = {n: counts for n, counts in self._declined.items() if is_open(n)}
        drop = declined.ranks(seen) >= DECLINES_KEPT
        return events.without(drop) if drop.any() else events
