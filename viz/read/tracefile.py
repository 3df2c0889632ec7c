"""One trace file: its rows as objects, its packed blocks decoded on demand.

Grows with the file while the program still writes it (`refresh`). Trusts nothing that it reads:
numbers that do not exist become "?", a damaged block is a Problem. Never writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from core.errors import BudgetError, TraceError
from viz.budget import take, within
from viz.format import blocks, schema
from viz.format.captured import Captured, unpack_captured
from viz.format.capturedsteps import CapturedStep, unpack_steps
from viz.format.cells import as_int, as_text, parse_json
from viz.format.pack import unpack_json
from viz.format.rows import (
    BLOCK_HEADS,
    CONTEXTS,
    META,
    REWRITES,
    RULE_TOTALS,
    RULES,
    BlockHead,
    ContextRow,
    RewriteRow,
    RuleRow,
)
from viz.format.table import Table
from viz.format.userlines import UserLines, unpack_user_lines
from viz.read.database import Database
from viz.read.eventblocks import EventBlocks, block_data
from viz.read.nodes import NodeTable
from viz.read.origins import KernelOrigins
from viz.read.passtexts import PassTexts
from viz.read.records import (
    MAX_NAME,
    ROLES,
    Context,
    MemorySample,
    Rewrite,
    Role,
    RuleRecord,
    context_of,
    rewrite_of,
)
from viz.read.room import Room
from viz.read.strings import Strings
from viz.read.trytimes import TryTime, TryTimes
from viz.read.visits import Visits, root_ops

READ: Final = 0.7
"""How much of opening a file is done once it has been read; the rest is the navigator."""
BLOCKS_READ: Final = 0.25
"""How much of it once its blocks have, before its passes."""
OFTEN: Final = 500
"""Rows after which progress is told."""
_ROW: Final = 2000
"""Bytes that are kept of a context or rewrite, here and in the navigator, apart from its texts."""
_RULE_BYTES: Final = 1500
_META: Final = 1000
_TOTAL: Final = 400
_TUPLE: Final = 48
"""Bytes of a number in a tuple."""


Told = TypeVar("Told", BlockHead, RewriteRow)
"""Rows of which there are many."""
Progress = Callable[[float, str], None]
"""Hears how much of opening a file is done, 0 to 1, and the name of the file."""


def silent(share: float, name: str) -> None:
    """Reports no progress."""


class TraceFile:
    """One file of a run, whose files share `room`. Raises TraceError for a file that is no
    trace."""

    def __init__(self, path: Path, room: Room | None = None) -> None:
        self.path = path
        self._room = room or Room()
        self.db = Database(path)
        self.strings = Strings()
        self.nodes = NodeTable()
        self.event_blocks = EventBlocks(self.db)
        self.rules: dict[int, RuleRecord] = {}
        self.contexts: dict[int, Context] = {}
        self._roles: Mapping[str, Role] = ROLES
        self.rewrites: dict[int, Rewrite] = {}
        self.meta: dict[str, Any] = {}
        self.launches: list[tuple[str, str, int, int, int]] = []
        """Name, device, start in us, time in ns, bytes."""
        self.memory: list[MemorySample] = []
        """Device, time in us, bytes allocated."""
        self.user_lines: list[UserLines] = []
        self.captured: dict[int, Captured] = {}
        """What was captured of kernels, by the nodes of their ASTs."""
        self.captured_steps: dict[int, CapturedStep] = {}
        """What was captured of steps, by the contexts that have their texts."""
        self._values: dict[int, int] = {}
        """Blocks of captured values by their numbers."""
        self.totals: dict[tuple[int, int], tuple[int, int, int]] = {}
        """By (pass, rule): matches, declines, ns."""
        self.visits = Visits()
        self.try_times = TryTimes()
        self.gated: dict[int, set[int]] = {}
        """By rewrite that had a gate, the nodes that it kept; of older files, none."""
        self.origins = KernelOrigins(self.nodes)
        self.pass_texts = PassTexts(self.db)
        self._countable = True
        self._packed: list[RewriteRow] = []
        """Rewrites that were packed and are not yet among the others."""
        self._last_block = self._last_rule = self._last_entry = 0
        self._readers: dict[int, Callable[[int, int, bytes], None]] = {
            schema.STRINGS: self._add_strings,
            schema.HEADS: self.nodes.add_heads,
            schema.NODES: self.nodes.add,
            schema.PLAIN_NODES: self.nodes.add_plain,
            schema.RULES: self._add_rule_texts,
            schema.LAUNCHES: self._add_launches,
            schema.PLAIN_MEMORY: self._add_plain_memory,
            schema.MEMORY: self._add_memory,
            schema.RULE_SETS: lambda first, _, data: self.visits.add_sets(first, data),
            schema.USER_LINES: self._add_user_lines,
            schema.VISITS: lambda _first, _count, data: self.visits.add(data),
            schema.TRIES: lambda _first, _count, data: self.try_times.add(data),
            schema.GATED: self._add_gated,
            schema.ORIGINS: lambda _first, _count, data: self.origins.add(data),
            schema.PASS_TEXTS: lambda _first, _count, data: self.pass_texts.add(data),
            schema.REWRITES: self._add_rewrites,
            schema.CAPTURED: self._add_captured,
            schema.CAPTURED_STEPS: self._add_captured_steps,
        }
        """By kind of block, what reads one: its first number, count and data."""

    def close(self) -> None:
        """Closes the file."""
        self.db.close()

    def text(self, string: int) -> str:
        """The text of a string id; "?" for one that is not there."""
        return self.strings.text(string)

    def name(self, string: int) -> str:
        """The text of a string id, cut where no name is that long."""
        return self.strings.name(string)

    def names(self, signature: int) -> list[str]:
        """The bound names of a signature."""
        found = parse_json(self.text(signature))
        items = cast("list[Any]", found) if isinstance(found, list) else []
        return [as_text(name, 100) for name in items]

    def tries(self) -> dict[tuple[int, int], int]:
        """How often each rule was tried, by (pass, rule); without those of which the trace does not
        say it."""
        if not self._countable:
            return {}
        try:
            return self.visits.tries(self.root_ops, self.text)
        except TraceError as error:
            self._countable = False  # what took too long once is not tried again
            self.db.problem(error.what)
            return {}

    def times_of_tries(self) -> dict[tuple[str, int], TryTime]:
        """How long the tries of each rule took, by (name of the pass, rule), where the trace says
        it. Raises BudgetError."""
        return self.try_times.sums(self._name_of, self.name)

    def _name_of(self, rewrite: int) -> str | None:
        found = self.rewrites.get(rewrite)
        return None if found is None else found.name

    def root_ops(self, rule: int) -> frozenset[str] | None:
        """The ops that a node may have which the pattern of a rule matches; None: any."""
        found = self.rules.get(rule)
        return None if found is None else root_ops(found.texts.get("pattern"))

    # reading what is new

    def refresh(self, progress: Progress = silent) -> list[Context | Rewrite]:
        """Reads what was written since; the contexts and rewrites that are new or have changed, in
        the order in which they began."""
        self._progress = progress
        self._room.grow(self.path, self.db.stored())
        with self.db.snapshot(), within(self._room.budget):
            for part in (self._read_meta, self._read_blocks, self._read_rules, self._read_totals):
                self._as_far_as_it_goes(part)
            found = self._read_entries()
        if self.db.missing:
            self.db.problem(*self._cut_off(), first=True)
        return found

    def _cut_off(self) -> tuple[str, str]:
        """What a file that is too short lacks, as far as it says, and a hint."""
        lost = self._last_entry - len(self.contexts) - len(self.rewrites)
        changed = [r for r in self.rewrites.values() if r.matches]
        empty = sum(not self.event_blocks.has(rewrite) for rewrite in changed)
        said = [f"{self.db.missing:,} of {self.db.wanted:,} bytes are missing"]
        if lost > 0:
            said.append(f"with them {lost:,} of the first {self._last_entry:,} passes and groups")
        if empty:
            said.append(f"the steps of {empty:,} of {len(changed):,} passes")
        said.append("and all that came later")
        return f"this trace is cut off: {', '.join(said)}", "copy it again; the rest is shown"

    def _as_far_as_it_goes(self, part: Callable[[], object]) -> None:
        """Reads a part of the trace; what there is no room or time for is a problem."""
        try:
            part()
        except BudgetError as error:
            self.db.problem(error.what, error.hint)

    def _told(self, table: Table[Told], after: int, first: float, last: float) -> Iterator[Told]:
        """Rows of a table above `after`, while it is told that from `first` to `last` is done."""
        end = max(after + 1, self.db.last(table))
        for at, row in enumerate(self.db.rows(table, after)):
            if not at % OFTEN:
                share = min(1.0, (row.id - after) / (end - after))
                self._progress(first + (last - first) * share, self.path.name)
            yield row

    def _read_meta(self) -> None:
        rows = self.db.all(META, _META)
        self.meta = {row.key: parse_json(row.value) for row in rows if row.key}

    def _read_totals(self) -> None:
        self.totals = {
            (row.pass_, row.rule): (row.matches, row.declines, row.ns)
            for row in self.db.all(RULE_TOTALS, _TOTAL)
        }

    def _read_blocks(self) -> None:
        for row in self._told(BLOCK_HEADS, self._last_block, 0.0, BLOCKS_READ):
            self._last_block = max(self._last_block, row.id)
            if row.kind == schema.EVENTS:
                self.event_blocks.add(row.id)
            elif row.kind == schema.VALUES:
                take(1, _TUPLE)
                self._values[row.first] = row.id
            elif row.kind in self._readers:
                try:
                    data = block_data(self.db, row.id)
                    self._readers[row.kind](row.first, row.count, data)
                except TraceError as error:
                    self.db.problem(error.what)

    def _add_strings(self, first: int, _: int, data: bytes) -> None:
        self.strings.add(first, _list(data))

    def _add_rule_texts(self, _first: int, _count: int, data: bytes) -> None:
        for item in _list(data):
            if isinstance(item, dict):
                fields = cast("dict[str, Any]", item)
                own = [fields.pop(name, None) for name in RULES.names]
                self._rule(as_int(own[0]), "?").texts = fields
                if own[1] is not None:
                    self._add_rule(RULES.read(own))

    def _add_rewrites(self, _first: int, _count: int, data: bytes) -> None:
        each = _ROW // len(blocks.REWRITES.names)
        for cells in blocks.REWRITES.rows(data, each):
            self._packed.append(REWRITES.row_of((*cells, None)))

    def _add_gated(self, _first: int, _count: int, data: bytes) -> None:
        for rewrite, node in blocks.GATED.rows(data, _TUPLE):
            self.gated.setdefault(rewrite, set()).update([node] if node > 0 else [])

    def _add_launches(self, _first: int, _count: int, data: bytes) -> None:
        rows = blocks.LAUNCHES.rows(data, _TUPLE)
        names = {string: self.name(string) for row in rows for string in row[:2]}
        self.launches += (
            (names[name], names[device], start, ns, size) for name, device, start, ns, size in rows
        )

    def _add_plain_memory(self, _first: int, _count: int, data: bytes) -> None:
        for device, time, allocated in blocks.PLAIN_MEMORY.rows(data, _TUPLE):
            self.memory.append(MemorySample(self.name(device), time, allocated))

    def _add_memory(self, _first: int, _count: int, data: bytes) -> None:
        for device, time, total, number, taken, kernel, lines in blocks.MEMORY.rows(data, _TUPLE):
            name, asked = self.name(kernel), self.text(lines)
            sample = MemorySample(self.name(device), time, total, number, taken, name, asked)
            self.memory.append(sample)

    def _add_user_lines(self, _first: int, _count: int, data: bytes) -> None:
        self.user_lines += unpack_user_lines(data)

    def _add_captured(self, _first: int, _count: int, data: bytes) -> None:
        for kernel in unpack_captured(data):
            self.captured.setdefault(kernel.ast, kernel)

    def _add_captured_steps(self, _first: int, _count: int, data: bytes) -> None:
        for step in unpack_steps(data):
            self.captured_steps.setdefault(step.context, step)

    def packed_values(self, of: Captured | CapturedStep) -> list[bytes]:
        """The values of each argument of a kernel, or memory of a step, that were captured, for
        `unpack_values`. Raises TraceError where one is missing."""
        numbers = (self._values.get(argument.values, 0) for argument in of.all)
        return [block_data(self.db, block) for block in numbers]

    def _read_rules(self) -> None:
        for row in self.db.rows(RULES, self._last_rule):
            self._last_rule = max(self._last_rule, row.id)
            self._add_rule(row)

    def _add_rule(self, row: RuleRow) -> None:
        texts = row.name, row.matcher, row.file, row.equation
        take(4, _RULE_BYTES + sum(map(len, texts)))
        rule = self._rule(row.id, "")
        rule.name, rule.matcher = as_text(row.name, MAX_NAME), as_text(row.matcher, MAX_NAME)
        rule.file, rule.line = as_text(row.file), row.line
        rule.equation = as_text(row.equation)

    def give_roles(self, roles: Mapping[str, Role]) -> None:
        """Says what kinds of contexts are to the explorer, besides ROLES."""
        self._roles = {**ROLES, **roles}
        for context in self.contexts.values():
            context.role = self._roles.get(context.kind, "")

    def _rule(self, number: int, name: str) -> RuleRecord:
        """A rule; one with this name where there is none of that number yet."""
        return self.rules.setdefault(number, RuleRecord(number, name, "", "", 0, ""))

    def _read_entries(self) -> list[Context | Rewrite]:
        made: list[Context | Rewrite] = []
        last = self._last_entry
        contexts = (self.db.one(CONTEXTS, c.id) for c in self.contexts.values() if c.us is None)
        made += [context_of(row, self._roles) for row in contexts if row is not None]
        rewrites = (self.db.one(REWRITES, r.id) for r in self.rewrites.values() if r.us is None)
        made += [rewrite_of(row, self.name) for row in rewrites if row is not None]
        self._as_far_as_it_goes(lambda: self._new_contexts(last, made))
        self._as_far_as_it_goes(lambda: self._new_rewrites(last, made))
        made.sort(key=lambda entry: entry.id)
        for entry in made:
            if isinstance(entry, Context):
                self.contexts[entry.id] = entry
            else:
                self.rewrites[entry.id] = entry
        if made:
            self._last_entry = max(last, made[-1].id)
        return made

    def _new_contexts(self, last: int, made: list[Context | Rewrite]) -> None:
        for row in self.db.rows(CONTEXTS, last):
            texts = len(row.name) + len(row.kind) + len(row.meta) + _length(row)
            take(8, _ROW + texts)
            made.append(context_of(row, self._roles))

    def _new_rewrites(self, last: int, made: list[Context | Rewrite]) -> None:
        packed, self._packed = self._packed, []
        made += [rewrite_of(row, self.name) for row in packed]
        for row in self._told(REWRITES, last, BLOCKS_READ, READ):
            take(8, _ROW + _length(row))
            made.append(rewrite_of(row, self.name))


def _list(data: bytes) -> list[Any]:
    """The items of a block that is a list. Raises TraceError for any other."""
    items = unpack_json(data)
    if not isinstance(items, list):
        raise TraceError("a block is damaged (it is not a list)")
    return cast("list[Any]", items)


def _length(row: ContextRow | RewriteRow) -> int:
    """Characters of an error."""
    return len(row.error or "")
