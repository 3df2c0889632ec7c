"""The kernels of a trace: metadata, recorded source texts, and their links to the AST.

Reads what was recorded; compiling and running are jobs (`viz/jobs/jobs.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np

from core.errors import BudgetError, TraceError
from viz.budget import part, take
from viz.dialect.dialect import TextKind
from viz.dialect.rundialect import RunDialect
from viz.format.captured import Captured
from viz.format.cells import as_int, as_text, parse_object
from viz.format.pack import unpack_json
from viz.format.rows import ARTIFACTS, KERNELS, ArtifactRow, KernelRow
from viz.read.artifacts import ArtifactBlocks
from viz.read.records import Context, Rewrite
from viz.read.tracefile import TraceFile
from viz.replay.listing import listing
from viz.replay.provenance import Provenance, positions, trace_provenance
from viz.views.kernels.captured import captured_data
from viz.views.nodes.lineage import scope_of
from viz.views.runs.places import line_of
from viz.views.tree import calls_of

_LINKS: Final = "links to nodes"
_LINE: Final = 500
"""Bytes that a line of a text takes with its lists, which are made three times over."""
_NODE: Final = 60
"""Bytes of a node of a line, in all lists."""
_KEPT_BYTES: Final = 1 << 27
"""Most bytes of the origins that are kept, apart from those of the last kernel."""
_OPTS: Final = 100
_OPT: Final = 200
"""Optimisations of a kernel that are told, and characters of each."""
_FEW: Final = 8
"""Bits of a set of which each node has its own list."""
Ids = Callable[[int], int]


@dataclass
class Recorded:
    """A source text as the trace has it, None where it follows from the nodes; `lines`: the nodes
    behind each line; `error` says why it cannot be read."""

    kind: str
    target: str
    text: str | None = ""
    lines: list[list[int]] = field(default_factory=list[list[int]])
    facts: dict[str, str] = field(default_factory=dict[str, str])
    title: str = ""
    error: str = ""


class KernelReader:
    """Kernels of one file. `context_id` and `node_id` number its contexts and nodes in the whole
    run."""

    def __init__(self, file: TraceFile, context_id: Ids, node_id: Ids, dialect: RunDialect) -> None:
        self._file, self._dialect = file, dialect
        self._context, self._global = context_id, node_id
        self._blocks = ArtifactBlocks(file.db)
        self._origins: dict[int, tuple[int, list[int], Provenance[int]]] = {}

    def data(self, context: Context) -> dict[str, Any]:
        """A kernel in the form of the page."""
        row = self._file.db.one(KERNELS, context.id) or KernelRow(context.id, "", "", "", 0, "")
        info = parse_object(row.info)
        ast = self.ast(context)
        name = as_text(row.name) or context.name
        target = as_text(row.target) or str(context.meta.get("target", ""))
        artifacts, alone = self._artifacts(context)
        ran = [
            x
            for x in self._file.launches
            if x[0] == name and self._dialect.dialect.may_run(x[1], target)
        ]
        times = [launch[3] / 1000 for launch in ran]
        return {
            "context": self._context(context.id),
            "name": name,
            "target": target,
            "device": as_text(row.device) or next((launch[1] for launch in ran), ""),
            "ast": self._global(ast) if ast else -1,
            "tensorCalls": self.calls(context, ast),
            "artifacts": artifacts,
            "places": self.places(ast, alone),
            "launches": {"count": len(times), "us": times[:10_000]},
            "inputs": [input_data(item) for item in _list(info.get("inputs"))],
            "flops": as_int(info.get("flops")),
            "bytes": as_int(info.get("bytes")),
            "globalSize": [as_int(n) for n in _list(info.get("globalSize"))],
            "localSize": [as_int(n) for n in _list(info.get("localSize"))],
            "opts": opts_of(info),
            "captured": captured_data(self.captured(context)),
        }

    def captured(self, context: Context) -> Captured | None:
        """The values of a kernel that were asked for when it ran; None where none were."""
        return self._file.captured.get(self.ast(context))

    def launch_sizes(self, context: Context) -> list[list[int]]:
        """The most work groups of a launch, and the threads of each, along x, y and z."""
        row = self._file.db.one(KERNELS, context.id)
        info = parse_object(row.info) if row is not None else {}
        return [[as_int(n) for n in _list(info.get(k))] for k in ("globalSize", "localSize")]

    def ast(self, context: Context) -> int:
        """The node of the kernel's AST: as recorded, or the input of its first pass; 0 for none."""
        row = self._file.db.one(KERNELS, context.id)
        if row is not None and 0 < row.ast <= self._file.nodes.count:
            return row.ast
        rewrites = self._rewrites(context)
        return self._file.rewrites[rewrites[0]].sink if rewrites else 0

    def graph_of(self, rewrite: Rewrite) -> int:
        """The AST of the kernel, or the graph of the schedule, that a pass is of; 0 for none."""
        context = self._file.contexts.get(scope_of(self._file, rewrite))
        return 0 if context is None else self.ast(context)

    def origins(self, context: Context) -> dict[str, Any]:
        """For each node seen in the kernel's rewrites, the AST nodes that it comes from. Raises
        BudgetError."""
        order, made = self._provenance(context, self.ast(context))
        ids = [self._global(node) for node in order]
        found = made.all()
        many: dict[bytes, list[int]] = {}
        """Large sets, which most nodes share with others. (Not by the integers: those with few bits
        have 61 hashes in all.)"""
        origin: list[list[int]] = []
        for bits in found.values():
            key = _as_bytes(bits) if bits.bit_count() > _FEW else b""
            places = many.get(key) if key else None
            if places is None:
                take(bits.bit_length() // 64 + 8, 16 * bits.bit_count() + len(key) + 200)
                places = [ids[p] for p in positions(bits)]
                if key:
                    many[key] = places
            take(0, 8 * len(places) + 100)
            origin.append(places)
        return {"node": [self._global(node) for node in found], "origin": origin}

    def origins_within(self, context: Context, share: float) -> dict[str, Any]:
        """`origins`, of no node where that would take more than this share of the budget."""
        try:
            with part(share):
                return self.origins(context)
        except BudgetError:
            return {"node": [], "origin": []}

    def _provenance(self, context: Context, ast: int) -> tuple[list[int], Provenance[int]]:
        rewrites = self._rewrites(context)
        matches = sum(self._file.rewrites[r].matches for r in rewrites)
        known = self._origins.pop(context.id, None)
        if known is not None and known[0] == matches:
            self._origins[context.id] = known
            return known[1], known[2]
        order, made = trace_provenance(self._file, ast, rewrites)
        self._origins[context.id] = matches, order, made
        while len(self._origins) > 1 and (
            len(self._origins) > 8
            or sum(kept.nbytes for _, _, kept in self._origins.values()) > _KEPT_BYTES
        ):
            self._origins.pop(next(iter(self._origins)))
        return order, made

    def _rewrites(self, context: Context) -> list[int]:
        """The rewrites in a context and in those inside it, in order."""
        inside = {context.id}
        for other in [*self._file.contexts.values()]:  # a context begins after the one around it
            if other.parent in inside:
                inside.add(other.id)
        return sorted(r.id for r in [*self._file.rewrites.values()] if r.context in inside)

    def recorded(self, context: Context, lines: bool = True) -> list[Recorded]:
        """The source texts that the trace has of a kernel; not `lines`: without the nodes behind
        the lines of them."""
        rows = self._file.db.where(ARTIFACTS, "context", context.id)
        return [self._recorded(row, lines) for row in rows]

    def texts(self, context: Context, derived: bool = True) -> Iterator[tuple[str, str, str]]:
        """Kind, target and text of each source that the trace has of a kernel, as far as it can be
        read; of those that follow from the nodes only where `derived`."""
        for row in self._file.db.where(ARTIFACTS, "context", context.id):
            with suppress(TraceError, TypeError):
                parts = unpack_json(row.body)
                if not isinstance(parts, dict):
                    continue
                fields = cast("dict[str, Any]", parts)
                if "text" in fields:
                    text = self._blocks.text(fields["text"])
                elif derived:
                    text = self._shown(self._recorded(row))
                else:
                    continue
                yield as_text(row.kind), as_text(row.target), text

    def _recorded(self, row: ArtifactRow, lines: bool = True) -> Recorded:
        made = Recorded(as_text(row.kind), as_text(row.target))
        try:
            parts = unpack_json(row.body)
            if not isinstance(parts, dict):
                raise TraceError("an artifact is damaged")
            fields = cast("dict[str, Any]", parts)
            counts, flat = self._blocks.lines(row, fields.get("lines"))
            text = self._blocks.text(fields["text"]) if "text" in fields else None
            if text is not None:
                if len(counts) > text.count("\n") + 2:
                    raise TraceError("an artifact is damaged (it has more lines than its text)")
                take(len(text) // 16, 3 * len(text))
            take(4 * len(counts) + len(flat), _LINE * len(counts) + _NODE * len(flat))
            made.text = text
        except TraceError as error:
            made.error = error.what
            return made
        made.facts, made.title = parse_facts(fields.get("facts")), as_text(fields.get("title"))
        if not lines:
            return made
        is_known = (flat > 0) & (flat <= self._file.nodes.count)
        ends = np.append(0, np.cumsum(is_known))[np.cumsum(counts)]
        nodes: list[int] = flat[is_known].tolist()
        made.lines = [nodes[begin:end] for begin, end in pairwise([0, *ends.tolist()])]
        return made

    def _shown(self, one: Recorded) -> str:
        """The text, worked out where it was not recorded. Raises TraceError and BudgetError."""
        if one.text is None:
            return listing(self._file, one.lines, self._dialect)
        return one.text

    def artifacts(self, context: Context, say: Callable[[str], str] = str) -> list[dict[str, Any]]:
        """The texts that the trace has of a kernel or schedule, in the form of the page and the
        dialect's order, as `say` words them. Raises BudgetError."""
        return self._artifacts(context, say)[0]

    def _artifacts(
        self, context: Context, say: Callable[[str], str] = str
    ) -> tuple[list[dict[str, Any]], dict[int, None]]:
        """`artifacts`, and the nodes of texts of which nothing says that they come from an AST, as
        in traces of other compilers: their lines come from the nodes themselves."""
        preferred = {kind: at for at, kind in enumerate(self._dialect.dialect.kinds)}
        recorded = sorted(
            self.recorded(context), key=lambda one: preferred.get(one.kind, len(preferred))
        )
        ast = self.ast(context)
        alone: dict[int, None] = {}
        if not recorded:
            return [], alone
        made: Provenance[int] | None = None
        ids: list[int] = []
        try:
            with part(0.5):
                order, made = self._provenance(context, ast)
            ids = [self._global(node) for node in order]
        except BudgetError as error:
            for one in recorded:
                one.facts[_LINKS] = f"left out: {error.what}"
        for one in recorded:
            try:
                one.text = say(self._shown(one))
            except TraceError as error:
                one.text, one.lines, one.error = "", [], one.error or error.what
        return [self._artifact(one, ids, made, alone) for one in recorded], alone

    def _artifact(
        self,
        one: Recorded,
        ids: list[int],
        made: Provenance[int] | None,
        alone: dict[int, None],
    ) -> dict[str, Any]:
        origins: list[list[int]] = []
        try:
            nodes = [node for line in one.lines for node in line]
            known = {} if made is None else made.of_program(nodes)
            for line in one.lines:
                found: set[int] = set()
                for node in line:
                    bits = known.get(node, 0)
                    take(bits.bit_length() // 64 + 1, 8 * bits.bit_count())
                    found.update(ids[p] for p in positions(bits))
                origins.append(sorted(found))
            if not any(origins):
                for at, line in enumerate(one.lines):
                    take(len(line))
                    alone.update(dict.fromkeys(line))
                    origins[at] = sorted(map(self._global, line))
        except BudgetError as error:
            one.facts[_LINKS] = f"left out: {error.what}"
        return artifact_data(
            self._dialect.dialect.kinds,
            one.kind,
            one.target,
            one.text or "",
            lines=[[self._global(n) for n in line] for line in one.lines],
            origins=origins + [[]] * (len(one.lines) - len(origins)),
            facts=one.facts,
            title=one.title,
            error=one.error,
        )

    def places(self, ast: int, alone: Iterable[int] = ()) -> list[dict[str, Any]]:
        """The lines of the user's program that a kernel comes from, in the order of its nodes, each
        with the nodes of its AST, and those that stand `alone`, which it asked for; and whether
        other lines have asked for each of these, too."""
        origins = self._file.origins.within(ast)
        nodes = self._file.nodes.reachable(ast) if ast else []
        found: dict[tuple[str, int], list[int]] = {}
        own: set[tuple[str, int]] = set()
        for node in dict.fromkeys((*nodes, *alone)):
            lines = dict.fromkeys(line_of(self._file.text(origin)) for origin in origins(node))
            places = [place for place in lines if place is not None]
            take(1, _NODE * len(places))
            own.update(places if len(places) == 1 else ())
            for place in places:
                found.setdefault(place, []).append(self._global(node))
        return [
            {"file": place[0], "line": place[1], "nodes": made, "shared": place not in own}
            for place, made in found.items()
        ]

    def calls(self, context: Context, ast: int) -> list[str]:
        """The user's lines and calls behind a kernel: as recorded when it was compiled, with those
        that have asked for it since; or those of the nodes of its AST."""
        file = self._file
        if calls_of(context) is not None or not ast:
            said = [as_text(call) for call in _list(context.meta.get("metadata"))]
            ops = file.nodes.field("op")
            later = (
                origin
                for node, origins in file.origins.told(ast)
                if self._dialect.dialect.op(file.text(int(ops[node]))).computes
                for origin in origins
            )
            known = {"", *said}
            return [*said, *dict.fromkeys(t for t in map(file.text, later) if t not in known)]
        of = file.origins.within(ast)
        found = (origin for node in file.nodes.reachable(ast) for origin in of(node))
        return [line for line in map(file.text, dict.fromkeys(found)) if line]


def artifact_data(
    kinds: Mapping[str, TextKind],
    kind: str,
    target: str,
    text: str = "",
    *,
    lines: Sequence[Sequence[int]] = (),
    origins: Sequence[Sequence[int]] = (),
    facts: dict[str, str] | None = None,
    title: str = "",
    error: str = "",
) -> dict[str, Any]:
    """An artifact in the form of the page, of the kernel's own passes."""
    known = kinds.get(kind)
    return {
        "kind": kind,
        "target": target,
        "title": title or f"{known.title if known else kind} {target}".strip(),
        "language": known.language if known else "text",
        "text": text,
        "lines": [list(line) for line in lines],
        "origins": [list(line) for line in origins],
        "facts": [{"name": name, "value": value} for name, value in (facts or {}).items()],
        "error": {"what": error, "where": target, "hint": ""} if error else None,
        "passes": None,
    }


def parse_facts(value: object) -> dict[str, str]:
    """Facts from data that may be anything."""
    if not isinstance(value, dict):
        return {}
    items = list(cast("dict[str, Any]", value).items())[:100]
    return {name[:100]: str(fact)[:1000] for name, fact in items}


def _as_bytes(bits: int) -> bytes:
    return bits.to_bytes((bits.bit_length() + 7) // 8, "little")


def opts_of(info: Mapping[str, Any]) -> list[str] | None:
    """The optimisations that were applied to a kernel, of what was recorded of its program; None
    where nothing was."""
    found = info.get("opts")
    return [as_text(opt, _OPT) for opt in _list(found)[:_OPTS]] if isinstance(found, list) else None


def input_data(item: Any) -> dict[str, Any]:
    """An argument of a kernel from data that may be anything."""
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    return {
        "name": as_text(fields.get("name"), 200),
        "dtype": as_text(fields.get("dtype"), 200),
        "size": as_int(fields.get("size")),
    }


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value)[:100_000] if isinstance(value, list) else []
