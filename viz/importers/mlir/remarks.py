"""Remarks of LLVM and MLIR as YAML (`--remarks-output-file`): what passes say that they did not
do, and why.

Read by lines, as LLVM writes them; nothing else of YAML is understood. Format:
https://llvm.org/docs/Remarks.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

_BEGIN: Final = re.compile(r"--- !(\w+)")
_FIELD: Final = re.compile(r"(Pass|Name|Function|Hotness):\s*(.*)$")
_PLACE: Final = re.compile(
    r"DebugLoc:\s*\{\s*File:\s*('(?:[^']|'')*'|[^,}]*),\s*Line:\s*(\d{1,9})\b"
)
_ARGUMENT: Final = re.compile(r"\s+- ([\w .\-]+):\s*(.*)$")
_DECLINES: Final = frozenset(("Missed", "Failure", "AnalysisFPCommute", "AnalysisAliasing"))
MAX_REMARKS: Final = 100_000
_LONGEST: Final = 2000


@dataclass
class Remark:
    """One remark. `kind`: "Missed" or another tag; `place`: "file:line", or ""."""

    kind: str
    category: str = ""
    name: str = ""
    function: str = ""
    place: str = ""
    reason: str = ""

    @property
    def declines(self) -> bool:
        """Whether it says that something was not done."""
        return self.kind in _DECLINES


def is_remarks(head: str) -> bool:
    """Whether a text that begins like this is a file of remarks."""
    return _BEGIN.match(head) is not None


def remarks_of(lines: Iterable[str]) -> Iterator[Remark]:
    """The remarks of a file, in order. Never raises."""
    current: Remark | None = None
    inside = False
    count = 0
    for line in lines:
        begins = _BEGIN.match(line)
        if begins is not None or line.startswith("..."):
            if current is not None:
                yield current
                count += 1
            if count >= MAX_REMARKS:
                return
            current, inside = Remark(begins[1]) if begins else None, False
        elif current is None:
            continue
        elif inside and (argument := _ARGUMENT.match(line)) is not None:
            name, text = argument[1].strip(), _plain(argument[2])
            said = text if name in ("String", "Reason", "Remark") else f"{name} {text}"
            between = "" if name == "String" or not current.reason else " "
            current.reason = f"{current.reason}{between}{said}"[:_LONGEST]
        elif line.startswith("Args:"):
            inside = True
        elif (place := _PLACE.match(line)) is not None:
            current.place = f"{_plain(place[1])}:{place[2]}"
        elif (found := _FIELD.match(line)) is not None:
            text = _plain(found[2])[:200]
            match found[1]:
                case "Pass":
                    current.category = text
                case "Name":
                    current.name = text
                case "Function":
                    current.function = text
                case _:
                    pass
    if current is not None:
        yield current


def _plain(text: str) -> str:
    """A scalar without its quotes."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
