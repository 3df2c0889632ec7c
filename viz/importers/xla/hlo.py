"""The text of an HLO module as a snapshot: an op for each instruction, and one for each
computation, above what nothing else in it reads.

Read by lines: `name = type opcode(operands), attributes, metadata={...}`. What calls a computation
has it among its operands. Format: `HloModule::ToString` of XLA; the tables of frames are those of
JAX 0.9 and later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from viz.importers.roles import ORDER
from viz.importers.snapshot import Block, Op, Snapshot, Value
from viz.importers.xla.hlotext import COMPUTATION, INSTRUCTION, OPCODE, TABLES, closing

_LAST_COMMENT: Final = re.compile(r"\{\s*/\*[^{]*\*/$")
_METADATA: Final = re.compile(r"metadata=\{((?:[^{}\"]|\"(?:[^\"\\]|\\.)*\"|\{[^{}]*\})*)\}")
_NAME: Final = re.compile(r"%([\w.\-]+)")
_CALLS: Final = re.compile(
    r"\b(?:to_apply|calls|body|condition|true_computation|false_computation|select|scatter|"
    r"branch_computations|called_computations)=(?:\{([^{}]*)\}|%?([\w.\-]+))"
)
_FRAME: Final = re.compile(r"\bstack_frame_id=(\d+)")
_SOURCE: Final = re.compile(r'\bsource_file="((?:[^"\\]|\\.)*)"(?:.*?\bsource_line=(\d+))?')
_ENTRY: Final = re.compile(r"(\d+)\s+(.*)$")
MAX_OPS: Final = 1_000_000
_LONGEST: Final = 1 << 20


@dataclass
class Frames:
    """Which line of the user's program a frame is in, as "file:line"."""

    places: Mapping[str, str] = field(default_factory=dict[str, str])


def is_module(head: str) -> bool:
    """Whether a text that begins like this is an HLO module."""
    return head.lstrip().startswith("HloModule ")


def module_name(head: str) -> str:
    """What a module is called."""
    words = head.split(maxsplit=2)
    return words[1].rstrip(",") if len(words) > 1 and words[0] == "HloModule" else ""


def parse(lines: Iterable[str], known: Frames | None = None) -> tuple[Snapshot, Frames]:
    """The module of some lines, and its table of frames: the one that is `known` where it has none.
    Never raises: what is not understood is counted."""
    reader = _Reader(known or Frames())
    for number, line in enumerate(lines):
        reader.take(number, line)
        if reader.made.ops > MAX_OPS:
            break
    return reader.end()


class _Reader:
    def __init__(self, known: Frames) -> None:
        self._block = Block()
        root = Op("HloModule", blocks=[self._block], line=0)
        self.made = Snapshot(root)
        self._known = known
        self._table = ""
        self._rows: dict[str, dict[str, str]] = {name: {} for name in TABLES}
        self._frames: list[tuple[Op, str]] = []
        self._computations: dict[str, Op] = {}
        self._inside: Op | None = None
        self._values: dict[str, Value] = {}
        self._read: set[Op] = set()
        self._own: list[Op] = []
        self._result: Op | None = None
        """What the computation that is open gives."""

    def take(self, number: int, line: str) -> None:
        """The next line."""
        text = line.strip()
        if not text or text.startswith("//"):
            return
        if len(text) > _LONGEST:
            self.made.odd += 1
            return
        if self._inside is not None:
            if text.startswith("}"):
                self._close()
            else:
                self._instruction(number, text)
        elif text in TABLES:
            self._table = text
        elif text.startswith("HloModule "):
            self._table = ""
        elif self._table and (entry := _ENTRY.match(text)) is not None:
            self._rows[self._table][entry[1]] = entry[2]
        elif (begins := COMPUTATION.match(_LAST_COMMENT.sub("{", text))) is not None:
            self._table = ""
            self._inside = Op("computation", key=begins[2], line=number)
            self._inside.text = "ENTRY" if begins[1] else ""
            self._values, self._read, self._own, self._result = {}, set(), [], None
        else:
            self.made.odd += 1

    def end(self) -> tuple[Snapshot, Frames]:
        """The snapshot."""
        if self._inside is not None:
            self._close()
        frames = Frames(_places(self._rows))
        if not frames.places:
            frames = self._known
        for op, frame in self._frames:
            op.place = frames.places.get(frame, "")
        return self.made, frames

    def _close(self) -> None:
        computation = self._inside
        if computation is not None:
            ends = [op for op in self._own if op not in self._read]
            result = self._result or next(reversed(self._own), None)
            computation.operands += [
                Value(op, 0, op.key, "" if op is result else ORDER) for op in ends
            ]
            self._block.ops.append(computation)
            self.made.ops += 1
            self._computations[computation.key] = computation
        self._inside = None

    def _instruction(self, number: int, text: str) -> None:
        found = INSTRUCTION.match(text)
        kind, rest = _type(text[found.end() :]) if found else ("", "")
        opcode = OPCODE.match(rest)
        if found is None or opcode is None:
            self.made.odd += 1
            return
        op = Op(opcode[1], type=kind, key=found[2], line=number)
        end = closing(rest, opcode.end() - 1)
        inside, attributes = rest[opcode.end() : end], rest[end + 1 :]
        metadata = _METADATA.match(attributes, attributes.find("metadata={"))
        if metadata is not None:
            self._metadata(op, metadata[1])
            attributes = attributes[: metadata.start()].rstrip(", ") + attributes[metadata.end() :]
        op.text = self._operands(op, inside)
        attributes = self._called(op, attributes.lstrip(", ").strip())
        op.text = ", ".join(filter(None, (op.text, attributes)))
        self._values[op.key] = Value(op, 0, op.key)
        self._own.append(op)
        if found[1]:
            self._result = op
        self._block.ops.append(op)
        self.made.ops += 1

    def _metadata(self, op: Op, text: str) -> None:
        frame, source = _FRAME.search(text), _SOURCE.search(text)
        if frame is not None:
            self._frames.append((op, frame[1]))
        elif source is not None:
            op.place = f"{source[1]}:{source[2] or 0}"

    def _operands(self, op: Op, text: str) -> str:
        """What of the operands is no value, such as a number."""
        if op.name in ("parameter", "constant"):
            return text
        for part in _without_comments(text).split(","):
            name = part.split()[-1].lstrip("%") if part.strip() else ""
            value = self._values.get(name)
            if value is not None:
                op.operands.append(value)
                if isinstance(value.of, Op):
                    self._read.add(value.of)
            elif part.strip().startswith("%") or " %" in part:
                self.made.unknown += 1
                op.operands.append(Value(None, 0, name))
        return ""

    def _called(self, op: Op, text: str) -> str:
        """The attributes, with computations as operands."""

        def use(name: str, key: str) -> str:
            called = self._computations.get(name)
            if called is None:
                return name
            op.operands.append(Value(called, 0, name, key))
            return f"${len(op.operands) - 1}"

        def called(found: re.Match[str]) -> str:
            key = found[0].partition("=")[0]
            if found[1] is None:
                return f"{key}={use(found[2], key)}"
            names = [part.strip().lstrip("%") for part in found[1].split(",")]
            return f"{key}={{{', '.join(use(name, key) for name in names)}}}"

        text = _CALLS.sub(called, text)
        return _NAME.sub(lambda found: self._control(op, found[1]), text)

    def _control(self, op: Op, name: str) -> str:
        """An instruction that must come before this one."""
        value = self._values.get(name)
        if value is None:
            return name
        op.operands.append(replace(value, role=ORDER))
        return f"${len(op.operands) - 1}"


def _without_comments(text: str) -> str:
    """Without `/*index=5*/`."""
    at = text.find("/*")
    if at < 0:
        return text
    parts: list[str] = []
    begin = 0
    while at >= 0 and (end := text.find("*/", at + 2)) >= 0:
        parts.append(text[begin:at])
        begin = end + 2
        at = text.find("/*", begin)
    return "".join((*parts, text[begin:]))


def _type(text: str) -> tuple[str, str]:
    """The type that a text begins with, without its layout, and the rest."""
    if text.startswith("("):
        end = closing(text, 0)
        return _without_comments(text[: min(end + 1, 1000)])[:200], text[end + 1 :]
    kind, _, rest = text.partition(" ")
    return kind, f" {rest}"


def _places(rows: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    def number(text: str, name: str) -> str:
        found = re.search(rf"\b{name}=(\d+)", text)
        return found[1] if found else ""

    files = {key: text.strip('"') for key, text in rows["FileNames"].items()}
    lines = {
        key: f"{file}:{number(text, 'line')}"
        for key, text in rows["FileLocations"].items()
        if (file := files.get(number(text, "file_name_id")))
    }
    frames = {
        key: lines.get(number(text, "file_location_id"), "")
        for key, text in rows["StackFrames"].items()
    }
    return {key: place for key, place in frames.items() if place}
