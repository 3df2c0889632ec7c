"""What a trace says of its compiled kernels, as far as a table needs it: target, work, registers,
the user's calls. Kept once a kernel is finished. Never reads a source text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from core.errors import BudgetError, TraceError
from viz.budget import part, take
from viz.format.cells import as_int, as_text, parse_object
from viz.format.pack import unpack_json
from viz.format.rows import ARTIFACTS, KERNELS, ArtifactRow, KernelRow
from viz.read.records import Context
from viz.read.tracefile import TraceFile
from viz.views.kernels.kernels import parse_facts

MAX_NAME: Final = 200
MAX_CALLS: Final = 32
"""The user's calls that are kept of a kernel."""
REGISTERS: Final = ("registers", "regs", "vgprs")
"""What compilers call the number that decides how many threads fit."""
_MAX_BODY: Final = 1 << 14
"""Bytes of an artifact that is looked at for facts: those with a text inside are left alone."""
_KEPT: Final = 1200
_SEARCH: Final = 1.0
"""Seconds that the calls of one kernel are looked for."""
_FEW: Final = 8
"""Kernels that are asked for one by one."""


class Calls(Protocol):
    """What reads the calls of a kernel."""

    def calls(self, context: Context, ast: int) -> list[str]:
        """The user's lines and calls behind it."""
        ...


@dataclass(frozen=True)
class Program:
    """A kernel; `registers` by target; `calls` as "file:line call"."""

    name: str
    target: str
    device: str
    flops: int
    bytes: int
    calls: tuple[str, ...]
    registers: tuple[tuple[str, str], ...] = ()


class Programs:
    """The kernels of a file."""

    def __init__(self, file: TraceFile, calls: Calls) -> None:
        self._file = file
        self._calls = calls
        self._known: dict[int, Program] = {}
        self._searches = True

    def refresh(self) -> None:
        """Reads what is new. Raises BudgetError."""
        db = self._file.db
        kernels = [c for c in [*self._file.contexts.values()] if c.role == "kernel"]
        missing = [c for c in kernels if c.id not in self._known]
        if not missing:
            return
        if len(missing) > _FEW:
            rows, artifacts = db.all(KERNELS), db.all(ARTIFACTS)
        else:
            rows = [row for c in missing if (row := db.one(KERNELS, c.id)) is not None]
            artifacts = [row for c in missing for row in db.where(ARTIFACTS, "context", c.id)]
        stored = {row.context: row for row in rows}
        registers = _registers({c.id for c in missing}, artifacts)
        for context in missing:
            made = self._program(context, stored.get(context.id), registers.get(context.id, ()))
            if context.us is not None:
                self._known[context.id] = made

    def of(self, context: Context) -> Program:
        """One kernel, as far as it is known now."""
        found = self._known.get(context.id)
        return found if found is not None else self._program(context, None, ())

    def _program(
        self, context: Context, row: KernelRow | None, registers: tuple[tuple[str, str], ...]
    ) -> Program:
        row = row or KernelRow(context.id, "", "", "", 0, "")
        info = parse_object(row.info)
        calls = self._of_user(context, row.ast)
        take(8, _KEPT + sum(map(len, calls)))
        return Program(
            as_text(row.name, MAX_NAME) or context.name[:MAX_NAME],
            as_text(row.target, MAX_NAME) or as_text(context.meta.get("target"), MAX_NAME),
            as_text(row.device, MAX_NAME),
            max(0, as_int(info.get("flops"))),
            max(0, as_int(info.get("bytes"))),
            tuple(call[: 4 * MAX_NAME] for call in calls),
            registers,
        )

    def _of_user(self, context: Context, ast: int) -> list[str]:
        """The user's calls. Where they were not recorded, those of the nodes of the AST are looked
        for, as long as there is room for that."""
        found = self._searches and 0 < ast <= self._file.nodes.count
        if "metadata" not in context.meta and not found:
            return []
        try:
            with part(0.5, _SEARCH):
                return self._calls.calls(context, ast)[:MAX_CALLS]
        except BudgetError:
            self._searches = False
            return []


def _registers(
    wanted: set[int], artifacts: Iterable[ArtifactRow]
) -> dict[int, tuple[tuple[str, str], ...]]:
    """Registers by target, of these kernels."""
    found: dict[int, tuple[tuple[str, str], ...]] = {}
    for row in artifacts:
        if row.context not in wanted or len(row.body) > _MAX_BODY:
            continue
        try:
            parts = unpack_json(row.body)
        except BudgetError:
            raise
        except TraceError:
            continue  # the answer about the kernel itself says so
        facts = cast("dict[str, Any]", parts).get("facts") if isinstance(parts, dict) else None
        for name, value in parse_facts(facts).items():
            if name in REGISTERS:
                known = found.get(row.context, ())
                found[row.context] = (*known, (row.target[:100], value[:20]))
    return found
