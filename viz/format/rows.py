"""Tables of a trace: a class for the rows of each. Never touches a file.

docs/trace-format.md says what every column means. Columns of packed blocks are declared in
`viz/format/blocks.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from viz.format import schema
from viz.format.table import String, Table


def plain_text(text: str) -> str:
    """Text that SQLite accepts: lone surrogates (undecodable file names) become "?"."""
    return text[: schema.MAX_TEXT].encode("utf-8", "replace").decode()


@dataclass(slots=True)
class MetaRow:
    """A fact of the whole run: a key of schema.META, and its value as JSON."""

    key: str
    value: str


@dataclass(slots=True)
class ContextRow:
    """A named group; `meta` and `error` are JSON, `us` is None while it is open."""

    id: int
    parent: int
    name: str
    kind: str
    meta: str
    thread: int
    start: int
    us: int | None = None
    error: str | None = None


@dataclass(slots=True)
class RewriteRow:
    """One graph_rewrite; `us` is None while it is open."""

    id: int
    parent: int
    context: int
    name: String
    matcher: String
    caller: String
    bottom_up: int
    sink: int
    result: int
    nodes: int
    start: int
    us: int | None = None
    matches: int = 0
    rebuilds: int = 0
    declines: int = 0
    empty: int = 0
    first_block: int = 0
    last_block: int = 0
    error: str | None = None


@dataclass(slots=True)
class RuleRow:
    """A rule without its further texts. Blocks of kind RULES have all of them; before version 3
    these fields were a table."""

    id: int
    name: str
    matcher: str
    file: str
    line: int
    equation: str


@dataclass(slots=True)
class TotalRow:
    """What a rule did in all passes of a name: what `uopviz stats` reads."""

    pass_: String
    rule: int
    matches: int
    declines: int
    ns: int


@dataclass(slots=True)
class KernelRow:
    """The compiled program of a kernel context; `info` is JSON."""

    context: int
    name: str
    target: str
    device: str
    ast: int
    info: str


@dataclass(slots=True)
class ArtifactHead:
    """A source text of a kernel, without its content. SQLite chooses the `id` of a new one."""

    id: int | None
    context: int
    kind: str
    target: str


@dataclass(slots=True)
class ArtifactRow(ArtifactHead):
    """A source text of a kernel: packed JSON, and packed columns of the nodes behind its lines."""

    body: bytes
    lines: bytes


@dataclass(slots=True)
class BlockHead:
    """A packed block, without its data: a kind of `viz/format/schema.py`, the first number in it,
    and how many it holds."""

    id: int
    kind: int
    first: int
    count: int


@dataclass(slots=True)
class BlockRow(BlockHead):
    """Packed data (`viz/format/pack.py`)."""

    data: bytes


META: Final = Table("meta", MetaRow)
CONTEXTS: Final = Table("contexts", ContextRow)
REWRITES: Final = Table("rewrites", RewriteRow)
RULES: Final = Table("rules", RuleRow)
SAME_AS: Final = "sameAs"
"""In place of the texts of a rule: the number of the rule of the main file that has them."""
RULE_TOTALS: Final = Table("rule_totals", TotalRow, "pass", "rule")
KERNELS: Final = Table("kernels", KernelRow)
ARTIFACTS: Final = Table("artifacts", ArtifactRow)
BLOCKS: Final = Table("blocks", BlockRow)
ARTIFACT_HEADS: Final = Table("artifacts", ArtifactHead)
BLOCK_HEADS: Final = Table("blocks", BlockHead)
"""The same tables without their large columns."""

TABLES: Final[tuple[Table[Any], ...]] = (
    *(META, CONTEXTS, REWRITES, RULE_TOTALS, KERNELS, ARTIFACTS, BLOCKS),
)
DDL: Final = "\n".join(
    (
        f"PRAGMA application_id = {schema.APPLICATION_ID};",
        f"PRAGMA user_version = {schema.VERSION};",
        *(table.ddl for table in TABLES),
    )
)
"""Makes the tables of a new trace."""
