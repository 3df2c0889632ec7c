"""Source texts of kernels that the next flush writes. Never touches a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from viz.format import schema
from viz.format.blocks import ARTIFACT_LINES
from viz.format.pack import Ints, pack_json
from viz.format.rows import ArtifactRow, BlockRow, plain_text
from viz.format.texts import groups, pack_texts


@dataclass(frozen=True, slots=True)
class _Artifact:
    """A row of `artifacts` without its body, and what the body is made of."""

    row: ArtifactRow
    text: str
    facts: Mapping[str, str]
    title: str


class Artifacts:
    """The artifacts since the last flush. Their texts are packed together."""

    def __init__(self) -> None:
        self._new: list[_Artifact] = []

    def add(
        self,
        context: int,
        kind: str,
        target: str,
        text: str,
        counts: Sequence[int],
        nodes: Sequence[int] | Ints,
        facts: Mapping[str, str],
        title: str,
    ) -> None:
        """A source text of a kernel, with the number of nodes behind each line and all of these."""
        lines = ARTIFACT_LINES.pack((counts, nodes))
        row = ArtifactRow(None, context, plain_text(kind), plain_text(target), b"", lines)
        self._new.append(_Artifact(row, text, dict(facts), title))

    def take(self, first: int) -> tuple[list[BlockRow], list[ArtifactRow]]:
        """Blocks of the texts, numbered from `first`, and the rows that refer to them."""
        new, self._new = self._new, []
        blocks: list[BlockRow] = []
        rows: list[ArtifactRow] = []
        for number, texts in enumerate(groups([a.text for a in new]), first):
            for at, one in enumerate(new[len(rows) : len(rows) + len(texts)]):
                body = {"text": [number, at], "facts": one.facts, "title": one.title}
                one.row.body = pack_json(body)
                rows.append(one.row)
            blocks.append(BlockRow(number, schema.TEXTS, 0, len(texts), pack_texts(texts)))
        return blocks, rows
