"""Source texts of kernels that the next flush writes. Never touches a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from viz.format import schema
from viz.format.blocks import TEXT_LINES
from viz.format.pack import Ints, pack_json
from viz.format.rows import ArtifactRow, BlockRow, plain_text
from viz.format.texts import groups, pack_texts
from viz.write.log import Log

_GROUP = 1 << 20
"""Lines, and nodes behind lines, of one block; more begin another one."""
NodesOfLines = tuple[Sequence[int], Sequence[int] | Ints]
"""The number of nodes behind each line of a text, and all of these."""


@dataclass(frozen=True, slots=True)
class _Artifact:
    """The context, kind and target of a text, and what the body of its row is made of."""

    of: tuple[int, str, str]
    text: str | None
    counts: Sequence[int]
    nodes: Sequence[int] | Ints
    body: dict[str, object]


@dataclass(frozen=True, slots=True)
class NewArtifacts:
    """Blocks of the texts and of the nodes behind lines, the rows that refer to them, and what
    forgets that they are new."""

    blocks: list[BlockRow]
    rows: list[ArtifactRow]
    forget: Callable[[], None]


class Artifacts:
    """The artifacts since the last flush. Their texts are packed together, and so are the nodes
    behind their lines."""

    def __init__(self) -> None:
        self._new: Log[_Artifact] = Log()

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
        said: dict[str, object] = {"facts": dict(facts), "title": title}
        body = {key: value for key, value in said.items() if value}
        of = context, plain_text(kind), plain_text(target)
        self._new.add(_Artifact(of, text, counts, nodes, body))

    def take(self, first: int) -> NewArtifacts:
        """What is new; the blocks are numbered from `first`."""
        new = self._new.items()
        bodies = [one.body.copy() for one in new]
        with_text = [(at, one.text) for at, one in enumerate(new) if one.text is not None]
        blocks: list[BlockRow] = []
        at = 0
        for texts in groups([text for _, text in with_text]):
            number = first + len(blocks)
            for place, (one, _) in enumerate(with_text[at : at + len(texts)]):
                bodies[one]["text"] = [number, place]
            blocks.append(BlockRow(number, schema.TEXTS, 0, len(texts), pack_texts(texts)))
            at += len(texts)
        for part in line_groups([(one.counts, one.nodes) for one in new]):
            number = first + len(blocks)
            for place, one in enumerate(part):
                bodies[one]["lines"] = [number, place]
            packed = pack_lines([(new[one].counts, new[one].nodes) for one in part])
            blocks.append(BlockRow(number, schema.TEXT_LINES, 0, len(part), packed))
        rows = [
            ArtifactRow(number, *one.of, pack_json(body), b"")
            for number, (one, body) in enumerate(
                zip(new, bodies, strict=True), self._new.forgotten + 1
            )
        ]
        end = self._new.forgotten + len(new)
        return NewArtifacts(blocks, rows, lambda: self._new.forget(end))


def line_groups(lines: Sequence[NodesOfLines]) -> list[list[int]]:
    """The places of those that have lines, in parts that each make a block."""
    parts: list[list[int]] = []
    size = _GROUP
    for at, (counts, nodes) in enumerate(lines):
        own = len(counts) + len(nodes)
        if not own:
            continue
        if size + own > _GROUP:
            parts.append([])
            size = 0
        parts[-1].append(at)
        size += own
    return parts


def pack_lines(part: Sequence[NodesOfLines]) -> bytes:
    """A block of kind TEXT_LINES."""
    lines = [len(counts) for counts, _ in part]
    counts = np.concatenate([np.asarray(counts, np.int64) for counts, _ in part])
    nodes = np.concatenate([np.asarray(nodes, np.int64) for _, nodes in part])
    return TEXT_LINES.pack((lines, counts, nodes))
