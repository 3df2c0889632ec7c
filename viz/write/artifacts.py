"""Source texts of kernels that the next flush writes. Never touches a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from viz.format import schema
from viz.format.blocks import TEXT_LINES
from viz.format.pack import Ints, pack_json
from viz.format.rows import ArtifactRow, BlockRow, plain_text
from viz.format.texts import groups, pack_texts

_GROUP = 1 << 20
"""Lines, and nodes behind lines, of one block; more begin another one."""


@dataclass(frozen=True, slots=True)
class _Artifact:
    """A row of `artifacts` without its body, and what the body is made of."""

    row: ArtifactRow
    text: str | None
    counts: Sequence[int]
    nodes: Sequence[int] | Ints
    body: dict[str, object]


class Artifacts:
    """The artifacts since the last flush. Their texts are packed together, and so are the nodes
    behind their lines."""

    def __init__(self) -> None:
        self._new: list[_Artifact] = []

    def add(
        self,
        context: int,
        kind: str,
        target: str,
        text: str | None,
        counts: Sequence[int],
        nodes: Sequence[int] | Ints,
        facts: Mapping[str, str],
        title: str,
    ) -> None:
        """A source text of a kernel, with the number of nodes behind each line and all of these;
        without a text where that follows from the nodes."""
        row = ArtifactRow(None, context, plain_text(kind), plain_text(target), b"", b"")
        said: dict[str, object] = {"facts": dict(facts), "title": title}
        body = {key: value for key, value in said.items() if value}
        self._new.append(_Artifact(row, text, counts, nodes, body))

    def take(self, first: int) -> tuple[list[BlockRow], list[ArtifactRow]]:
        """Blocks of the texts and of the nodes behind lines, numbered from `first`, and the rows
        that refer to them."""
        new, self._new = self._new, []
        with_text = [(one, one.text) for one in new if one.text is not None]
        blocks: list[BlockRow] = []
        at = 0
        for texts in groups([text for _, text in with_text]):
            number = first + len(blocks)
            for place, (one, _) in enumerate(with_text[at : at + len(texts)]):
                one.body["text"] = [number, place]
            blocks.append(BlockRow(number, schema.TEXTS, 0, len(texts), pack_texts(texts)))
            at += len(texts)
        for part in _line_groups(new):
            number = first + len(blocks)
            for place, one in enumerate(part):
                one.body["lines"] = [number, place]
            blocks.append(BlockRow(number, schema.TEXT_LINES, 0, len(part), _pack_lines(part)))
        for one in new:
            one.row.body = pack_json(one.body)
        return blocks, [one.row for one in new]


def _line_groups(new: Sequence[_Artifact]) -> list[list[_Artifact]]:
    """Those that have lines, in parts that each make a block."""
    parts: list[list[_Artifact]] = []
    size = _GROUP
    for one in new:
        own = len(one.counts) + len(one.nodes)
        if not own:
            continue
        if size + own > _GROUP:
            parts.append([])
            size = 0
        parts[-1].append(one)
        size += own
    return parts


def _pack_lines(part: Sequence[_Artifact]) -> bytes:
    lines = [len(one.counts) for one in part]
    counts = np.concatenate([np.asarray(one.counts, np.int64) for one in part])
    nodes = np.concatenate([np.asarray(one.nodes, np.int64) for one in part])
    return TEXT_LINES.pack((lines, counts, nodes))
