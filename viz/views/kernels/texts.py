"""Texts that kernels of a run were compiled to for an exported file, without their passes: no part
of the trace.

Lines link to nodes of the kernel's AST. Kept packed. Never compiles.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, Protocol, cast

from viz.dialect.dialect import TextKind
from viz.dialect.registry import dialect_of
from viz.format.cells import as_text
from viz.format.jsontext import to_json
from viz.format.schema import CORE_DIALECT
from viz.views.kernels.kernels import artifact_data, parse_facts

_LEVEL: Final = 1
_MOST: Final = 64
"""Texts of one kernel that a file may state."""
_MOST_LINES: Final = 1_000_000
Data = dict[str, Any]


class Words(Protocol):
    """How a copy says what it has of a column: see `viz/share/redaction.py`."""

    def text(self, column: str, text: str) -> str:
        """A text of a column."""
        ...


class Texts:
    """By kernel, in the form `Artifact` of the page. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._packed: dict[int, bytes] = {}

    def add(self, kernel: int, artifacts: Sequence[Data]) -> None:
        """Keeps further texts of a kernel, in place of those of the same kind and target."""
        new = {(one["kind"], one["target"]) for one in artifacts}
        kept = [one for one in self.of(kernel) if (one["kind"], one["target"]) not in new]
        packed = gzip.compress(to_json([*kept, *artifacts]), _LEVEL, mtime=0)
        with self._lock:
            self._packed[kernel] = packed

    def of(self, kernel: int) -> list[Data]:
        """Those of a kernel."""
        with self._lock:
            packed = self._packed.get(kernel)
        return [] if packed is None else json.loads(gzip.decompress(packed))

    def kernels(self) -> list[int]:
        """The numbers of the kernels of which there are some."""
        with self._lock:
            return sorted(self._packed)

    def publish(self, others: Texts, kernels: Collection[int], words: Words) -> None:
        """Takes up those of some kernels for an exported file, as `words` says them."""
        for kernel in others.kernels():
            if kernel in kernels:
                self.add(kernel, [_worded(one, words) for one in others.of(kernel)])


def _kinds() -> Mapping[str, TextKind]:
    """Those of `core`: nothing else is compiled on request."""
    return dialect_of({"dialect": CORE_DIALECT}).dialect.kinds


def text_of(
    kind: str,
    target: str,
    text: str,
    facts: Mapping[str, str],
    origins: Sequence[Sequence[int]],
) -> Data:
    """A text of a kernel; `origins`: for each line the nodes of the AST that it comes from."""
    lines: list[list[int]] = [[] for _ in origins]
    return artifact_data(
        _kinds(), kind, target, text, lines=lines, origins=origins, facts=dict(facts)
    )


def failed_text(kind: str, target: str, what: str, where: str, hint: str) -> Data:
    """A text that could not be made, and why."""
    made = artifact_data(_kinds(), kind, target)
    return made | {"error": {"what": what, "where": where, "hint": hint}}


def texts_in(stated: object) -> list[Data]:
    """The texts without passes among the artifacts that a file states, which may hold anything."""
    items = cast("list[object]", stated)[:_MOST] if isinstance(stated, list) else []
    return [made for item in items if (made := _text_in(item)) is not None]


def _text_in(item: object) -> Data | None:
    match item:
        case {
            "kind": str(kind),
            "target": str(target),
            "text": str(text),
            "lines": list(_),
            "origins": list(origins),
            "facts": list(facts),
            "error": error,
            "passes": None,
        }:
            pass
        case _:
            return None
    linked: list[list[int]] = []
    for line in cast("list[object]", origins)[:_MOST_LINES]:
        nodes = cast("list[object]", line) if isinstance(line, list) else []
        linked.append([node for node in nodes if type(node) is int])
    pairs = [cast("Data", fact) for fact in cast("list[object]", facts) if isinstance(fact, dict)]
    known = parse_facts({as_text(one.get("name")): as_text(one.get("value")) for one in pairs})
    made = text_of(kind[:100], target[:100], text, known, linked)
    if isinstance(error, dict):
        said = cast("Data", error)
        made["error"] = {key: as_text(said.get(key), 2000) for key in ("what", "where", "hint")}
    return made


def _worded(one: Data, words: Words) -> Data:
    facts = [
        {key: words.text("artifacts.facts", text) for key, text in fact.items()}
        for fact in one["facts"]
    ]
    error = one["error"]
    said = error and {key: words.text("meta.left_out", text) for key, text in error.items()}
    text = words.text("artifacts.text", one["text"])
    return one | {"text": text, "facts": facts, "error": said}
