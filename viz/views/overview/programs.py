"""What a trace says of its compiled kernels, as far as a table needs it: target, work, registers,
the user's calls. Kept once a kernel is finished. Never reads a source text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol, cast

from core.errors import BudgetError, TraceError
from viz.budget import part, take
from viz.format.pack import unpack_json
from viz.read.database import as_int, as_text, parse_object
from viz.read.tracefile import Context, TraceFile
from viz.views.kernels import parse_facts

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
_COLUMNS: Final = ("context", "name", "target", "device", "ast", "info")


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
        file = self._file
        kernels = [c for c in [*file.contexts.values()] if c.kind == "kernel"]
        missing = [c for c in kernels if c.id not in self._known]
        if not missing:
            return
        if len(missing) > 8:
            rows = {as_int(row[0]): row for row in file.db.all("kernels", _COLUMNS)}
        else:
            one = (file.db.one("kernels", _COLUMNS, c.id) for c in missing)
            rows = {as_int(row[0]): row for row in one if row is not None}
        registers = self._registers({c.id for c in missing})
        for context in missing:
            made = self._program(context, rows.get(context.id), registers.get(context.id, ()))
            if context.us is not None:
                self._known[context.id] = made

    def of(self, context: Context) -> Program:
        """One kernel, as far as it is known now."""
        found = self._known.get(context.id)
        return found if found is not None else self._program(context, None, ())

    def _program(
        self, context: Context, row: tuple[Any, ...] | None, registers: tuple[tuple[str, str], ...]
    ) -> Program:
        _, name, target, device, ast, text = row or (0, "", "", "", 0, "")
        info = parse_object(text)
        calls = self._of_user(context, as_int(ast))
        take(8, _KEPT + sum(map(len, calls)))
        return Program(
            as_text(name, MAX_NAME) or context.name[:MAX_NAME],
            as_text(target, MAX_NAME) or as_text(context.meta.get("target"), MAX_NAME),
            as_text(device, MAX_NAME),
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

    def _registers(self, wanted: set[int]) -> dict[int, tuple[tuple[str, str], ...]]:
        """Registers by target, of these kernels."""
        columns = ("context", "target", "body")
        if len(wanted) > 8:
            rows = self._file.db.all("artifacts", columns)
        else:
            of = self._file.db.where
            rows = [row for c in wanted for row in of("artifacts", columns, columns[0], c)]
        found: dict[int, tuple[tuple[str, str], ...]] = {}
        for context, target, body in rows:
            if context not in wanted or not isinstance(body, bytes) or len(body) > _MAX_BODY:
                continue
            try:
                parts = unpack_json(body)
            except BudgetError:
                raise
            except TraceError:
                continue  # the answer about the kernel itself says so
            facts = cast("dict[str, Any]", parts).get("facts") if isinstance(parts, dict) else None
            for name, value in parse_facts(facts).items():
                if name in REGISTERS:
                    found[context] = (*found.get(context, ()), (as_text(target, 100), value[:20]))
        return found
