"""Values that a kernel read in its run, captured on request: blocks of kinds CAPTURED and VALUES.

A block of kind CAPTURED describes them, and is read when a trace is opened. Blocks of kind VALUES
hold the bytes of one argument each, and are read on demand. Never interprets
bytes as anything but numbers of the dtype that is named.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, cast

from core.errors import TraceError
from viz.budget import take
from viz.format.cells import as_int, as_text
from viz.format.pack import inflate, pack_json, unpack_json

MAX_BYTES: Final = 60_000_000
"""Bytes that the values of one kernel may take: each argument is a block, which holds MAX_RAW."""
_LEVEL: Final = 1
"""Numbers hardly get smaller at a higher one, and take several times as long."""
_NAME: Final = 200
_MOST: Final = 1000
"""Arguments and variables of a kernel at most."""
_BYTES: Final = 600
"""Bytes that are kept of a kernel or argument."""


@dataclass(frozen=True, slots=True)
class CapturedArgument:
    """One argument that a kernel reads: its number, dtype, number of elements and bytes, and the
    number of its block of kind VALUES (its `first`)."""

    number: int
    dtype: str
    size: int
    bytes: int
    values: int


@dataclass(frozen=True, slots=True)
class Captured:
    """What is known of a launch of the kernel whose AST is the node `ast`: its name, the device,
    the values of its variables, and the arguments that it reads, as they were before. `why`: there
    are no arguments, because of this. `launch`: which one, counted from 1."""

    ast: int
    name: str
    device: str
    variables: dict[str, int] = field(default_factory=dict[str, int])
    arguments: tuple[CapturedArgument, ...] = ()
    why: str = ""
    launch: int = 1

    @property
    def all(self) -> tuple[CapturedArgument, ...]:
        """All values that there are of it."""
        return self.arguments

    @property
    def bytes(self) -> int:
        """Bytes of all its values."""
        return sum(argument.bytes for argument in self.arguments)


FIELDS: Final = ("ast", "name", "device", "variables", "arguments", "why", "launch", "values")
"""The keys of a kernel in a block of kind CAPTURED, and the values themselves."""


def pack_captured(kernels: Sequence[Captured]) -> bytes:
    """A block of kind CAPTURED."""
    return pack_json([asdict(kernel) for kernel in kernels])


def unpack_captured(data: bytes) -> list[Captured]:
    """What `pack_captured` made; what makes no sense is left out. Raises TraceError and
    BudgetError."""
    items = unpack_json(data)
    if not isinstance(items, list):
        raise TraceError("a block of captured values is damaged")
    made = (_kernel(cast("dict[str, Any]", i)) for i in cast("list[Any]", items) if _is_dict(i))
    found = [kernel for kernel in made if kernel is not None]
    count = sum(1 + len(k.arguments) + len(k.variables) for k in found)
    take(count, _BYTES * count)
    return found


def pack_values(raw: bytes) -> bytes:
    """A block of kind VALUES."""
    return zlib.compress(raw, _LEVEL)


def unpack_values(blob: bytes, size: int) -> bytes:
    """The `size` bytes that `pack_values` was given. Raises TraceError for any other number of
    bytes, and BudgetError."""
    raw = inflate(blob)
    if len(raw) != size:
        raise TraceError(
            f"the captured values are damaged: {len(raw):,} bytes in place of {size:,}",
            hint="capture them again",
        )
    return raw


def _kernel(item: dict[str, Any]) -> Captured | None:
    variables, arguments = item.get("variables"), item.get("arguments")
    if not _is_dict(variables) or not isinstance(arguments, list):
        return None
    named = {
        as_text(name, _NAME): value
        for name, value in list(cast("dict[str, Any]", variables).items())[:_MOST]
        if isinstance(value, int) and not isinstance(value, bool)
    }
    parts = [argument_of(x) for x in cast("list[Any]", arguments)[:_MOST]]
    kept = tuple(part for part in parts if part is not None)
    if len(kept) < len(parts) or sum(part.bytes for part in kept) > MAX_BYTES:
        return None
    name, device = as_text(item.get("name"), _NAME), as_text(item.get("device"), _NAME)
    why = as_text(item.get("why"), _NAME)
    launch = max(1, as_int(item.get("launch"), 1))
    return Captured(as_int(item.get("ast")), name, device, named, kept, why, launch)


def argument_of(item: object) -> CapturedArgument | None:
    """An argument of packed JSON; None for what is none."""
    if not _is_dict(item):
        return None
    fields = cast("dict[str, Any]", item)
    number, size, bytes_, values = (
        as_int(fields.get(key), -1) for key in ("number", "size", "bytes", "values")
    )
    if number < 0 or not 0 <= size <= MAX_BYTES or not 0 <= bytes_ <= MAX_BYTES:
        return None
    return CapturedArgument(number, as_text(fields.get("dtype"), 40), size, bytes_, values)


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)
