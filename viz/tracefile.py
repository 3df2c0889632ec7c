"""One trace file: its rows as objects, its packed blocks decoded on demand.

Grows with the file while the program still writes it (`refresh`). Believes nothing that it reads:
ids that lead nowhere become "?", a damaged block is a Problem. Never writes.
"""

from __future__ import annotations

import bisect
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from core.errors import TraceError
from viz import schema
from viz.columns import EventArrays, read_events
from viz.nodes import NodeTable
from viz.pack import Ints, unpack, unpack_json
from viz.readonly import Database, as_int, as_text, parse_json, parse_object
from viz.visits import Visits, root_ops

CACHED_BLOCKS: Final = 24
ROOM: Final = 1 << 27
"""Bytes that all the blocks that are kept may unpack to, and ROOM_PER_BYTE more for each byte of
the file. The writer's take about 20; a block made to fill the memory, a million."""
ROOM_PER_BYTE: Final = 250
_NODE_BYTES: Final = 8 * len(schema.NODE_COLUMNS)
_TUPLE: Final = 4
"""Times that a row as a tuple is larger than in columns."""
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


class TraceFile:
    """One file of a run. Raises TraceError for a file that is no trace."""

    def __init__(self, path: Path) -> None:
        self.path = path
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
        self._countable = True
        self._event_blocks: list[int] = []
        self._decoded: OrderedDict[int, EventArrays | None] = OrderedDict()
        self._decoding = threading.Lock()
        self._spent = 0
        self._last_block = self._last_rule = self._last_entry = 0

    def close(self) -> None:
        """Closes the file."""
        self.db.close()

    def refresh(self) -> list[Context | Rewrite]:
        """Reads what was written since; the contexts and rewrites that are new or have changed, in
        the order in which they began."""
        with self.db.snapshot():
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
        self.meta = {
            key: parse_json(value)
            for key, value in self.db.all("meta", ("key", "value"))
            if isinstance(key, str)
        }
        self._read_blocks()
        self._read_rules()
        self.totals = {
            (as_int(p), as_int(r)): (as_int(m), as_int(d), as_int(ns))
            for p, r, m, d, ns in self.db.all(
                "rule_totals", ("pass", "rule", "matches", "declines", "ns")
            )
        }
        return self._read_entries()

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
        except TraceError as error:
            self.db.problem(error.what)
        self._decoded[block] = arrays
        if len(self._decoded) > CACHED_BLOCKS:
            self._decoded.popitem(last=False)
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
            missing = first + count - self.nodes.count
            self._spend(_NODE_BYTES * max(0, missing))
            self.nodes.add(first, count, data)
        elif kind == schema.RULE_SETS:
            self.visits.add_sets(first, data, self._spend_rows)
        elif kind == schema.VISITS:
            self.visits.add(data, self._spend_rows)
        elif kind == schema.LAUNCHES:
            columns = unpack(data, len(schema.LAUNCH_COLUMNS), self._spend_rows)
            if len({len(c) for c in columns}) != 1:
                raise TraceError("a block of launches is damaged")
            for name, device, start, ns, size in zip(*(c.tolist() for c in columns), strict=True):
                self.launches.append((self.text(name), self.text(device), start, ns, size))
        elif kind == schema.MEMORY:
            columns = unpack(data, len(schema.MEMORY_COLUMNS), self._spend_rows)
            if len({len(c) for c in columns}) != 1:
                raise TraceError("a block of memory events is damaged")
            for device, time, allocated in zip(*(c.tolist() for c in columns), strict=True):
                self.memory.append((self.text(device), time, allocated))
        else:
            items = unpack_json(data, self._spend)
            if not isinstance(items, list):
                raise TraceError("a block is damaged (it is not a list)")
            if kind == schema.STRINGS:
                missing = first - len(self.strings)
                if not 0 <= missing <= 1 << 24:
                    raise TraceError("a block of strings is damaged (its numbers do not follow)")
                self.strings += ["?"] * missing
                self.strings += [as_text(item, 2 * schema.MAX_TEXT) for item in items]
            else:
                for item in cast("list[Any]", items):
                    if isinstance(item, dict):
                        self._texts_of_rule(cast("dict[str, Any]", item))

    def _spend_rows(self, size: int) -> None:
        self._spend(_TUPLE * size)

    def _spend(self, size: int) -> None:
        """Raises TraceError where what is kept takes far more than the file can mean."""
        if self._spent + size > ROOM + ROOM_PER_BYTE * self._file_size():
            raise TraceError(
                "a block of the trace unpacks to more than a whole trace does",
                hint="what other blocks hold is still shown",
            )
        self._spent += size

    def _file_size(self) -> int:
        found = 0
        for path in (self.path, Path(f"{self.path}-wal")):
            with suppress(OSError):
                found += path.stat().st_size
        return found

    def _texts_of_rule(self, item: dict[str, Any]) -> None:
        number = as_int(item.get("id"))
        rule = self.rules.setdefault(number, RuleRecord(number, "?", "", "", 0, ""))
        rule.texts = item

    def _read_rules(self) -> None:
        for row in self.db.rows("rules", _RULE, self._last_rule):
            self._last_rule = max(self._last_rule, row[0])
            rule = self.rules.setdefault(row[0], RuleRecord(row[0], "", "", "", 0, ""))
            rule.name, rule.matcher = as_text(row[1]), as_text(row[2])
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
        made += [self._entry(row) for row in self.db.rows("contexts", _CONTEXT, last)]
        made += [self._entry(row) for row in self.db.rows("rewrites", _REWRITE, last)]
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
                as_text(name),
                as_text(kind),
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
            self.text(as_int(name)),
            self.text(as_int(matcher)),
            self.text(as_int(caller)),
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
