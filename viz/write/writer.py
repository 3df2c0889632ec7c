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
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from viz.environment import absolute
from viz.files.claim import Claim
from viz.format.captured import Captured
from viz.format.capturedsteps import CapturedStep
from viz.format.events import Events
from viz.format.pack import Ints
from viz.format.rows import ContextRow, KernelRow, RewriteRow, plain_text
from viz.format.userlines import UserLines
from viz.write.captured import Arguments
from viz.write.database import TraceDatabase
from viz.write.output import Output

_ROLE = 40
"""Characters of what a source is to its user."""


class TraceWriter:
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
        self.path = absolute(path)
        self._start = time.perf_counter_ns() if start is None else start
        self._database = TraceDatabase(self.path, info, claim)
        self._output = Output(self._database)
        self.numbers = self._output.numbers
        """What numbers strings, nodes and rules."""
        self.string = self.numbers.string
        self._signatures: dict[tuple[str, ...], int] = {}

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, *_: object) -> None:
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
        roles: Sequence[str] = (),
    ) -> int:
        """The number of a node. `src` are numbers of nodes; `arg` and `tag` typed JSON, "" is none;
        `origin` is the user's line (and call), `loc` the compiler's; `extra`: any of shape, lo, hi,
        ranges; `roles`: what each of `src` is to the node, such as "lhs", "" for nothing to say,
        "order" for what only comes before it. Raises TraceError for sources that are not earlier
        nodes."""
        if any(roles):
            said = ",".join(role.replace(",", " ")[:_ROLE] for role in roles)
            extra = {**(extra or {}), "roles": said}
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
        assumes: Sequence[str] = (),
    ) -> int:
        """The number of a rule; `pattern` is in the form of viz/recording/patterns.py. `assumes`:
        what has to hold for its replacements to mean the same
        (`core.uop.patterns.rule.Assumes`)."""
        texts: dict[str, object] = {
            "doc": doc,
            "source": source,
            "sourceLine": source_line or line,
            "pattern": pattern or {},
        }
        if assumes:
            texts["assumes"] = [*assumes]
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
        text = json.dumps(meta or {}, default=str, separators=(",", ":"))
        start = self.now() if at is None else at
        entries = self._output.entries
        names = plain_text(name), plain_text(kind)
        row = ContextRow(entries.next(), parent, *names, text, thread, start)
        entries.put_context(row)
        return row.id

    def context_rename(self, context: int, name: str) -> None:
        """An open group gets its final name."""
        self._output.entries.rename_context(context, name)

    def context_end(
        self, context: int, error: Mapping[str, object] | None = None, at: int | None = None
    ) -> None:
        """A group ends, `error` ({"message", "traceback"}) if by an exception."""
        self._output.entries.end_context(context, self.now() if at is None else at, error)

    def context_failed(self, context: int, error: Mapping[str, object]) -> None:
        """A group that has ended turns out to have failed, such as a kernel whose text does not
        assemble. Raises TraceError for one that ended many groups ago."""
        self._output.entries.fail_context(context, error)

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
        row = RewriteRow(
            id=self._output.entries.next(),
            parent=parent,
            context=context,
            name=sid(name),
            matcher=sid(matcher),
            caller=sid(caller),
            bottom_up=int(bottom_up),
            sink=sink,
            result=0,
            nodes=0,
            start=self.now() if at is None else at,
        )
        self._output.entries.put_rewrite(row)
        return row.id

    def match(
        self, rewrite: int, rule: int, before: int, after: int, binds: Mapping[str, int], ns: int
    ) -> None:
        """`rule` replaced node `before` by `after`; `binds`: names and the nodes they bound."""
        self._make_room()
        signature = self.signature(tuple(binds))
        self._output.events.match(rewrite, rule, before, after, ns, signature, list(binds.values()))

    def rebuild(self, rewrite: int, old: int, new: int) -> None:
        """Node `old` became `new`, which differs in its sources only."""
        self._make_room()
        self._output.events.rebuild(rewrite, old, new)

    def decline(self, rewrite: int, rule: int, node: int) -> None:
        """The structure of `rule` matched at `node`, but its function declined."""
        self._make_room()
        self._output.events.decline(rewrite, rule, node)

    def _make_room(self) -> None:
        """Flushes where there is a whole block of events."""
        if self._output.events.full:
            self.flush()

    def signature(self, names: tuple[str, ...]) -> int:
        """The number of a list of bound names."""
        found = self._signatures.get(names)
        if found is None:
            found = self._signatures[names] = self.string(json.dumps(names))
        return found

    def extend(self, part: Events) -> None:
        """Many events at once, of rewrites that are open or have ended since the last flush."""
        self._output.settle()
        self._output.events.extend(part)
        self._make_room()

    def rule_set(self, rules: Sequence[int]) -> int:
        """The number of a set of rules, given in the order in which they are tried."""
        return self._output.visits.rule_set(rules)

    def visited(
        self,
        name: str,
        rule_set: int,
        nodes: Mapping[str, int],
        ended: Mapping[tuple[int, str], int],
    ) -> None:
        """A pass called `name` offered nodes to a set of rules: how many of each op, and at how
        many of them each rule ended the visit, because it replaced the node or failed. How often
        each rule was tried follows from this, and is unknown without it."""
        sid = self.string
        offered = {sid(op): count for op, count in nodes.items()}
        by = {(rule, sid(op)): count for (rule, op), count in ended.items()}
        self.visited_of(name, rule_set, offered, by)

    def visited_of(
        self,
        name: str,
        rule_set: int,
        nodes: Mapping[int, int],
        ended: Mapping[tuple[int, int], int],
    ) -> None:
        """The same, with the numbers of the names of ops."""
        self._output.visits.add(self.string(name), rule_set, nodes, ended)

    def tried(
        self, rewrite: int, rule: int, tries: int, ns: int, function_ns: int = 0, name: str = ""
    ) -> None:
        """The pattern of `rule` was run on `tries` nodes of a pass, which took `ns` in all, and
        `function_ns` of these in the function of the rule. Repeated calls add up; without any, how
        long tries took is not known. `rewrite` 0: any pass called `name`."""
        named = 0 if rewrite else self.string(name)
        self._output.tries.add(rewrite, named, rule, tries, ns, function_ns)

    def tried_of(self, numbers: array[int]) -> None:
        """The same of many, each six numbers: the rewrite, the string number of the name (0 where
        there is a rewrite), the rule, tries, ns and function_ns."""
        self._output.tries.extend(numbers)

    def gated(self, rewrite: int, nodes: Sequence[int]) -> None:
        """The nodes that a pass kept as they were, with all below them: its rules were not tried
        there, because of its gate, or because they are known to leave them so. To be called for
        each pass with a gate, even without nodes."""
        self._output.gated.extend([(rewrite, node) for node in nodes or (0,)])

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
        end = self.now() if at is None else at
        self._output.entries.end_rewrite(rewrite, end, result, nodes, error)

    def rewrite_empty(self, rewrite: int) -> None:
        """A pass inside `rewrite` changed nothing; it is only counted."""
        self._output.events.empty(rewrite)

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
        """The program that a kernel context ended in. `info`: see `views/kernels/kernels.py`."""
        texts = plain_text(name), plain_text(target), plain_text(device)
        details = json.dumps(info or {}, default=str, separators=(",", ":"))
        self._output.kernel(KernelRow(context, *texts, ast, details))

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
        text: str | None,
        counts: Sequence[int],
        nodes: Sequence[int] | Ints,
        facts: Mapping[str, str],
        title: str = "",
    ) -> None:
        """The same, with the number of nodes of each line, and all of them in one list; without a
        text where that follows from the nodes (viz/replay/listing.py)."""
        self._output.artifacts.add(context, kind, target, text, counts, nodes, facts, title)

    def pass_text(
        self,
        rewrite: int,
        when: Literal["before", "after"],
        kind: str,
        text: str,
        *,
        lines: Sequence[Sequence[int]] = (),
        left_out: int = 0,
    ) -> None:
        """The compiler's own text of the program before or after a pass; `kind`: its language, such
        as "mlir". `lines`: per line the nodes behind it; `left_out`: lines that are not in it."""
        flat = [node for line in lines for node in line]
        counted = [len(line) for line in lines], flat
        number = self.string(kind)
        self._output.pass_texts.add(rewrite, when == "after", number, text, counted, left_out)

    def user_lines(
        self,
        file: str,
        first: int,
        text: str,
        *,
        digest: str = "",
        cut: bool = False,
        proof: str = "",
    ) -> None:
        """Lines of the user's program, from line `first` on, as they are now. `file` is as in the
        origins of nodes; `digest`: of the whole file, as `viz/files/sources.py` makes it, so that a
        reader can say whether it has changed since; `cut`: other lines that were named are left
        out; `proof`: that this process has read the file, see `viz/vouching.py`."""
        self._output.user_lines.add(UserLines(file, first, text, digest, cut, proof))

    def captured(
        self,
        ast: int,
        name: str,
        device: str,
        arguments: Arguments,
        variables: Mapping[str, int],
        launch: int = 1,
        why: str = "",
    ) -> None:
        """The values that the kernel of this AST was about to read at a launch, counted from 1: of
        each argument by its number the dtype, the number of elements and the bytes, as
        little-endian processors keep them. `why`: the reason why requested values are missing.
        Raises TraceError where they take more than `viz.format.captured.MAX_BYTES`."""
        texts = plain_text(name), plain_text(device), dict(variables)
        kernel = Captured(ast, *texts, why=plain_text(why), launch=launch)
        self._output.captured.add(kernel, arguments)

    def captured_step(
        self,
        context: int,
        name: str,
        device: str,
        before: Arguments,
        after: Arguments,
        replay: int = 1,
        why: str = "",
    ) -> None:
        """The values of the captured step whose text is in `context`, of one replay of it, counted
        from 1: of memory by its number in that text what it held before the step, and what it held
        after it, in the form of `captured`. `why`: the reason why some are missing. Raises
        TraceError where they take more than `viz.format.captured.MAX_BYTES`."""
        texts = plain_text(name), plain_text(device)
        step = CapturedStep(context, *texts, replay=replay, why=plain_text(why))
        self._output.captured.add_step(step, before, after)

    def origins(self, kernel: int, asked: Mapping[int, Sequence[str]]) -> None:
        """The lines that ask for nodes of the kernel with this AST, each "file:line" or "file:line
        call"; without any, none is known. A node of several kernels is one node, and its own
        `origin` one of its lines: such a kernel has the lines given here, and for other nodes their
        `origin`. Repeated calls add lines."""
        asked = {kernel: (), **asked}
        pairs = [(node, line) for node, lines in asked.items() for line in lines or ("",)]
        self._output.origins.extend([(kernel, node, self.string(line)) for node, line in pairs])

    def launch(self, name: str, device: str, start_us: int, ns: int, size: int = 0) -> None:
        """A kernel ran: its time on the device in ns and the bytes it moved."""
        self._output.launches.add(self.string(name), self.string(device), start_us, ns, size)

    def memory(
        self,
        device: str,
        allocated: int,
        at: int | None = None,
        number: int = 0,
        taken: int = 0,
        kernel: str = "",
        lines: Sequence[str] = (),
    ) -> None:
        """Bytes allocated on a device, from now on, as an allocation of `taken` bytes begins, or
        (of 0) ends. `number` names it; 0: unknown. `kernel` is the first to write it, `lines`
        are the user's that asked for that."""
        time_us = self.now() if at is None else at
        row = self.string(device), time_us, allocated, number, taken
        self._output.memory.add(*row, self.string(kernel), self.string("\n".join(lines)))

    def meta(self, key: str, value: object) -> None:
        """One of schema.META."""
        self._output.meta(key, value)

    # to disk

    def flush(self) -> None:
        """Writes what happened since the last flush, all or nothing. Raises TraceError."""
        self._output.flush()

    def close(self, seconds: float | None = None) -> None:
        """Flushes, notes the end of the run and leaves one plain file; calling it again does
        nothing, except what an interrupt has left undone. `seconds`: how long the run took, where
        that is not until now; 0 where it is not known. Raises TraceError."""
        self._output.finish(self.now() / 1e6 if seconds is None else seconds)

    def finish(self) -> None:
        """The same without noting the end: for a run that had none, or whose end is noted
        already."""
        self._output.finish()

    @property
    def lost(self) -> bool:
        """Whether the file was removed or replaced since it was made: what is written to it is
        lost."""
        return self._database.lost

    def stopped(self, why: str) -> None:
        """Says in the trace that it could not be written to its end, if that can be written, and
        closes it."""
        self._output.stopped(why)

    def abandon(self) -> sqlite3.Connection:
        """The connection, for the child of a fork to keep unused: closing it would affect the
        parent's."""
        return self._database.abandon()
