"""LLVM's text as a snapshot: an op for each function and each instruction.

Read by lines: `%x = op ...` or `op ...` between `define ... {` and `}`; a label begins a block.
Labels are text; a value that is defined later, as phis may read, is a separate node. Format:
https://llvm.org/docs/LangRef.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from viz.importers.snapshot import Block, Op, Snapshot, Value

_DEFINE: Final = re.compile(r"define\b.*?@(\"[^\"]*\"|[\w.$\-]+)\((.*)$")
_LABEL: Final = re.compile(r"(\"[^\"]*\"|[\w.$\-]+):(?:\s*;.*)?$")
_RESULT: Final = re.compile(r"\s*(%(?:\"[^\"]*\"|[\w.$\-]+))\s*=\s*")
_OPCODE: Final = re.compile(r"\s*(?:(?:tail|musttail|notail)\s+)?([a-z][a-z_0-9]*)\b")
_NAME: Final = re.compile(r"%(?:\"[^\"]*\"|[\w.$\-]+)")
_IS_LABEL: Final = re.compile(r"\blabel\s+$")
_NOTE: Final = re.compile(r",\s*!([\w.]+)\s+!(\d+|\w+\([^()]*\))")
_PLACE: Final = re.compile(r"!(\d+)\s*=\s*(?:distinct\s+)?!DILocation\(line:\s*(\d+)")
_FILE: Final = re.compile(
    r"!\d+\s*=\s*!DIFile\(filename:\s*\"([^\"]*)\",\s*directory:\s*\"([^\"]*)\""
)
_OTHER: Final = re.compile(
    r"(?:;|!|attributes\b|source_filename\b|target\b|declare\b|\$|%|module\b|uselistorder|\^|"
    r"Running (?:pass|analysis)|Invalidating|Clearing|Skipping)"
)
"""Lines outside of functions that are no op of the program."""
_GLOBAL: Final = re.compile(r"@(\"[^\"]*\"|[\w.$\-]+)\s*=\s*(.*)$")
_FIRST: Final = re.compile(
    r"\b(?:void|ptr|half|bfloat|float|double|i\d+|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\})"
)
MAX_OPS: Final = 1_000_000
_LONGEST: Final = 1 << 20


@dataclass
class Places:
    """The lines of the user's program by the numbers of metadata."""

    known: Mapping[str, str] = field(default_factory=dict[str, str])


def parse(lines: Iterable[str], known: Places | None = None) -> tuple[Snapshot, Places]:
    """The functions of some lines, and their table of places: the one that is `known` where they
    have none. Never raises: what is not understood is counted."""
    reader = _Reader()
    for number, line in enumerate(lines):
        reader.take(number, line.rstrip("\n"))
        if reader.made.ops > MAX_OPS:
            break
    return reader.end(known or Places())


class _Reader:
    def __init__(self) -> None:
        self._top = Block()
        self.made = Snapshot(Op("llvm.module", blocks=[self._top], line=0))
        self._function: Op | None = None
        self._block = Block()
        self._values: dict[str, Value] = {}
        self._undefined: set[str] = set()
        """Names that were read, and that no line has defined yet."""
        self._noted: list[tuple[Op, str]] = []
        self._places: dict[str, str] = {}
        self._file = ""

    def take(self, number: int, line: str) -> None:
        """The next line."""
        text = line.strip()
        if not text or len(text) > _LONGEST:
            self.made.odd += bool(text)
        elif self._function is not None:
            if text == "}":
                self._close()
            elif (label := _LABEL.match(text)) is not None:
                self._label(label[1])
            elif not text.startswith(";"):
                self._instruction(number, text)
        elif (begins := _DEFINE.match(text)) is not None:
            self._define(number, begins[1], begins[2], text)
        elif (place := _PLACE.match(text)) is not None:
            self._places[place[1]] = place[2]
        elif (file := _FILE.match(text)) is not None:
            name, folder = file[1], file[2]
            self._file = self._file or (name if name.startswith("/") else f"{folder}/{name}")
        elif (known := _GLOBAL.match(text)) is not None:
            self._add(self._top, Op("llvm.global", f"@{known[1]} {known[2]}", line=number))
        elif not _OTHER.match(text):
            self.made.odd += 1

    def end(self, known: Places) -> tuple[Snapshot, Places]:
        """The snapshot."""
        if self._function is not None:
            self._close()
        file = self._file
        own = {key: f"{file}:{line}" for key, line in self._places.items()} if file else {}
        places = Places(own) if own else known
        for op, note in self._noted:
            op.place = places.known.get(note, "")
        return self.made, places

    def _add(self, block: Block, op: Op) -> None:
        block.ops.append(op)
        self.made.ops += 1

    def _define(self, number: int, name: str, inside: str, text: str) -> None:
        function = Op("llvm.func", f"@{name}", line=number)
        self._add(self._top, function)
        self._function, self._values, self._undefined = function, {}, set()
        self._block = Block()
        function.blocks.append(self._block)
        for argument in _NAME.findall(inside):
            self._values[argument] = Value(self._block, len(self._block.arguments), argument)
            self._block.arguments.append("")
        if not text.endswith("{"):
            self._close()

    def _close(self) -> None:
        """Ends the function: names that no line has defined are counted."""
        self.made.unknown += len(self._undefined)
        self._function = None

    def _label(self, name: str) -> None:
        if self._function is not None and (self._block.ops or self._block.label):
            self._block = Block()
            self._function.blocks.append(self._block)
        self._block.label = name

    def _instruction(self, number: int, text: str) -> None:
        result = _RESULT.match(text)
        rest = text[result.end() :] if result else text
        opcode = _OPCODE.match(rest)
        if opcode is None:
            self.made.odd += text not in ("]", "[") and not text.startswith("i")
            return
        op = Op(f"llvm.{opcode[1]}", line=number)
        rest = rest[opcode.end() :].partition("  ; ")[0]

        def note(found: re.Match[str]) -> str:
            if found[1] == "dbg":
                self._noted.append((op, found[2]))
            return ""

        rest = _NOTE.sub(note, rest)

        is_phi = opcode[1] == "phi"

        def use(found: re.Match[str]) -> str:
            behind = rest[found.end() : found.end() + 2].lstrip()
            if _IS_LABEL.search(rest[max(0, found.start() - 10) : found.start()]) or (
                is_phi and behind.startswith("]")
            ):
                return found[0]
            value = self._values.get(found[0])
            if value is None:  # defined further down, if at all
                value = Value(None, 0, found[0])
                self._undefined.add(found[0])
            op.operands.append(value)
            return f"${len(op.operands) - 1}"

        kind = _FIRST.search(rest)
        op.type = kind[0] if kind is not None and result is not None else ""
        op.text = _NAME.sub(use, rest).strip(" ,")
        self._add(self._block, op)
        if result is not None:
            name = result[1]
            self._values[name] = Value(op, 0, name)
            self._undefined.discard(name)
            if not name[1:].isdecimal():
                op.key = name
