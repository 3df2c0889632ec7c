"""The rows of one run, for each table. Numbers of passes, rules and nodes are those of the run.

Never writes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import TraceError
from viz.dialect.registry import named_in
from viz.fleet.layout import TABLES
from viz.format.events import MatchField
from viz.format.pack import Ints
from viz.known.beside import take_kept
from viz.read.records import Rewrite
from viz.views.overview.programs import REGISTERS
from viz.views.runs.process import Process
from viz.views.store import Store

Columns = dict[str, Any]
Scope = tuple[Process, Rewrite, int, str]
"""A pass: its process, itself, its number, and the name of the kernel that it is of."""


@dataclass(frozen=True)
class Coded:
    """A column of texts: of each row the place of its text in `names`."""

    codes: np.ndarray[Any, np.dtype[np.int32]]
    names: Sequence[str]

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class Packed:
    """The rows of one run, by table: the values of each column."""

    head: Mapping[str, str]
    date: str
    tables: Mapping[str, Columns]
    contents: Mapping[str, Mapping[str, Sequence[tuple[Any, ...]]]]
    """By table of CONTENTS and digest: the other columns of its rows."""


def run_id(path: Path) -> str:
    """What tells a run from all others: its bytes. Raises TraceError where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    except OSError as error:
        raise TraceError(f"it cannot be read ({error.strerror})", str(path)) from error
    return digest.hexdigest()[:32]


def packed(store: Store, number: str, redact: bool = False) -> Packed:
    """The rows of a run. Raises TraceError for one that is still being written, is newer, or can be
    read in part only, since sums would be wrong; and BudgetError."""
    if store.live:
        raise TraceError("this run still goes on", str(store.path), "pack it when it has ended")
    run = store.run()
    head = {
        "run_id": number,
        "commit": "" if redact else str(run["commit"]),
        "compiler": named_in(store.files[0].meta)[0],
        "program": "" if redact else str(run["name"]),
        "time": str(run["started"]),
    }
    names = {row["id"]: row for row in store.tree()["rows"]}
    kernels = {n: str(names[n]["name"]) for n in store.kernels() if n in names}
    totals = run["totals"]
    texts, sources = _texts(store, kernels, redact)
    graphs, nodes = _graphs(store, kernels)
    passes = [*_scopes(store, kernels)]
    tables: dict[str, Columns] = {
        "runs": {
            "file": ["" if redact else store.path.name],
            "path": ["" if redact else str(store.path.absolute())],
            "seconds": [float(run["seconds"])],
            "kernels": [totals["kernels"]],
            "steps": [totals["steps"]],
        },
        "passes": _passes(passes),
        "matches": _matches(store, passes),
        "rules": _rules(store, redact),
        "kernels": {
            "number": [*kernels],
            "kernel": [*kernels.values()],
            "us": [int(names[n]["ms"] * 1000) for n in kernels],
            "matches": [names[n]["steps"] for n in kernels],
            "graph": [graphs.get(n) for n in kernels],
        },
        "launches": _launches(store),
        "texts": texts,
        "checks": _checks(store),
    }
    for file in store.files:
        if file.db.problems:
            problem = file.db.problems[0]
            raise TraceError(
                problem.what, str(store.path), "what can be read is shown by uopviz open"
            )
    day = re.match(r"\d{4}-\d\d-\d\d", head["time"], re.ASCII)
    return Packed(head, day[0] if day else "unknown", tables, {"sources": sources, "nodes": nodes})


def _scopes(store: Store, kernels: Mapping[int, str]) -> Iterator[Scope]:
    """Every pass."""
    for process in store.processes:
        for rewrite in [*process.file.rewrites.values()]:
            number = process.id(rewrite.id)
            scope = store.scope_of(number)
            yield process, rewrite, number, kernels.get(scope, "") if scope is not None else ""


def _passes(scopes: Sequence[Scope]) -> Columns:
    rows = [
        (number, kernel, r.name, r.us or 0, r.matches, r.declines, r.nodes)
        for _, r, number, kernel in scopes
    ]
    return _columns("passes", rows)


def _matches(store: Store, scopes: Sequence[Scope]) -> Columns:
    """The columns as arrays: rules and kernels as numbers of tables of names."""
    found: dict[Process, list[Ints]] = {}
    of: list[tuple[int, int, int]] = []
    """Of each pass: how many matches it has, its kernel, and its number."""
    of_kernels: dict[str, int] = {}
    for process, rewrite, number, kernel in scopes:
        if rewrite.matches:
            rows = process.file.event_blocks.matches(rewrite)
            found.setdefault(process, []).append(rows)
            of.append((len(rows), of_kernels.setdefault(kernel, len(of_kernels)), number))
    if not found:
        return {name: [] for name in TABLES["matches"]}
    names: dict[str, int] = {}
    rules: list[npt.NDArray[np.int32]] = []
    for process, parts in found.items():
        local, inverse = np.unique(np.concatenate(parts)[:, MatchField.RULE], return_inverse=True)
        known = [store.rule_name(process.rule(int(rule))) for rule in local]
        codes = [names.setdefault(name, len(names)) for name in known]
        rules.append(np.asarray(codes, np.int32)[inverse])
    ns = np.concatenate([rows[:, MatchField.NS] for parts in found.values() for rows in parts])
    counts, kernel_codes, numbers = np.asarray(of, np.int64).T
    begins = np.repeat(np.cumsum(counts) - counts, counts)
    return {
        "rule": Coded(np.concatenate(rules), [*names]),
        "kernel": Coded(np.repeat(kernel_codes.astype(np.int32), counts), [*of_kernels]),
        "pass": np.repeat(numbers, counts),
        "step": (np.arange(1, len(ns) + 1) - begins).astype(np.int32),
        "us": np.minimum(ns // 1000, 2**31 - 1).astype(np.int32),
    }


def _rules(store: Store, redact: bool) -> Columns:
    rows = [
        (r["name"], "" if redact else r["file"], r["line"], r["matches"], r["declines"], r["us"])
        for r in store.rules()
        if r["matches"] or r["declines"]
    ]
    return _columns("rules", rows)


def _launches(store: Store) -> Columns:
    rows = [
        (name, device, ns, size)
        for process in store.processes
        for name, device, _, ns, size in process.file.launches
    ]
    return _columns("launches", rows)


def _texts(
    store: Store, kernels: Mapping[int, str], redact: bool
) -> tuple[Columns, dict[str, list[tuple[str]]]]:
    """The texts of kernels; each that was recorded as a text by its digest. A
    redacted run has none."""
    rows: list[tuple[Any, ...]] = []
    sources: dict[str, list[tuple[str]]] = {}
    for process in store.processes:
        for context in [*process.file.contexts.values()]:
            name = kernels.get(process.id(context.id))
            if name is None:
                continue
            for one in process.kernels.recorded(context, lines=False):
                counts = [one.facts.get(key, "") for key in REGISTERS]
                count = next((int(count) for count in counts if count.isdecimal()), None)
                text = None
                if one.text and not redact:
                    text = _digest(one.text.encode("utf-8", "replace"))
                    sources[text] = [(one.text,)]
                rows.append((name, one.kind, one.target, count, text))
    return _columns("texts", rows), sources


def _graphs(
    store: Store, kernels: Mapping[int, str]
) -> tuple[dict[int, str], dict[str, list[tuple[Any, ...]]]]:
    """The digest of the graph that each kernel begins with, and the nodes of each graph: numbered
    from 0, sources first."""
    digests: dict[int, str] = {}
    graphs: dict[str, list[tuple[Any, ...]]] = {}
    for process in store.processes:
        nodes, strings = process.file.nodes, process.file.strings
        op, dtype, arg = (nodes.field(name) for name in ("op", "dtype", "arg"))
        for context in [*process.file.contexts.values()]:
            if (number := process.id(context.id)) not in kernels:
                continue
            order = nodes.reachable(process.kernels.ast(context))
            place = {node: at for at, node in enumerate(order)}
            rows = [
                (
                    place[node],
                    *(strings.text(int(field[node])) for field in (op, dtype, arg)),
                    " ".join(str(place[source]) for source in nodes.sources(node)),
                )
                for node in order
            ]
            if rows:
                digests[number] = digest = _digest(repr(rows).encode("utf-8", "replace"))
                graphs[digest] = rows
    return digests, graphs


def _checks(store: Store) -> Columns:
    """What is known of steps: how many of a rule in a pass have a verdict, and the first."""
    counts: dict[tuple[int, str, str], list[int]] = {}
    for one, _ in take_kept(store):
        for step, rule, verdict in one["steps"]:
            kind = str(one["verdicts"][verdict]["kind"])
            found = counts.setdefault((one["rewrite"], store.rule_name(rule), kind), [0, step])
            found[0] += 1
    return _columns("checks", [(*key, *value) for key, value in counts.items()])


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _columns(table: str, rows: Sequence[Sequence[Any]]) -> Columns:
    values = [*zip(*rows, strict=True)] or [()] * len(TABLES[table])
    return {name: [*column] for name, column in zip(TABLES[table], values, strict=True)}
