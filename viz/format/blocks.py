"""The columns of packed blocks, each declared once: its name, and whether it is stored as
differences and holds numbers of texts.

docs/trace-format.md says what every column means. Never touches a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.errors import TraceError
from viz.format import schema
from viz.format.pack import Ints, pack, unpack


@dataclass(frozen=True)
class Column:
    """One column; `delta`: it is stored as differences of neighbours; `string`: its integers are
    numbers of texts in the blocks of kind STRINGS."""

    name: str
    delta: bool = False
    string: bool = False


def numbers(*names: str) -> tuple[Column, ...]:
    """Columns that are stored as they are."""
    return tuple(Column(name) for name in names)


def differences(*names: str) -> tuple[Column, ...]:
    """Columns that are stored as differences."""
    return tuple(Column(name, delta=True) for name in names)


def strings(*names: str, delta: bool = False) -> tuple[Column, ...]:
    """Columns of numbers of texts."""
    return tuple(Column(name, delta, string=True) for name in names)


class Columns:
    """The columns of a kind of block. `name`: what the rows of all such blocks are called."""

    def __init__(self, name: str, kind: int, *columns: Column) -> None:
        self.name = name
        self.kind = kind
        self.columns = columns
        self.names = tuple(column.name for column in columns)
        self.delta = tuple(column.delta for column in columns)

    def pack(self, values: Sequence[Sequence[int] | Ints]) -> bytes:
        """A blob of `values`, a sequence for each column."""
        return pack(values, self.delta)

    def unpack(self, blob: bytes, most: int | None = None, each: int = 0) -> dict[str, Ints]:
        """The columns of a blob by name; see `viz.format.pack.unpack`. Raises TraceError."""
        return dict(zip(self.names, unpack(blob, len(self.names), most, each), strict=True))

    def rows(self, blob: bytes, each: int) -> list[tuple[int, ...]]:
        """The rows of a blob whose columns are of one length. Raises TraceError."""
        columns = self.unpack(blob, each=each).values()
        if len({len(column) for column in columns}) != 1:
            raise TraceError(f"a block of {self.name} is damaged")
        return list(zip(*(column.tolist() for column in columns), strict=True))


NODE_STRINGS: Final = ("op", "dtype", "arg", "tag", "origin", "loc", "extra")
"""Fields of a node that are texts."""
PLAIN_NODES: Final = Columns(
    "plain_nodes", schema.PLAIN_NODES, *strings(*NODE_STRINGS), *numbers("nsrc", "src")
)
"""What version 2 had instead of HEADS and NODES."""
HEADS: Final = Columns("heads", schema.HEADS, *strings(*NODE_STRINGS), *numbers("nsrc"))
"""What nodes have apart from their sources, each combination once."""
NODES: Final = Columns("nodes", schema.NODES, *numbers("head", "near", "far"))
NEAR: Final = 128
"""A source that stands fewer nodes before its user is stored as this distance, in one byte; any
other one as its number: the same constants are used from everywhere."""
EVENTS: Final = Columns(
    "events",
    schema.EVENTS,
    *(*numbers("kind"), *differences("rewrite")),
    *(*numbers("match_rule"), *differences("match_before", "match_after"), *numbers("match_us")),
    *(*strings("match_sig"), *numbers("bind_count", "binds")),
    *differences("rebuild_old", "rebuild_new"),
    *differences("decline_rule", "decline_node"),
)
LAUNCHES: Final = Columns(
    "launches",
    schema.LAUNCHES,
    *(*strings("name", "device"), *differences("start"), *numbers("ns", "bytes")),
)
PLAIN_MEMORY: Final = Columns(
    "plain_memory", schema.PLAIN_MEMORY, *strings("device"), *differences("time", "allocated")
)
"""What older files have instead of MEMORY."""
MEMORY: Final = Columns(
    "memory",
    schema.MEMORY,
    *(*strings("device"), *differences("time", "allocated"), *numbers("number", "taken")),
    *strings("kernel", "lines"),
)
RULE_SETS: Final = Columns("rule_sets", schema.RULE_SETS, *numbers("length"), *differences("rules"))
VISITS: Final = Columns(
    "visits",
    schema.VISITS,
    *(*strings("pass", delta=True), *differences("set"), *strings("op", delta=True)),
    *numbers("rule", "count"),
)
TRIES: Final = Columns(
    "tries",
    schema.TRIES,
    *(*differences("rewrite"), *strings("pass"), *numbers("rule", "tries", "us", "function_us")),
)
GATED: Final = Columns("gated", schema.GATED, *differences("rewrite", "node"))
ORIGINS: Final = Columns(
    "origins", schema.ORIGINS, *differences("kernel", "node"), *strings("origin", delta=True)
)
"""The lines that ask for each node of a kernel, in this kernel."""
TEXT_LINES: Final = Columns(
    "text_lines", schema.TEXT_LINES, *numbers("lines", "length"), *differences("nodes")
)
PASS_TEXTS: Final = Columns(
    "pass_texts",
    schema.PASS_TEXTS,
    *(*differences("rewrite"), *numbers("when"), *strings("kind"), *differences("text")),
    *(*numbers("text_at"), *differences("lines"), *numbers("lines_at", "left_out")),
)
"""The compiler's own texts of the program before (`when` 0) and after (1) a pass: the block and the
place of the text and of the nodes behind its lines (0: none), and the lines that were left out."""
TEXT_NUMBERS: Final = Columns(
    "text_numbers", 0, *differences("first"), *numbers("before"), *differences("reference")
)
"""The numbers of values in texts: no block, but a part of those of kind TEXTS."""
ARTIFACT_LINES: Final = Columns("artifact_lines", 0, *numbers("length"), *differences("nodes"))
"""What version 2 had instead of TEXT_LINES, for each text: no block, but the column `lines` of the
table `artifacts`."""

REWRITES: Final = Columns(
    "rewrites",
    schema.REWRITES,
    *(*differences("id", "parent", "context"), *strings("name", "matcher", "caller")),
    *(*numbers("bottom_up"), *differences("sink", "result"), *numbers("nodes")),
    *(*differences("start"), *numbers("us", "matches", "rebuilds", "declines", "empty")),
    *differences("first_block", "last_block"),
)
"""The columns of the table `rewrites`, but for the error."""

PACKED: Final = (
    *(PLAIN_NODES, HEADS, NODES, EVENTS, LAUNCHES, PLAIN_MEMORY, MEMORY, RULE_SETS, VISITS),
    *(TRIES, GATED, ORIGINS, TEXT_LINES, PASS_TEXTS, REWRITES),
)
"""All kinds of blocks that are columns."""
OLD: Final = (PLAIN_NODES, PLAIN_MEMORY)
"""Those that are read and no longer written."""
