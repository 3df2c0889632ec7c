"""`TraceWriter`: writes a trace of any graph-rewriting compiler. Knows nothing of `core`'s graphs.

A compiler numbers its strings, nodes and rules through the writer (the same fields give the same
number), reports what it does in the order in which it does it, and calls `flush` now and then:

    with TraceWriter("run.viz", {"command": ["mycc", "a.c"]}) as t:
        kernel = t.context_begin("kernel a", "kernel")
        x = t.node("CONST", "int32", arg="1")
        y = t.node("NEG", "int32", (x,))
        fold = t.rule("fold_neg", "rules.py", 12, equation="-c -> c'")
        z = t.node("CONST", "int32", arg="-1")
        step = t.rewrite_begin("fold", sink=y, context=kernel)
        t.match(step, fold, y, z, {"c": x}, ns=700)
        t.rewrite_end(step, z)
        t.context_end(kernel)

What was flushed survives the death of the process. One thread at a time; never starts threads.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

from core.errors import TraceError
from viz.files.claim import Claim
from viz.format import schema
from viz.format.events import Events
from viz.format.pack import Ints, pack
from viz.format.rows import Artifact, ContextRow, RewriteRow, plain_text
from viz.write.database import create, write
from viz.write.pending import KERNEL, META, Pending

BLOCK: Final = 20_000
"""Events of one block: what a reader decodes at once. More begin a new one."""


class TraceWriter(Pending):
    """Writes one trace file; `info` holds values for schema.META. Raises TraceError where the file
    cannot be made or written. Times `at` are microseconds since the start; left out: now. The start
    is `start`, a `time.perf_counter_ns()`; left out: when the file is made. `claim`: the right to
    write this file, if the caller has it (viz/files/claim.py)."""

    def __init__(
        self,
        path: str | Path,
        info: Mapping[str, object],
        start: int | None = None,
        claim: Claim | None = None,
    ) -> None:
        super().__init__()
        self.path = Path(path).absolute()
        self._start = time.perf_counter_ns() if start is None else start
        self._db, self._claim = create(self.path, info, claim)

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def now(self) -> int:
        """Microseconds since the start of the recording."""
        return self.since(time.perf_counter_ns())

    def since(self, perf_counter_ns: int) -> int:
        """The time of a `time.perf_counter_ns()` in us since the start; never negative."""
        return max(0, (perf_counter_ns - self._start) // 1000)

    # things with numbers (`string(text)` numbers a text)

    def node(
        self,
        op: str,
        dtype: str = "",
        src: Sequence[int] = (),
        *,
        arg: str = "",
        tag: str = "",
        origin: str = "",
        loc: str = "",
        extra: Mapping[str, str] | None = None,
    ) -> int:
        """The number of a node. `src` are numbers of nodes; `arg` and `tag` typed JSON, "" is none;
        `origin` is the user's line (and call), `loc` the compiler's; `extra`: any of shape, lo, hi,
        ranges. Raises TraceError for sources that are not earlier nodes."""
        text = json.dumps(extra, separators=(",", ":")) if extra else ""
        sid = self.string
        strings = (sid(op), sid(dtype), sid(arg), sid(tag), sid(origin), sid(loc), sid(text))
        return self.numbers.node(strings, tuple(src))

    def rule(
        self,
        name: str,
        file: str = "",
        line: int = 0,
        *,
        matcher: str = "",
        equation: str = "",
        doc: str = "",
        source: str = "",
        source_line: int = 0,
        pattern: Mapping[str, object] | None = None,
    ) -> int:
        """The number of a rule; `pattern` is in the form of viz/recording/patterns.py."""
        texts: dict[str, object] = {
            "doc": doc,
            "source": source,
            "sourceLine": source_line or line,
            "pattern": pattern or {},
        }
        return self.numbers.rule(name, file, line, matcher, equation, texts)

    # what happens

    def context_begin(
        self,
        name: str,
        kind: str = "group",
        *,
        parent: int = 0,
        meta: Mapping[str, object] | None = None,
        thread: int = 0,
        at: int | None = None,
    ) -> int:
        """A named group begins; the result is its number."""
        text = json.dumps(meta or {}, default=str)
        start = self.now() if at is None else at
        made = ContextRow(self._entry(), parent, name, kind, text, thread, start)
        self._contexts[made.id] = self._dirty_contexts[made.id] = made
        return made.id

    def context_rename(self, context: int, name: str) -> None:
        """An open group gets its final name."""
        made = self._contexts[context]
        made.name = name
        self._dirty_contexts[context] = made

    def context_end(
        self, context: int, error: Mapping[str, object] | None = None, at: int | None = None
    ) -> None:
        """A group ends, `error` ({"message", "traceback"}) if by an exception."""
        made = self._contexts.pop(context)
        made.us = max(0, (self.now() if at is None else at) - made.start)
        made.error = json.dumps(error) if error else None
        self._dirty_contexts[context] = made

    def rewrite_begin(
        self,
        name: str,
        sink: int,
        *,
        context: int = 0,
        parent: int = 0,
        matcher: str = "",
        caller: str = "",
        bottom_up: bool = False,
        at: int | None = None,
    ) -> int:
        """A pass over the graph of node `sink` begins; `parent` is the rewrite it is part of."""
        sid = self.string
        made = RewriteRow(
            self._entry(),
            parent,
            context,
            sid(name),
            sid(matcher),
            sid(caller),
            int(bottom_up),
            sink,
            self.now() if at is None else at,
        )
        self._rewrites[made.id] = self._dirty_rewrites[made.id] = made
        return made.id

    def match(
        self, rewrite: int, rule: int, before: int, after: int, binds: Mapping[str, int], ns: int
    ) -> None:
        """`rule` replaced node `before` by `after`; `binds`: names and the nodes they bound."""
        events, signature = self._event(rewrite, schema.MATCH), self.signature(tuple(binds))
        events.matches.extend((rule, before, after, ns, signature, len(binds)))
        events.binds.extend([before - node for node in binds.values()])

    def rebuild(self, rewrite: int, old: int, new: int) -> None:
        """Node `old` became `new`, which differs in its sources only."""
        self._event(rewrite, schema.REBUILD).rebuilds.extend((old, new))

    def decline(self, rewrite: int, rule: int, node: int) -> None:
        """The structure of `rule` matched at `node`, but its function said no."""
        self._event(rewrite, schema.DECLINE).declines.extend((rule, node))

    def _event(self, rewrite: int, kind: int) -> Events:
        """Where an event of an open rewrite goes; what belongs to its kind is still to be added."""
        if len(self._events.kind) >= BLOCK:
            self.flush()
        self._dirty_rewrites[rewrite] = self._rewrites[rewrite]
        self._events.kind.append(kind)
        self._events.rewrite.append(rewrite)
        return self._events

    def signature(self, names: tuple[str, ...]) -> int:
        """The number of a list of bound names."""
        found = self._signatures.get(names)
        if found is None:
            found = self._signatures[names] = self.string(json.dumps(names))
        return found

    def extend(self, part: Events) -> None:
        """Many events at once, of rewrites that are open or have ended since the last flush."""
        self._events.extend(part)
        if len(self._events.kind) >= BLOCK:
            self.flush()

    def rule_set(self, rules: Sequence[int]) -> int:
        """The number of a set of rules, given in the order in which they are tried."""
        return self._visits.rule_set(rules)

    def visited(
        self,
        name: str,
        rule_set: int,
        nodes: Mapping[str, int],
        ended: Mapping[tuple[int, str], int],
    ) -> None:
        """A pass called `name` offered nodes to a set of rules: how many of each op, and at how
        many of them each rule ended the visit, because it replaced the node or failed. From this
        follows how often each rule was tried; without it, that is not known."""
        sid = self.string
        self._visits.add(
            sid(name),
            rule_set,
            {sid(op): count for op, count in nodes.items()},
            {(rule, sid(op)): count for (rule, op), count in ended.items()},
        )

    def rewrite_end(
        self,
        rewrite: int,
        result: int = 0,
        *,
        nodes: int = 0,
        error: Mapping[str, object] | None = None,
        at: int | None = None,
    ) -> None:
        """A pass ends with node `result` (0: by an exception, described by `error`: "message",
        "traceback", "rule", "node", and what docs/trace-format.md has besides); `nodes`: size of
        the result."""
        record = self._rewrites.pop(rewrite)
        record.us = max(0, (self.now() if at is None else at) - record.start)
        record.result, record.nodes = result, nodes
        record.error = json.dumps(error) if error else None
        self._dirty_rewrites[rewrite] = record

    def rewrite_empty(self, rewrite: int) -> None:
        """A pass inside `rewrite` changed nothing; it is only counted."""
        record = self._rewrites[rewrite]
        record.empty += 1
        self._dirty_rewrites[rewrite] = record

    def kernel(
        self,
        context: int,
        name: str,
        *,
        target: str = "",
        device: str = "",
        ast: int = 0,
        info: Mapping[str, object] | None = None,
    ) -> None:
        """The program that a kernel context ended in. `info`: see `viz/views/kernels.py`."""
        texts = map(plain_text, (name, target, device))
        row = (context, *texts, ast, json.dumps(info or {}, default=str))
        self._rows.append((KERNEL, row))

    def artifact(
        self,
        context: int,
        kind: str,
        target: str,
        text: str,
        *,
        lines: Sequence[Sequence[int]] = (),
        facts: Mapping[str, str] | None = None,
        title: str = "",
    ) -> None:
        """A source text of a kernel; `lines`: per line the nodes behind it."""
        counts = [len(line) for line in lines]
        flat = [node for line in lines for node in line]
        self.artifact_of(context, kind, target, text, counts, flat, facts or {}, title)

    def artifact_of(
        self,
        context: int,
        kind: str,
        target: str,
        text: str,
        counts: Sequence[int],
        nodes: Sequence[int] | Ints,
        facts: Mapping[str, str],
        title: str = "",
    ) -> None:
        """The same, with the number of nodes of each line, and all of them in one list."""
        made = Artifact(context, plain_text(kind), plain_text(target), text, dict(facts), title)
        made.lines = pack((counts, nodes), (False, True))
        self._artifacts.append(made)

    def launch(self, name: str, device: str, start_us: int, ns: int, size: int = 0) -> None:
        """A kernel ran: its time on the device in ns and the bytes it moved."""
        self._launches.append((self.string(name), self.string(device), start_us, ns, size))

    def memory(self, device: str, allocated: int, at: int | None = None) -> None:
        """Bytes allocated on a device, from now on."""
        self._memory.append((self.string(device), self.now() if at is None else at, allocated))

    def meta(self, key: str, value: object) -> None:
        """One of schema.META."""
        self._rows.append((META, (key, json.dumps(value, default=str))))

    # to disk

    def flush(self) -> None:
        """Writes what happened since the last flush, all or nothing. Raises TraceError."""
        batches = self._take()
        if any(values for _, values in batches):
            write(self._db, self.path, batches)

    def close(self) -> None:
        """Flushes, notes the end of the run and leaves one plain file. Raises TraceError."""
        self.meta("ended", self.now() / 1e6)
        self.finish()

    def finish(self) -> None:
        """The same, without a note of the end: of a run that had none, or that the writer noted."""
        try:
            self.flush()
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("PRAGMA journal_mode=DELETE")  # refused while a viewer is reading
        except sqlite3.OperationalError:
            pass  # a reader holds the file; the log next to it is complete
        finally:
            self._db.close()
            self._claim.release()

    @property
    def lost(self) -> bool:
        """Whether the file was removed or replaced since it was made: what is written to it is not
        to be found any more."""
        return self._claim.lost

    def stopped(self, why: str) -> None:
        """Says in the trace that it could not be written to its end, if that can be written, and
        closes it."""
        with suppress(TraceError):
            write(self._db, self.path, [(META, [("stopped", json.dumps(why))])])
        with suppress(sqlite3.Error):
            self._db.close()
        self._claim.release()

    def abandon(self) -> sqlite3.Connection:
        """The connection, for the child of a fork to keep unused: closing it would be taken for
        the parent's doing."""
        return self._db
