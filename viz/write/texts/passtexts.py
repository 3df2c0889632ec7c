"""The compiler's own texts of the program before and after passes that are not in the file yet.

Equal texts are stored once, however many passes have them: what follows a pass is what comes before
the next one. Never touches a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from viz.format import schema
from viz.format.blocks import PASS_TEXTS
from viz.format.rows import BlockRow, plain_text
from viz.format.texts import groups, pack_texts
from viz.write.log import Log
from viz.write.texts.artifacts import NodesOfLines, line_groups, pack_lines

_TEXTS: Final = 1 << 22
"""Characters of one block: all of it is read to show a text of it."""
Place = tuple[int, int]
"""A block, and the place in it; (0, 0) for none."""


@dataclass(frozen=True, slots=True)
class _Text:
    rewrite: int
    after: bool
    kind: int
    """The number of the string that names it."""
    text: str
    lines: NodesOfLines
    left_out: int
    text_key: bytes
    lines_key: bytes


@dataclass(frozen=True, slots=True)
class NewPassTexts:
    """Blocks of texts, of the nodes behind lines, and of which pass has which; what forgets that
    they are new."""

    blocks: list[BlockRow]
    forget: Callable[[], None]


class PassTexts:
    """Those since the last flush, and where those before it are in the file."""

    def __init__(self) -> None:
        self._new: Log[_Text] = Log()
        self._places: dict[bytes, Place] = {}
        """By digest, what the file holds."""

    def add(
        self, rewrite: int, after: bool, kind: int, text: str, lines: NodesOfLines, left_out: int
    ) -> None:
        """A text of the program before or after a pass."""
        text = plain_text(text)
        keys = _digest(text), _digest_of_lines(lines)
        self._new.add(_Text(rewrite, after, kind, text, lines, left_out, *keys))

    def take(self, first: int) -> NewPassTexts:
        """What is new; the blocks are numbered from `first`."""
        new = self._new.items()
        texts = {one.text_key: one.text for one in new}
        linked = {one.lines_key: one.lines for one in new if len(one.lines[0])}
        blocks: list[BlockRow] = []
        places: dict[bytes, Place] = {}

        def put(kind: int, keys: Sequence[bytes], packed: bytes) -> None:
            number = first + len(blocks)
            places.update((key, (number, at)) for at, key in enumerate(keys))
            blocks.append(BlockRow(number, kind, 0, len(keys), packed))

        keys, at = [key for key in texts if key not in self._places], 0
        for part in groups([texts[key] for key in keys], _TEXTS):
            put(schema.TEXTS, keys[at : at + len(part)], pack_texts(part))
            at += len(part)
        keys = [key for key in linked if key not in self._places]
        for chosen in line_groups([linked[key] for key in keys]):
            some = [keys[at] for at in chosen]
            put(schema.TEXT_LINES, some, pack_lines([linked[key] for key in some]))
        if new:
            known = self._places | places
            rows = [
                (
                    *(one.rewrite, int(one.after), one.kind, *known[one.text_key]),
                    *known.get(one.lines_key, (0, 0)),
                    one.left_out,
                )
                for one in new
            ]
            packed = PASS_TEXTS.pack([*zip(*rows, strict=True)])
            put(schema.PASS_TEXTS, [b""] * len(rows), packed)
        places.pop(b"", None)
        end = self._new.forgotten + len(new)

        def forget() -> None:
            self._places.update(places)
            self._new.forget(end)

        return NewPassTexts(blocks, forget)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _digest_of_lines(lines: NodesOfLines) -> bytes:
    """Of one more byte than that of a text."""
    counts, nodes = (np.asarray(part, np.int64).tobytes() for part in lines)
    return b"#" + hashlib.blake2b(counts + b"|" + nodes, digest_size=16).digest()
