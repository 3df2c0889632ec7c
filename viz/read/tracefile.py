"""One trace file: its rows as objects, its packed blocks decoded on demand.

Grows with the file while the program still writes it (`refresh`). Believes nothing that it reads:
ids that lead nowhere become "?", a damaged block is a Problem. Never writes.
"""

from __future__ import annotations

import bisect
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from core.errors import BudgetError, TraceError
from viz.budget import Budget, take, within
from viz.format import schema
from viz.format.events import EventArrays, read_events
from viz.format.pack import Ints, unpack, unpack_json
from viz.read.database import Database, as_int, as_text, parse_json, parse_object
from viz.read.nodes import NodeTable
from viz.read.visits import Visits, root_ops

CACHED_BLOCKS: Final = 24
CACHED_BYTES: Final = 1 << 27
"""Most bytes of the event blocks that are kept, apart from the last one."""
ROOM: Final = 1 << 27
"""Bytes that all that is kept of the files of a run may take, ROOM_PER_BYTE more for each byte of
them, and never more than MOST. The writer's own take about 20 per byte; a block made to exhaust
memory, a million."""
ROOM_PER_BYTE: Final = 250
MOST: Final = 1 << 32
SECONDS: Final = 20.0
"""Processor time of reading what is new in a file, and SECONDS_PER_BYTE more for each byte of it:
ten times of what the writer's take."""
SECONDS_PER_BYTE: Final = 4e-6
MAX_NAME: Final = 1000
"""Longer names are cut: they are repeated in every row that has them."""
_ROW: Final = 2000
"""Bytes that are kept of a context or rewrite, here and in the navigator, apart from its texts."""
_RULE_BYTES: Final = 1500
_TOTAL: Final = 400
_TUPLE: Final = 48
"""Bytes of a number in a tuple."""
_KINDS: Final = (
    *(schema.STRINGS, schema.NODES, schema.RULES, schema.LAUNCHES, schema.MEMORY),
    *(schema.RULE_SETS, schema.VISITS),
)

_CONTEXT = ("id", "parent", "name", "kind", "meta", "thread", "start", "us", "error")
_REWRITE = (
    *("id", "parent", "context", "name", "matcher", "caller", "bottom_up", "sink", "result"),
    *("nodes", "start", "us", "matches", "rebuilds", "declines", "empty"),
    *("first_block", "last_block", "error"),
)
_RULE = ("id", "name", "matcher", "file", "line", "equation")


@dataclass
class Context:
    """A named group; `us` is None while it is open."""

    id: int
    parent: int
    name: str
    kind: str
    meta: dict[str, Any]
    thread: int
    start: int
    us: int | None
    error: dict[str, Any] | None


@dataclass
class Rewrite:
    """One graph_rewrite; `us` is None while it is open, `result` 0 if there is none."""

    id: int
    parent: int
    context: int
    name: str
    matcher: str
    caller: str
    bottom_up: bool
    sink: int
    result: int
    nodes: int
    start: int
    us: int | None
    matches: int
    rebuilds: int
    declines: int
    empty: int
    blocks: tuple[int, int]
    error: dict[str, Any] | None


@dataclass
class RuleRecord:
    """A rule as it was at record time; `texts`: doc, source, sourceLine, pattern."""

    id: int
    name: str
    matcher: str
    file: str
    line: int
    equation: str
    texts: dict[str, Any] = field(default_factory=dict[str, Any])


class Room:
    """The memory that what is kept of all files of a run may take."""

    def __init__(self) -> None:
        self.budget = Budget("what is kept of the trace", 0, 1 << 62)
        self._sizes: dict[Path, int] = {}
        self._total = 0

    def grow(self, path: Path, size: int) -> None:
        """A file has `size` bytes now. What is kept of a file stays until the run is closed."""
        self._sizes[path] = max(size, self._sizes.get(path, 0))
        total = min(MOST, ROOM + ROOM_PER_BYTE * sum(self._sizes.values()))
        self.budget.memory += total - self._total
        self._total = total


class TraceFile:
    """One file of a run, whose files share `room`. Raises TraceError for a file that is no
    trace."""

    def __init__(self, path: Path, room: Room | None = None) -> None:
        self.path = path
        self._room = room or Room()
        self.db = Database(path)
        self.strings: list[str] = [""]
        self.nodes = NodeTable()
        self.rules: dict[int, RuleRecord] = {}
        self.contexts: dict[int, Context] = {}
        self.rewrites: dict[int, Rewrite] = {}
        self.meta: dict[str, Any] = {}
        self.launches: list[tuple[str, str, int, int, int]] = []
        self.memory: list[tuple[str, int, int]] = []
        self.totals: dict[tuple[int, int], tuple[int, int, int]] = {}
        self.visits = Visits()
        self._cut: dict[int, str] = {}
        self._countable = True
        self._event_blocks: list[int] = []
        self._decoded: OrderedDict[int, EventArrays | None] = OrderedDict()
        self._decoding = threading.Lock()
        self._last_block = self._last_rule = self._last_entry = 0

    def close(self) -> None:
        """Closes the file."""
        self.db.close()

    def refresh(self) -> list[Context | Rewrite]:
        """Reads what was written since; the contexts and rewrites that are new or have changed, in
        the order in which they began."""
        size = self.db.stored()
        self._room.grow(self.path, size)
        self._room.budget.seconds = SECONDS + SECONDS_PER_BYTE * size
        with self.db.snapshot(), within(self._room.budget):
            found = self._read()
        if self.db.missing:
            self.db.problem(*self._cut_off(), first=True)
        return found

    def _cut_off(self) -> tuple[str, str]:
        """What a file that is too short lacks, as far as it says, and a hint."""
        lost = self._last_entry - len(self.contexts) - len(self.rewrites)
        changed = [r.blocks for r in self.rewrites.values() if r.matches]
        blocks = self._event_blocks
        empty = sum(bisect.bisect_left(blocks, a) == bisect.bisect(blocks, b) for a, b in changed)
        said = [f"{self.db.missing:,} of {self.db.wanted:,} bytes are missing"]
        if lost > 0:
            said.append(f"with them {lost:,} of the first {self._last_entry:,} passes and groups")
        if empty:
            said.append(f"the steps of {empty:,} of {len(changed):,} passes")
        said.append("and all that came later")
        return f"this trace is cut off: {', '.join(said)}", "copy it again; the rest is shown"

    def _read(self) -> list[Context | Rewrite]:
        for part in (self._read_meta, self._read_blocks, self._read_rules, self._read_totals):
            self._as_far_as_it_goes(part)
        return self._read_entries()

    def _as_far_as_it_goes(self, part: Callable[[], object]) -> None:
        """Reads a part of the trace; what there is no room or time for is a problem."""
        try:
            part()
        except BudgetError as error:
            self.db.problem(error.what, error.hint)

    def _read_meta(self) -> None:
        rows = self.db.all("meta", ("key", "value"), 1000)
        self.meta = {key: parse_json(value) for key, value in rows if isinstance(key, str)}

    def _read_totals(self) -> None:
        columns = ("pass", "rule", "matches", "declines", "ns")
        self.totals = {
            (as_int(p), as_int(r)): (as_int(m), as_int(d), as_int(ns))
            for p, r, m, d, ns in self.db.all("rule_totals", columns, _TOTAL)
        }

    def tries(self) -> dict[tuple[int, int], int]:
        """How often each rule was tried, by (pass, rule); without those of which the trace does not
        say it."""
        if not self._countable:
            return {}
        try:
            return self.visits.tries(self._roots, self.text)
        except TraceError as error:
            self._countable = False  # what took too long once is not tried again
            self.db.problem(error.what)
            return {}

    def _roots(self, rule: int) -> frozenset[str] | None:
        found = self.rules.get(rule)
        return None if found is None else root_ops(found.texts.get("pattern"))

    def text(self, string: int) -> str:
        """The text of a string id; "?" for one that is not there."""
        return self.strings[string] if 0 <= string < len(self.strings) else "?"

    def name(self, string: int) -> str:
        """The text of a string id, cut where no name is that long."""
        text = self.text(string)
        return text if len(text) <= MAX_NAME else self._cut.setdefault(string, text[:MAX_NAME])

    def events(self, rewrite: Rewrite) -> Iterator[tuple[EventArrays, Ints]]:
        """The blocks that hold events of a rewrite, each with the positions of its events."""
        for arrays in self.event_range(*rewrite.blocks):
            positions = np.flatnonzero(arrays.rewrite == rewrite.id)
            if len(positions):
                yield arrays, positions

    @property
    def event_block_count(self) -> int:
        """How many blocks of events there are."""
        return len(self._event_blocks)

    def event_block(self, at: int) -> EventArrays | None:
        """The block of events at this position of all; None where it cannot be read."""
        return self._events_of(self._event_blocks[at])

    def event_range(self, low: int, high: int) -> Iterator[EventArrays]:
        """The readable blocks of events with numbers from `low` to `high`, in order."""
        begin = bisect.bisect_left(self._event_blocks, low)
        yield from self._readable(
            self._event_blocks[begin : bisect.bisect(self._event_blocks, high)]
        )

    def all_events(self) -> Iterator[EventArrays]:
        """Every readable block of events, in order."""
        yield from self._readable(self._event_blocks)

    def _readable(self, blocks: list[int]) -> Iterator[EventArrays]:
        for block in blocks:
            arrays = self._events_of(block)
            if arrays is not None:
                yield arrays

    def names(self, signature: int) -> list[str]:
        """The bound names of a signature."""
        found = parse_json(self.text(signature))
        items = cast("list[Any]", found) if isinstance(found, list) else []
        return [as_text(name, 100) for name in items]

    def _events_of(self, block: int) -> EventArrays | None:
        with self._decoding:
            return self._decode(block)

    def _decode(self, block: int) -> EventArrays | None:
        if block in self._decoded:
            self._decoded.move_to_end(block)
            return self._decoded[block]
        arrays: EventArrays | None = None
        try:
            arrays = read_events(self._data(block))
        except BudgetError:
            raise  # of this answer: another one may read it
        except TraceError as error:
            self.db.problem(error.what)
        self._decoded[block] = arrays
        size = sum(a.nbytes for a in self._decoded.values() if a is not None)
        while len(self._decoded) > 1 and (
            len(self._decoded) > CACHED_BLOCKS or size > CACHED_BYTES
        ):
            _, dropped = self._decoded.popitem(last=False)
            size -= 0 if dropped is None else dropped.nbytes
        return arrays

    def _data(self, block: int) -> bytes:
        row = self.db.one("blocks", ("id", "data"), block)
        if row is None or not isinstance(row[1], bytes):
            raise TraceError(f"block {block} cannot be read")
        return row[1]

    def _read_blocks(self) -> None:
        columns = ("id", "kind", "first", "count")
        for block, kind, first, count in self.db.rows("blocks", columns, self._last_block):
            self._last_block = max(self._last_block, block)
            if kind == schema.EVENTS:
                bisect.insort(self._event_blocks, block)
            elif kind in _KINDS:
                try:
                    self._add_block(kind, as_int(first), as_int(count), self._data(block))
                except TraceError as error:
                    self.db.problem(error.what)

    def _add_block(self, kind: int, first: int, count: int, data: bytes) -> None:
        if kind == schema.NODES:
            self.nodes.add(first, count, data)
        elif kind == schema.RULE_SETS:
            self.visits.add_sets(first, data)
        elif kind == schema.VISITS:
            self.visits.add(data)
        elif kind == schema.LAUNCHES:
            columns = unpack(data, len(schema.LAUNCH_COLUMNS), each=_TUPLE)
            if len({len(c) for c in columns}) != 1:
                raise TraceError("a block of launches is damaged")
            for name, device, start, ns, size in zip(*(c.tolist() for c in columns), strict=True):
                self.launches.append((self.name(name), self.name(device), start, ns, size))
        elif kind == schema.MEMORY:
            columns = unpack(data, len(schema.MEMORY_COLUMNS), each=_TUPLE)
            if len({len(c) for c in columns}) != 1:
                raise TraceError("a block of memory events is damaged")
            for device, time, allocated in zip(*(c.tolist() for c in columns), strict=True):
                self.memory.append((self.name(device), time, allocated))
        else:
            items = unpack_json(data)
            if not isinstance(items, list):
                raise TraceError("a block is damaged (it is not a list)")
            if kind == schema.STRINGS:
                missing = first - len(self.strings)
                if not 0 <= missing <= 1 << 24:
                    raise TraceError("a block of strings is damaged (its numbers do not follow)")
                take(missing // 16, 8 * missing)
                self.strings += ["?"] * missing
                self.strings += [as_text(item, 2 * schema.MAX_TEXT) for item in items]
            else:
                for item in cast("list[Any]", items):
                    if isinstance(item, dict):
                        self._texts_of_rule(cast("dict[str, Any]", item))

    def _texts_of_rule(self, item: dict[str, Any]) -> None:
        number = as_int(item.get("id"))
        rule = self.rules.setdefault(number, RuleRecord(number, "?", "", "", 0, ""))
        rule.texts = item

    def _read_rules(self) -> None:
        for row in self.db.rows("rules", _RULE, self._last_rule):
            self._last_rule = max(self._last_rule, row[0])
            take(4, _RULE_BYTES + sum(len(cell) for cell in row if isinstance(cell, str)))
            rule = self.rules.setdefault(row[0], RuleRecord(row[0], "", "", "", 0, ""))
            rule.name, rule.matcher = as_text(row[1], MAX_NAME), as_text(row[2], MAX_NAME)
            rule.file, rule.line, rule.equation = as_text(row[3]), as_int(row[4]), as_text(row[5])

    def _read_entries(self) -> list[Context | Rewrite]:
        made: list[Context | Rewrite] = []
        last = self._last_entry
        for entry in (*self._open(self.contexts), *self._open(self.rewrites)):
            table, columns = ("contexts", _CONTEXT)
            if isinstance(entry, Rewrite):
                table, columns = ("rewrites", _REWRITE)
            row = self.db.one(table, columns, entry.id)
            if row is not None:
                made.append(self._entry(row))
        for table, columns in (("contexts", _CONTEXT), ("rewrites", _REWRITE)):
            try:
                for row in self.db.rows(table, columns, last):
                    take(8, _ROW + sum(len(cell) for cell in row if isinstance(cell, str)))
                    made.append(self._entry(row))
            except BudgetError as error:
                self.db.problem(error.what, error.hint)
        made.sort(key=lambda entry: entry.id)
        for entry in made:
            if isinstance(entry, Context):
                self.contexts[entry.id] = entry
            else:
                self.rewrites[entry.id] = entry
        if made:
            self._last_entry = max(last, made[-1].id)
        return made

    def _open(self, entries: dict[int, Any]) -> list[Any]:
        return [e for e in entries.values() if e.us is None]

    def _entry(self, row: tuple[Any, ...]) -> Context | Rewrite:
        if len(row) == len(_CONTEXT):
            number, parent, name, kind, meta, thread, start, us, error = row
            return Context(
                number,
                as_int(parent),
                as_text(name, MAX_NAME),
                as_text(kind, MAX_NAME),
                parse_object(meta),
                as_int(thread),
                as_int(start),
                us if isinstance(us, int) else None,
                parse_object(error) if error is not None else None,
            )
        number, parent, context, name, matcher, caller, bottom_up = row[:7]
        sink, result, nodes, start, us, matches, rebuilds, declines, empty = row[7:16]
        return Rewrite(
            number,
            as_int(parent),
            as_int(context),
            self.name(as_int(name)),
            self.name(as_int(matcher)),
            self.name(as_int(caller)),
            bool(bottom_up),
            as_int(sink),
            as_int(result),
            as_int(nodes),
            as_int(start),
            us if isinstance(us, int) else None,
            as_int(matches),
            as_int(rebuilds),
            as_int(declines),
            as_int(empty),
            (as_int(row[16]), as_int(row[17])),
            parse_object(row[18]) if row[18] is not None else None,
        )
