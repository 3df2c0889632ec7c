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
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from core.errors import ServerError, TraceError
from viz.format import schema
from viz.format.events import Columns, EventArrays, Events
from viz.format.pack import Ints
from viz.format.rows import ContextRow, RewriteRow
from viz.read.database import as_int, as_text, parse_json, parse_object
from viz.read.nodes import FIELDS
from viz.read.tracefile import Context, Rewrite, TraceFile
from viz.share.redaction import SAID, Wording
from viz.views.compiled import path_of
from viz.views.kernels import KernelReader
from viz.views.process import STRIDE
from viz.views.run import Run
from viz.views.summary import is_own
from viz.write.database import cannot_be_made, make_folder, put_in_place
from viz.write.numbering import Fields
from viz.write.writer import TraceWriter

_KINDS: Final = (schema.MATCH, schema.REBUILD, schema.DECLINE)
_NAMED: Final = 20
"""Numbers of kernels that a sentence names."""
_NOTED: Final = ("what", "where", "hint")
_JSON: Final = frozenset({"nodes.arg", "nodes.tag", "nodes.extra", "events.match_sig"})
_LONGEST: Final = 1 << 53
"""us of a match; more are damage."""
Entry = Context | Rewrite


Mask = npt.NDArray[np.bool_]


def write_trace(
    store: Run,
    path: Path,
    *,
    kernels: Collection[int] | None = None,
    redact: bool = False,
    published: bool = False,
) -> list[str]:
    """Writes the run to `path`, and next to it its further processes and the kernels that were
    compiled on request; sentences of what was left out. Each file is put in place whole, the main
    one last, once all are made: where that fails in between, the others stay without it, and an
    earlier main file stays as it was.

    `kernels`: numbers of the kernel contexts to keep, with what is outside of any kernel (all);
    `redact` leaves out what `viz/share/redaction.py` says; `published`: files have the names
    that the page shows. Raises TraceError or ServerError where the run has no such kernel or no
    trace, or the file cannot be written."""
    files = [*enumerate(store.files)]
    chosen = {number: kernels for number, _ in files}
    for one in store.compilations:
        if kernels is None or one.kernel in kernels:
            files.append((one.number, one.file))
            chosen[one.number] = None
    said: list[str] = []
    if kernels is not None:
        said.append(_check(store.kernels(), kernels))
    if redact:
        said.append(SAID)
    if store.live:
        said.append("exported while the program ran: what it did afterwards is left out")
    places = store.places if published or redact else None
    targets = [path_of(path, number) for number, _ in files]
    _check_targets(targets, [file.path for _, file in files])
    try:
        make_folder(path)
        with TemporaryDirectory(prefix=".uopviz-", dir=path.absolute().parent) as folder:
            made = [Path(folder) / own.name for own in targets]
            for (number, file), own in zip(files, made, strict=True):
                wording = Wording(places, redact, number)
                first, keep = number * STRIDE, chosen[number]
                wanted = None if keep is None else {k - first for k in keep}
                copy = _Copy(file, own, wording, wanted, said if number == 0 else ())
                try:
                    copy.write(store.live)
                except BaseException:
                    copy.stopped("the copy was not finished")
                    raise
            for finished, own in reversed([*zip(made, targets, strict=True)]):  # the main one last
                put_in_place(finished, own)
    except OSError as error:
        raise cannot_be_made(path, error) from error
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
        meta = wording.meta(file.meta)
        if "compiler" not in meta and is_own(file.meta):
            meta["compiler"] = schema.COMPILER
        super().__init__(path, meta)
        self._file, self._wording, self._all = file, wording, kernels is None
        self._entries_kept = _kept(file, kernels)
        self._strings: dict[tuple[str, int], int] = {}
        left: list[dict[str, str]] = [{"what": what} for what in said]
        noted: object = file.meta.get("left_out")
        for item in cast("list[Any]", noted) if isinstance(noted, list) else []:
            if isinstance(item, dict):
                fields = cast("dict[str, Any]", item)
                left.append(wording.noted(*(as_text(fields.get(k)) for k in _NOTED)))
        left += [wording.noted(p.what, p.where, p.hint) for p in file.db.problems]
        self.meta("left_out", left)

    def write(self, live: bool) -> None:
        """Copies everything, and closes the trace."""
        reader = KernelReader(self._file, int, int)
        kernels = [e for e in self._entries_kept if isinstance(e, Context)]
        self._copy_rules()
        self._copy_nodes(None if self._all else self._needed(reader, kernels))
        rewrites = [e for e in self._entries_kept if isinstance(e, Rewrite)]
        for context in kernels:
            self._copy_context(context, reader)
        for rewrite in rewrites:
            self._begin(rewrite)
        self._copy_events(rewrites)
        for rewrite in rewrites:
            self._end(rewrite)
        names = None if self._all else {e.name for e in kernels if e.kind == "kernel"}
        for name, device, start, ns, size in self._file.launches:
            if names is None or name in names:
                name, device = (
                    self._word("launches.name", name),
                    self._word("launches.device", device),
                )
                self.launch(name, device, start, ns, size)
        for device, time, allocated in self._file.memory:
            self.memory(self._word("memory.device", device), allocated, time)
        for (name, rule), counts in self._file.totals.items():
            self._add(self._string("rewrites.name", name), rule, counts)
        self._copy_visits()
        if live:
            ends = (e.start + (e.us or 0) for e in self._entries_kept)
            self.meta("ended", max(ends, default=0) / 1e6)
        self.finish()

    def _copy_visits(self) -> None:
        visits = self._file.visits
        sets = {number: self.rule_set(rules) for number, rules in visits.sets.items()}
        for (name, rule_set, op, rule), count in visits.counts.items():
            if rule_set in sets:
                where = self._string("visits.pass", name), sets[rule_set]
                of = self._string("visits.op", op)
                nodes, ended = ({}, {(rule, of): count}) if rule else ({of: count}, {})
                self._visits.add(*where, nodes, ended)

    def _copy_rules(self) -> None:
        """All rules, with their numbers: two that a copy says the same of stay two."""
        for rule in sorted(self._file.rules.values(), key=lambda r: r.id):
            if 0 < rule.id < 1 << 62:
                texts = {"doc": "", "source": "", "sourceLine": rule.line, "pattern": {}}
                texts |= self._wording.rule_texts(rule.texts)
                self.numbers.add_rule(
                    rule.id,
                    self._word("rules.name", rule.name),
                    self._wording.file(rule.file),
                    rule.line,
                    self._word("rules.matcher", rule.matcher),
                    self._word("rules.equation", rule.equation),
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
        op, dtype, arg, tag, origin, loc, extra = (
            self._string(f"nodes.{name}", string) for name, string in zip(FIELDS, key, strict=True)
        )
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
        number, word = context.id, self._word
        name, kind = word("contexts.name", context.name), word("contexts.kind", context.kind)
        meta = json.dumps(self._wording.context(context.meta))
        row = ContextRow(number, context.parent, name, kind, meta, context.thread, context.start)
        row.us, row.error = context.us, self._error(context.error)
        self._dirty_contexts[number] = row
        columns = ("context", "name", "target", "device", "ast", "info")
        found = self._file.db.one("kernels", columns, number)
        if found is not None:
            name, target, device = (
                word(f"kernels.{c}", as_text(cell))
                for c, cell in zip(columns[1:4], found[1:4], strict=True)
            )
            info = self._wording.value("kernels.info", parse_object(found[5]))
            self.kernel(number, name, target=target, device=device, ast=as_int(found[4]), info=info)
        for one in reader.recorded(context):
            if not one.error:
                self.artifact(
                    number,
                    word("artifacts.kind", one.kind),
                    word("artifacts.target", one.target),
                    word("artifacts.text", one.text),
                    lines=one.lines,
                    facts=self._wording.value("artifacts.facts", one.facts),
                    title=word("artifacts.title", one.title),
                )

    def _begin(self, rewrite: Rewrite) -> None:
        word = self._word
        row = RewriteRow(
            rewrite.id,
            rewrite.parent,
            rewrite.context,
            self.string(word("rewrites.name", rewrite.name)),
            self.string(word("rewrites.matcher", rewrite.matcher)),
            self.string(word("rewrites.caller", rewrite.caller)),
            int(rewrite.bottom_up),
            rewrite.sink,
            rewrite.start,
        )
        self._rewrites[row.id] = row

    def _copy_events(self, rewrites: Sequence[Rewrite]) -> None:
        """Events of all rewrites in the order in which they happened: those of a nested one lie
        between those of the one around it, and that is what links the two."""
        wanted = np.asarray([rewrite.id for rewrite in rewrites], np.int64)
        for arrays in self._file.all_events():
            at = np.flatnonzero(np.isin(arrays.rewrite, wanted))
            if len(at):
                self.extend(self._part(arrays, at))
        self.flush()

    def _end(self, rewrite: Rewrite) -> None:
        row = self._rewrites.pop(rewrite.id)
        row.result, row.nodes, row.us = rewrite.result, rewrite.nodes, rewrite.us
        row.matches, row.rebuilds = rewrite.matches, rewrite.rebuilds
        row.declines, row.empty = rewrite.declines, rewrite.empty
        row.error = self._error(rewrite.error)
        self._dirty_rewrites[row.id] = row

    def _part(self, arrays: EventArrays, at: Ints) -> Events:
        """Events of one block, with the numbers of signatures here."""
        part = Events()
        part.kind.extend(arrays.kind[at].tolist())
        part.rewrite.extend(arrays.rewrite[at].tolist())
        matches, rebuilds, declines = (arrays.row[at[arrays.kind[at] == k]] for k in _KINDS)
        counts = arrays.bind_start[matches + 1] - arrays.bind_start[matches]
        rows = zip(arrays.match[matches].tolist(), counts.tolist(), strict=True)
        for (rule, before, after, us, signature), count in rows:
            ns, names = (
                1000 * max(0, min(us, _LONGEST)),
                self._string("events.match_sig", signature),
            )
            part.matches.extend((rule, before, after, ns, names, count))
        before = np.repeat(arrays.match[matches, 1], counts)
        part.binds.extend((before - _bound(arrays, matches)).tolist())
        part.rebuilds.extend(arrays.rebuild[rebuilds].ravel().tolist())
        part.declines.extend(arrays.decline[declines].ravel().tolist())
        return part

    def _count(self, events: Columns) -> Columns:
        """Notes the block alone: the counts are those of the run."""
        for number in np.unique(events.rewrite).tolist():
            self._placed(number)
        return events

    def _error(self, error: dict[str, Any] | None) -> str | None:
        found = self._wording.error(error)
        return None if found is None else json.dumps(found)

    def _word(self, column: str, text: str) -> str:
        return self._wording.text(column, text)

    def _string(self, column: str, string: int) -> int:
        """The number here of a text of the run, as it is said in this column."""
        key = column, string
        found = self._strings.get(key)
        if found is None:
            found = self._strings[key] = self.string(self._said(column, self._file.text(string)))
        return found

    def _said(self, column: str, text: str) -> str:
        """A text that may be JSON: the texts in it are said, however they are written there."""
        if column in _JSON and text[:1] in ("[", "{", '"'):
            value = parse_json(text)
            said = self._wording.value(column, value)
            if value is not None and said != value:
                return json.dumps(said, separators=(",", ":"))
        return self._word(column, text)


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


def _check_targets(targets: Sequence[Path], files: Sequence[Path]) -> None:
    """Raises TraceError where a copy would take the place of a file of the run itself."""
    for path in targets:
        if any(path.exists() and path.samefile(file) for file in files):
            raise TraceError(
                "this would overwrite what is exported", str(path), "name another with -o"
            )


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
