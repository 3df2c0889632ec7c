"""A run, or a part of it, written anew as a trace: `uopviz export -o part.viz`, and what an
exported file carries.

Numbers of contexts, rewrites and nodes stay, so that links lead where they did; a node that nothing
kept refers to loses its fields. What is left out is noted in the trace. Never changes the run.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from core.errors import ServerError
from viz import schema
from viz.columns import Columns, EventArrays, Events
from viz.kernels import KernelReader
from viz.nodes import FIELDS
from viz.numbering import Fields
from viz.pack import Ints
from viz.process import STRIDE
from viz.readonly import as_int, as_text, parse_object
from viz.redaction import SAID, Wording
from viz.rows import ContextRow, RewriteRow
from viz.store import Store
from viz.tracefile import Context, Rewrite, TraceFile
from viz.writer import TraceWriter

_KINDS: Final = (schema.MATCH, schema.REBUILD, schema.DECLINE)
_NAMED: Final = 20
"""Numbers of kernels that a sentence names."""
_LONGEST: Final = 1 << 53
"""us of a match; more are damage."""
Entry = Context | Rewrite
Mask = npt.NDArray[np.bool_]


def write_trace(
    store: Store,
    path: Path,
    *,
    kernels: Collection[int] | None = None,
    redact: bool = False,
    published: bool = False,
) -> list[str]:
    """Writes the run to `path`, and its further processes next to it; sentences of what was left
    out.

    `kernels`: numbers of the kernel contexts to keep, with what is outside of any kernel (all);
    `redact` leaves out what `viz/redaction.py` says; `published`: files have the names that the
    page shows. Raises TraceError or ServerError where the run has no such kernel or no trace, or
    the file cannot be written.
    """
    files = store.files
    said: list[str] = []
    if kernels is not None:
        said.append(_check(store.kernels(), kernels))
    if redact:
        said.append(SAID)
    if store.live:
        said.append("exported while the program ran: what it did afterwards is left out")
    wording = Wording(store.places if published or redact else None, redact)
    for number, file in enumerate(files):
        own = path.with_suffix(f".p{number:04}{path.suffix}") if number else path
        first = number * STRIDE
        wanted = None if kernels is None else {k - first for k in kernels}
        copy = _Copy(file, own, wording, wanted, said if number == 0 else ())
        try:
            copy.write(store.live)
        except BaseException:
            copy.stopped("the copy was not finished")
            raise
    return said


class _Copy(TraceWriter):
    """Writes what is kept of one file of a run."""

    def __init__(
        self,
        file: TraceFile,
        path: Path,
        wording: Wording,
        kernels: Collection[int] | None,
        said: Iterable[str],
    ) -> None:
        super().__init__(path, wording.meta(file.meta))
        self._file, self._wording, self._all = file, wording, kernels is None
        self._entries_kept = _kept(file, kernels)
        self._rules: dict[int, int] = {}
        self._strings: dict[int, int] = {}
        left: list[dict[str, str]] = [{"what": what} for what in said]
        noted: object = file.meta.get("left_out")
        items = cast("list[Any]", noted) if isinstance(noted, list) else []
        left += [one for one in items if isinstance(one, dict)]
        left += [
            {"what": wording.sentence(p.what), "where": p.where, "hint": p.hint}
            for p in file.db.problems
        ]
        self.meta("left_out", left)

    def write(self, live: bool) -> None:
        """Copies everything, and closes the trace."""
        reader = KernelReader(self._file, int)
        kernels = [e for e in self._entries_kept if isinstance(e, Context)]
        self._copy_rules()
        self._copy_nodes(None if self._all else self._needed(reader, kernels))
        for entry in self._entries_kept:
            if isinstance(entry, Context):
                self._copy_context(entry, reader)
            else:
                self._copy_rewrite(entry)
        names = None if self._all else {e.name for e in kernels if e.kind == "kernel"}
        for name, device, start, ns, size in self._file.launches:
            if names is None or name in names:
                self.launch(name, device, start, ns, size)
        for device, time, allocated in self._file.memory:
            self.memory(device, allocated, time)
        for (name, rule), counts in self._file.totals.items():
            self._add(self._string(name), self._rule(rule), counts)
        self._copy_visits()
        if live:
            ends = (e.start + (e.us or 0) for e in self._entries_kept)
            self.meta("ended", max(ends, default=0) / 1e6)
        self.finish()

    def _copy_visits(self) -> None:
        visits = self._file.visits
        sets = {
            n: self.rule_set([self._rule(r) for r in rules]) for n, rules in visits.sets.items()
        }
        for (name, rule_set, op, rule), count in visits.counts.items():
            if rule_set in sets:
                where = self._string(name), sets[rule_set]
                of, key = self._string(op), self._rule(rule)
                nodes, ended = ({}, {(key, of): count}) if rule else ({of: count}, {})
                self._visits.add(*where, nodes, ended)

    def _copy_rules(self) -> None:
        for rule in sorted(self._file.rules.values(), key=lambda r: r.id):
            texts = {"doc": "", "source": "", "sourceLine": rule.line, "pattern": {}}
            texts |= {k: v for k, v in self._wording.texts(rule.texts).items() if k in texts}
            self._rules[rule.id] = self.numbers.rule(
                rule.name,
                self._wording.file(rule.file),
                rule.line,
                rule.matcher,
                rule.equation,
                texts,
            )

    def _copy_nodes(self, needed: Mask | None) -> None:
        """All nodes up to the last one that is needed; those that are not, without fields."""
        nodes = self._file.nodes
        last = nodes.count if needed is None else int(needed.nonzero()[0].max(initial=0))
        columns = np.stack([nodes.field(name)[1 : last + 1] for name in FIELDS], 1)
        kept = np.ones(last, np.bool_) if needed is None else needed[1 : last + 1]
        kinds, which = np.unique(columns[kept], axis=0, return_inverse=True)
        fields = np.zeros((last, len(FIELDS)), np.uint32)
        fields[kept] = np.array([self._fields(kind) for kind in kinds.tolist()]).reshape(
            kinds.shape
        )[which]
        src = [nodes.sources(n + 1) if kept[n] else [] for n in range(last)]
        counts = np.array(list(map(len, src)), np.uint32)
        self.numbers.add_nodes(fields, counts, np.array(list(chain.from_iterable(src)), np.uint32))

    def _fields(self, key: list[int]) -> Fields:
        op, dtype, arg, tag, origin, loc, extra = key
        kept, places = (op, dtype, arg, tag, extra), (origin, loc)
        op, dtype, arg, tag, extra = map(self._string, kept)
        origin, loc = map(self._place, places)
        return op, dtype, arg, tag, origin, loc, extra

    def _needed(self, reader: KernelReader, contexts: Sequence[Context]) -> Mask:
        """The nodes that what is kept refers to, and all below them."""
        nodes = self._file.nodes
        needed = np.zeros(nodes.count + 1, np.bool_)

        def note(found: Ints) -> None:
            needed[found[(found > 0) & (found <= nodes.count)]] = True

        for entry in self._entries_kept:
            if isinstance(entry, Rewrite):
                note(np.asarray((entry.sink, entry.result, *_failed(entry.error)), np.int64))
                for arrays, at in self._file.events(entry):
                    rows = [arrays.row[at[arrays.kind[at] == kind]] for kind in _KINDS]
                    note(arrays.match[rows[0], 1:3].ravel())
                    note(arrays.rebuild[rows[1]].ravel())
                    note(arrays.decline[rows[2], 1])
                    note(_bound(arrays, rows[0]))
        for context in contexts:
            if context.kind == "kernel":
                note(np.asarray([reader.ast(context)], np.int64))
                for one in reader.recorded(context):
                    note(np.asarray([n for line in one.lines for n in line], np.int64))
        for node in range(nodes.count, 0, -1):  # a source is an earlier node
            if needed[node]:
                needed[nodes.sources(node)] = True
        return needed

    def _copy_context(self, context: Context, reader: KernelReader) -> None:
        number, parent, name, kind = context.id, context.parent, context.name, context.kind
        meta = json.dumps(self._wording.context(context.meta))
        row = ContextRow(number, parent, name, kind, meta, context.thread, context.start)
        row.us, row.error = context.us, self._error(context.error)
        self._dirty_contexts[number] = row
        columns = ("context", "name", "target", "device", "ast", "info")
        found = self._file.db.one("kernels", columns, number)
        if found is not None:
            texts = [as_text(cell) for cell in found[1:4]]
            info, ast = parse_object(found[5]), as_int(found[4])
            self.kernel(number, texts[0], target=texts[1], device=texts[2], ast=ast, info=info)
        for one in reader.recorded(context):
            if not one.error:
                self.artifact(
                    number,
                    one.kind,
                    one.target,
                    one.text,
                    lines=one.lines,
                    facts=one.facts,
                    title=one.title,
                )

    def _copy_rewrite(self, rewrite: Rewrite) -> None:
        texts = (rewrite.name, rewrite.matcher, self._wording.place(rewrite.caller))
        name, matcher, caller = map(self.string, texts)
        row = RewriteRow(
            rewrite.id,
            rewrite.parent,
            rewrite.context,
            name,
            matcher,
            caller,
            int(rewrite.bottom_up),
            rewrite.sink,
            rewrite.start,
        )
        self._rewrites[row.id] = row
        for arrays, at in self._file.events(rewrite):
            self.extend(self._part(row.id, arrays, at))
        row.result, row.nodes, row.us = rewrite.result, rewrite.nodes, rewrite.us
        row.matches, row.rebuilds = rewrite.matches, rewrite.rebuilds
        row.declines, row.empty = rewrite.declines, rewrite.empty
        row.error = self._error(rewrite.error)
        self._dirty_rewrites[row.id] = self._rewrites.pop(row.id)

    def _part(self, rewrite: int, arrays: EventArrays, at: Ints) -> Events:
        """Events of one rewrite, with the numbers of rules and signatures here."""
        part = Events()
        part.kind.extend(arrays.kind[at].tolist())
        part.rewrite.extend([rewrite] * len(at))
        matches, rebuilds, declines = (arrays.row[at[arrays.kind[at] == k]] for k in _KINDS)
        counts = arrays.bind_start[matches + 1] - arrays.bind_start[matches]
        rows = zip(arrays.match[matches].tolist(), counts.tolist(), strict=True)
        for (rule, before, after, us, signature), count in rows:
            ns, names = 1000 * max(0, min(us, _LONGEST)), self._string(signature)
            part.matches.extend((self._rule(rule), before, after, ns, names, count))
        before = np.repeat(arrays.match[matches, 1], counts)
        part.binds.extend((before - _bound(arrays, matches)).tolist())
        part.rebuilds.extend(arrays.rebuild[rebuilds].ravel().tolist())
        for rule, node in arrays.decline[declines].tolist():
            part.declines.extend((self._rule(rule), node))
        return part

    def _count(self, events: Columns) -> Columns:
        """Notes the block alone: the counts are those of the run."""
        for number in np.unique(events.rewrite).tolist():
            self._placed(number)
        return events

    def _error(self, error: dict[str, Any] | None) -> str | None:
        found = self._wording.error(error)
        if found is not None and found.get("rule") in self._rules:
            found["rule"] = self._rules[found["rule"]]
        for entry in _loop(found):
            entry[0] = self._rule(entry[0])
        return None if found is None else json.dumps(found)

    def _rule(self, rule: int) -> int:
        return self._rules.get(rule, rule)

    def _string(self, string: int) -> int:
        found = self._strings.get(string)
        if found is None:
            found = self._strings[string] = self.string(self._file.text(string))
        return found

    def _place(self, string: int) -> int:
        return self.string(self._wording.place(self._file.text(string)))


def _loop(error: dict[str, Any] | None) -> list[list[int]]:
    """The matches of a rewrite without an end: rule, node before, node after."""
    found: object = (error or {}).get("loop")
    entries = cast("list[Any]", found) if isinstance(found, list) else []
    return [e for e in entries if isinstance(e, list) and list(map(type, e)) == [int, int, int]]


def _failed(error: dict[str, Any] | None) -> list[int]:
    """The nodes that an error names."""
    nodes = [as_int((error or {}).get("node")), *(n for entry in _loop(error) for n in entry[1:])]
    return [node for node in nodes if 0 < node < 1 << 62]


def _bound(arrays: EventArrays, matches: Ints) -> Ints:
    """The nodes that these matches bound, one after the other."""
    begins, ends = arrays.bind_start[matches], arrays.bind_start[matches + 1]
    places = np.repeat(begins - np.cumsum(ends - begins) + (ends - begins), ends - begins)
    return arrays.binds[places + np.arange(len(places))]


def _kept(file: TraceFile, kernels: Collection[int] | None) -> list[Entry]:
    """Contexts and rewrites outside of any kernel and in those of `kernels`, as they began."""
    found: list[Entry] = []
    left: set[int] = set()
    entries: list[Entry] = [*file.contexts.values(), *file.rewrites.values()]
    for entry in sorted(entries, key=lambda e: e.id):
        around = {entry.parent}
        unwanted = False
        if isinstance(entry, Rewrite):
            around.add(entry.context)
        elif kernels is not None and entry.kind == "kernel":
            unwanted = entry.id not in kernels
        if unwanted or around & left:
            left.add(entry.id)
        else:
            found.append(entry)
    return found


def _check(known: Sequence[int], wanted: Collection[int]) -> str:
    """A sentence of the kernels that are left out; raises ServerError for one that is not there."""
    missing = sorted(set(wanted) - set(known))
    if missing:
        some = ", ".join(map(str, known[:_NAMED])) + (", ..." if len(known) > _NAMED else "")
        raise ServerError(
            "this run has no kernel " + ", ".join(map(str, missing)),
            hint=f"its kernels are {some}" if known else "it has no kernels",
        )
    return f"{len(known) - len(set(wanted))} of {len(known)} kernels were not chosen"
