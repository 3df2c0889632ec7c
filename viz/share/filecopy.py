"""What is kept of one file of a run, written anew.

Numbers of contexts, rewrites and nodes stay, so that links lead where they did; a node that nothing
kept refers to loses its fields. Never changes the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from viz.dialect.adapters import CORE
from viz.dialect.registry import named_in
from viz.dialect.rundialect import RunDialect
from viz.format import schema
from viz.format.cells import as_int, as_text, parse_json, parse_object
from viz.format.events import Events, MatchField
from viz.format.pack import Ints
from viz.format.rows import KERNELS, SAME_AS, ContextRow, RewriteRow, RuleRow, plain_text
from viz.read.nodes import FIELDS
from viz.read.records import Context, Rewrite, RuleRecord
from viz.read.tracefile import TraceFile
from viz.share.redaction import Wording
from viz.views.kernels.kernels import KernelReader
from viz.write.database import TraceDatabase
from viz.write.output import Output

_NOTED: Final = ("what", "where", "hint")
_JSON: Final = frozenset({"heads.arg", "heads.tag", "heads.extra", "events.match_sig"})
_NODES: Final = 0.75
_ENTRIES: Final = 0.85
"""How much of a copy is done once its nodes are, and its passes: as of 10,000 passes, 200,000
steps."""
_OFTEN: Final = 1000
"""Nodes or passes after which progress is told."""
T = TypeVar("T")
Entry = Context | Rewrite
Mask = npt.NDArray[np.bool_]


class FileCopy:
    """Writes what is kept of one file of a run. Numbers and counts are those of the run. `values`:
    those that were captured are kept, too. `main`: the file of the run beside whose copy this one
    lies: rules that have the same texts there refer to these."""

    def __init__(
        self,
        file: TraceFile,
        path: Path,
        wording: Wording,
        kernels: Collection[int] | None,
        said: Iterable[str],
        values: bool = False,
        main: TraceFile | None = None,
    ) -> None:
        meta = wording.meta(file.meta)
        if "compiler" not in meta and named_in(file.meta)[0] == CORE:
            meta["compiler"] = schema.COMPILER
        self._output = Output(TraceDatabase(path, meta), counting=False)
        self._numbers = self._output.numbers
        self._file, self._wording, self._all = file, wording, kernels is None
        self._kept = kept_entries(file, kernels)
        self._values, self._main = values, main
        self._strings: dict[tuple[str, int], int] = {}
        left: list[dict[str, str]] = [{"what": what} for what in said]
        noted: object = file.meta.get("left_out")
        for item in cast("list[Any]", noted) if isinstance(noted, list) else []:
            if isinstance(item, dict):
                fields = cast("dict[str, Any]", item)
                left.append(wording.noted(*(as_text(fields.get(k)) for k in _NOTED)))
        left += [wording.noted(p.what, p.where, p.hint) for p in file.db.problems]
        self._output.meta("left_out", left)

    def write(self, live: bool, progress: Callable[[float], None]) -> None:
        """Copies everything, and closes the trace; `progress` hears how much is done, 0 to 1, and
        what it raises ends the copy."""
        self._progress = progress
        reader = KernelReader(self._file, int, int, RunDialect())
        kernels = [e for e in self._kept if isinstance(e, Context)]
        self._copy_rules()
        self._copy_nodes(None if self._all else self._needed(reader, kernels))
        rewrites = [e for e in self._kept if isinstance(e, Rewrite)]
        for context in kernels:
            self._copy_context(context, reader)
        for rewrite in self._told(rewrites, _NODES, _ENTRIES):
            self._begin(rewrite)
            self._copy_pass_texts(rewrite)
        self._copy_events(rewrites)
        for rewrite in rewrites:
            self._output.entries.close_rewrite(rewrite.id)
        names = None if self._all else {e.name for e in kernels if e.role == "kernel"}
        for name, device, start, ns, size in self._file.launches:
            if names is None or name in names:
                numbers = (
                    self._worded("launches.name", name),
                    self._worded("launches.device", device),
                )
                self._output.launches.add(*numbers, start, ns, size)
        for one in self._file.memory:
            lines = "\n".join(self._word("memory.lines", line) for line in one.lines.split("\n"))
            self._output.memory.add(
                self._worded("memory.device", one.device),
                *(one.time, one.allocated, one.number, one.taken),
                self._worded("memory.kernel", one.kernel),
                self._numbers.string(lines),
            )
        for (name, rule), (matches, declines, ns) in self._file.totals.items():
            self._output.events.totals.add(
                self._string("rewrites.name", name),
                rule,
                matches=matches,
                declines=declines,
                ns=ns,
            )
        self._copy_visits()
        self._copy_tries()
        self._copy_user_lines()
        self._copy_origins({reader.ast(e) for e in kernels if e.role})
        if self._values:
            self._copy_values({reader.ast(e) for e in kernels if e.role == "kernel"})
            self._copy_steps({e.id for e in kernels})
        if live:
            ends = (e.start + (e.us or 0) for e in self._kept)
            self._output.meta("ended", max(ends, default=0) / 1e6)
        self._output.finish()

    def _told(self, items: Sequence[T], first: float, last: float) -> Iterator[T]:
        """The items, while it is told that from `first` to `last` of the copy is done."""
        for at, item in enumerate(items):
            if not at % _OFTEN:
                self._progress(first + (last - first) * at / len(items))
            yield item

    def stopped(self, why: str) -> None:
        """Closes the copy, which says why it is not finished."""
        self._output.stopped(why)

    def _copy_visits(self) -> None:
        visits, copied = self._file.visits, self._output.visits
        sets = {number: copied.rule_set(rules) for number, rules in visits.sets.items()}
        for (name, rule_set, op, rule), count in visits.counts.items():
            if rule_set in sets:
                where = self._string("visits.pass", name), sets[rule_set]
                of = self._string("visits.op", op)
                nodes, ended = ({}, {(rule, of): count}) if rule else ({of: count}, {})
                copied.add(*where, nodes, ended)

    def _copy_tries(self) -> None:
        """What gates kept; and all times, as all counts: of what is left out, by the names of the
        passes."""
        kept = {entry.id for entry in self._kept}
        for rewrite, nodes in self._file.gated.items():
            for node in sorted(nodes) or [0]:
                if rewrite in kept:
                    self._output.gated.add(rewrite, node)
        for rewrite, name, rule, (tries, us, function_us) in self._file.try_times:
            told, named = rewrite if rewrite in kept else 0, 0
            if (left_out := self._file.rewrites.get(rewrite)) is not None:
                named = self._worded("tries.pass", left_out.name)
            elif not rewrite:
                named = self._string("tries.pass", name)
            if told or named:
                time = tries, 1000 * us, 1000 * function_us
                self._output.tries.add(told, 0 if told else named, rule, *time)

    def _copy_user_lines(self) -> None:
        """The lines of the program; nothing of them where their text is dropped."""
        if not self._wording.keeps("user_lines.text"):
            return
        for part in self._file.user_lines:
            text = self._word("user_lines.text", part.text)
            digest = self._word("user_lines.digest", part.digest)
            path = self._wording.file(part.file)
            proof = part.proof if self._wording.keeps("user_lines.proof") else ""
            copied = replace(part, file=path, text=text, digest=digest, proof=proof)
            self._output.user_lines.add(copied)

    def _copy_origins(self, asts: Collection[int]) -> None:
        """The lines that ask for the nodes of these kernels, and of these schedules' graphs."""
        origins = self._file.origins
        for kernel in origins.kernels() if self._all else sorted(asts):
            for node, lines in origins.told(kernel):
                for line in lines:
                    number = self._string("origins.origin", line)
                    self._output.origins.add(kernel, node, number)

    def _copy_values(self, asts: Collection[int]) -> None:
        """The captured values of the kernels with these ASTs."""
        for kernel in self._file.captured.values():
            if kernel.ast in asts:
                packed = self._file.packed_values(kernel)
                self._output.captured.add_packed(self._wording.captured(kernel), packed)

    def _copy_steps(self, contexts: Collection[int]) -> None:
        """The captured values of the steps whose texts are in these contexts."""
        for step in self._file.captured_steps.values():
            if step.context in contexts:
                packed = self._file.packed_values(step)
                self._output.captured.add_packed(self._wording.captured_step(step), packed)

    def _copy_rules(self) -> None:
        """All rules, with their numbers: two that a copy says the same of stay two."""
        known: dict[tuple[str, str, int], RuleRecord] = {}
        for rule in self._main.rules.values() if self._main else ():
            known.setdefault((rule.name, rule.file, rule.line), rule)
        for rule in sorted(self._file.rules.values(), key=lambda r: r.id):
            if 0 < rule.id < 1 << 62:
                same = known.get((rule.name, rule.file, rule.line))
                if same is not None and same.texts == rule.texts:
                    texts: dict[str, Any] = {SAME_AS: same.id}
                else:
                    texts = {"doc": "", "source": "", "sourceLine": rule.line, "pattern": {}}
                    texts |= self._wording.rule_texts(rule.texts)
                row = RuleRow(
                    rule.id,
                    self._word("rules.name", rule.name),
                    self._word("rules.matcher", rule.matcher),
                    self._wording.file(rule.file),
                    rule.line,
                    self._word("rules.equation", rule.equation),
                )
                self._numbers.add_rule(row, texts)

    def _copy_nodes(self, needed: Mask | None) -> None:
        """All nodes up to the last one that is needed; those that are not, without fields."""
        nodes = self._file.nodes
        last = nodes.count if needed is None else int(needed.nonzero()[0].max(initial=0))
        kept = np.ones(last, np.bool_) if needed is None else needed[1 : last + 1]
        src = [nodes.sources(n + 1) if kept[n] else [] for n in range(last)]
        counts = np.array(list(map(len, src)), np.uint32)
        columns = np.stack([*(nodes.field(name)[1 : last + 1] for name in FIELDS), counts], 1)
        columns[~kept] = 0
        kinds, which = np.unique(columns, axis=0, return_inverse=True)
        told = self._told(kinds.tolist(), 0.0, _NODES)
        heads = np.array([self._head(kind) for kind in told], np.uint32)[which.reshape(-1)]
        self._numbers.add_nodes(heads, counts, np.array(list(chain.from_iterable(src)), np.uint32))

    def _head(self, kind: list[int]) -> int:
        op, dtype, arg, tag, origin, loc, extra = (
            self._string(f"heads.{name}", string)
            for name, string in zip(FIELDS, kind[:-1], strict=True)
        )
        return self._numbers.head((op, dtype, arg, tag, origin, loc, extra), kind[-1])

    def _needed(self, reader: KernelReader, contexts: Sequence[Context]) -> Mask:
        """The nodes that what is kept refers to, and all below them."""
        nodes = self._file.nodes
        needed = np.zeros(nodes.count + 1, np.bool_)

        def note(found: Ints) -> None:
            needed[found[(found > 0) & (found <= nodes.count)]] = True

        for entry in self._kept:
            if isinstance(entry, Rewrite):
                note(np.asarray((entry.sink, entry.result, *_failed(entry.error)), np.int64))
                for one in self._file.pass_texts.of(entry.id):
                    with suppress(TraceError):
                        lines = self._file.pass_texts.nodes(one)
                        note(np.asarray([n for line in lines for n in line], np.int64))
                for block, at in self._file.event_blocks.of(entry):
                    events = block.at(at)
                    note(events.match[:, MatchField.BEFORE : MatchField.AFTER + 1].ravel())
                    note(events.rebuild.ravel())
                    note(events.decline[:, 1])
                    note(events.bound)
        for context in contexts:
            if context.role == "kernel":
                note(np.asarray([reader.ast(context)], np.int64))
                for one in reader.recorded(context):
                    note(np.asarray([n for line in one.lines for n in line], np.int64))
        for node in range(nodes.count, 0, -1):  # a source is an earlier node
            if needed[node]:
                needed[nodes.sources(node)] = True
        return needed

    def _copy_context(self, context: Context, reader: KernelReader) -> None:
        number, word = context.id, self._word
        self._output.entries.put_context(
            ContextRow(
                number,
                context.parent,
                plain_text(word("contexts.name", context.name)),
                plain_text(word("contexts.kind", context.kind)),
                json.dumps(self._wording.context(context.meta)),
                context.thread,
                context.start,
                context.us,
                self._error(context.error),
            )
        )
        found = self._file.db.one(KERNELS, number)
        if found is not None:
            for field in ("name", "target", "device"):
                text = word(f"kernels.{field}", as_text(getattr(found, field)))
                setattr(found, field, plain_text(text))
            details = self._wording.value("kernels.info", parse_object(found.info))
            found.info = json.dumps(details, default=str)
            self._output.kernel(found)
        for one in reader.recorded(context):
            if not one.error:
                self._output.artifacts.add(
                    number,
                    word("artifacts.kind", one.kind),
                    word("artifacts.target", one.target),
                    None if one.text is None else word("artifacts.text", one.text),
                    [len(line) for line in one.lines],
                    [node for line in one.lines for node in line],
                    self._wording.value("artifacts.facts", one.facts),
                    word("artifacts.title", one.title),
                )

    def _begin(self, rewrite: Rewrite) -> None:
        """An open rewrite until its events are copied, which note their blocks in its row."""
        number = self._worded
        self._output.entries.put_rewrite(
            RewriteRow(
                id=rewrite.id,
                parent=rewrite.parent,
                context=rewrite.context,
                name=number("rewrites.name", rewrite.name),
                matcher=number("rewrites.matcher", rewrite.matcher),
                caller=number("rewrites.caller", rewrite.caller),
                bottom_up=int(rewrite.bottom_up),
                sink=rewrite.sink,
                result=rewrite.result,
                nodes=rewrite.nodes,
                start=rewrite.start,
                us=rewrite.us,
                matches=rewrite.matches,
                rebuilds=rewrite.rebuilds,
                declines=rewrite.declines,
                empty=rewrite.empty,
                error=self._error(rewrite.error),
            )
        )

    def _copy_pass_texts(self, rewrite: Rewrite) -> None:
        """Those of a pass, as far as they can be read."""
        texts = self._file.pass_texts
        for one in texts.of(rewrite.id):
            with suppress(TraceError):
                text = self._word("artifacts.text", texts.text(one))
                lines = [*texts.nodes(one)]
                counted = [len(line) for line in lines], [n for line in lines for n in line]
                kind = self._string("pass_texts.kind", one.kind)
                self._output.pass_texts.add(
                    rewrite.id, one.after, kind, text, counted, one.left_out
                )

    def _copy_events(self, rewrites: Sequence[Rewrite]) -> None:
        """Events of all rewrites in the order in which they happened: those of a nested one lie
        between those of the one around it, and that is what links the two."""
        wanted = np.asarray([rewrite.id for rewrite in rewrites], np.int64)
        last = int(wanted.max(initial=1))
        for block in self._file.event_blocks.all():
            reached = int(block.rewrite.max(initial=0)) / last
            self._progress(_ENTRIES + (1 - _ENTRIES) * min(1.0, reached))
            at = np.flatnonzero(np.isin(block.rewrite, wanted))
            if len(at):
                self._output.events.extend(self._reworded(block.at(at)))
                if self._output.events.full:
                    self._output.flush()

    def _reworded(self, events: Events) -> Events:
        """Events with the numbers of signatures here."""
        match = events.match.copy()
        signatures = match[:, MatchField.SIGNATURE].tolist()
        match[:, MatchField.SIGNATURE] = [self._string("events.match_sig", s) for s in signatures]
        return replace(events, match=match)

    def _error(self, error: dict[str, Any] | None) -> str | None:
        found = self._wording.error(error)
        return None if found is None else json.dumps(found)

    def _word(self, column: str, text: str) -> str:
        return self._wording.text(column, text)

    def _worded(self, column: str, text: str) -> int:
        """The number here of a text, as it is said in this column."""
        return self._numbers.string(self._word(column, text))

    def _string(self, column: str, string: int) -> int:
        """The number here of a text of the run, as it is said in this column."""
        key = column, string
        found = self._strings.get(key)
        if found is None:
            found = self._strings[key] = self._numbers.string(
                self._said(column, self._file.text(string))
            )
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


def kept_entries(file: TraceFile, kernels: Collection[int] | None) -> list[Entry]:
    """Contexts and rewrites outside of any kernel and in those of `kernels`, as they began."""
    found: list[Entry] = []
    left: set[int] = set()
    entries: list[Entry] = [*file.contexts.values(), *file.rewrites.values()]
    for entry in sorted(entries, key=lambda e: e.id):
        around = {entry.parent}
        unwanted = False
        if isinstance(entry, Rewrite):
            around.add(entry.context)
        elif kernels is not None and entry.role == "kernel":
            unwanted = entry.id not in kernels
        if unwanted or around & left:
            left.add(entry.id)
        else:
            found.append(entry)
    return found
