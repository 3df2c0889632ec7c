"""Lines of source texts without the numbers in names of registers, and the names themselves.

What a register is depends on the kind of text: `%f12` in PTX and LLVM IR, `v12` and `v[4:7]` in
AMD's assembly, `R12` in SASS, `alu12` in C. Never knows an instruction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from viz.compare.matching.canonical import text_key

_PERCENT: Final = re.compile(r"%[A-Za-z_]*\d+(?:\.\d+)?|\$[A-Za-z_]+\d+")
_LLVM: Final = re.compile(_PERCENT.pattern + r"|^[A-Za-z_]+\d+(?:\.\d+)?(?=:)")
"""A label stands without its % where its block begins."""
_ASSEMBLY: Final = re.compile(r"\b[vsa](?:\d+|\[\d+:\d+\])|\bU?[RP]\d+\b|%[xyz]mm\d+|\br\d+d?\b")
_WORDS: Final = re.compile(r"\b[A-Za-z_]+\d+\b")
_TYPES: Final = re.compile(
    r"(?:float|double|half|bfloat|u?int|u?char|u?short|u?long|bool|fp|bf|f|i|u|b|s|exp|log|log1p|"
    r"sm_|gfx|vec|simd|__nv_bfloat|hip_bfloat|atan|make_\w+?|__half|wmma|uint_least|r_|E_|data)\d+"
)
"""Words with a number at their end that are no registers in C."""
_KINDS: Final = {
    "ptx": _PERCENT,
    "llvm": _LLVM,
    "asm": _ASSEMBLY,
    "c": _WORDS,
    "cpp": _WORDS,
    "text": re.compile(r"\bu\d+\b"),
}
_DEBUG: Final = re.compile(r"(?:,? ?![a-z]+ !\d+)+|^!\d+ = .*$")
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True)
class Line:
    """A line; `said` is without links to debug information, `shape` a key of that without numbers
    of registers, `word` one of the instruction."""

    said: str
    shape: int
    word: int
    registers: tuple[str, ...]

    @property
    def is_blank(self) -> bool:
        """Whether it says nothing."""
        return not self.said.strip()


def read_lines(lines: list[str], language: str) -> list[Line]:
    """The lines of a text in a language of `core/render/kinds.py`."""
    pattern = _KINDS.get(language, _PERCENT)
    words = pattern is _WORDS
    found: list[Line] = []
    shapes: dict[str, int] = {}
    for line in lines:
        said = _DEBUG.sub("", line) if "!" in line else line
        registers = [r for r in pattern.findall(said) if not (words and _TYPES.fullmatch(r))]
        if pattern is _LLVM:
            registers = [r if r[0] in "%$" else f"%{r}" for r in registers]
        shape = said
        if registers:
            shape = pattern.sub(lambda m: _placeholder(m[0], words), said)
        shape = _SPACES.sub(" ", shape).strip()
        first = shape.partition(" ")[0]
        if "= " in shape:  # what is computed, not where it goes
            first = shape.partition("= ")[2].partition(" ")[0]
        for text in (shape, first):
            if text not in shapes:
                shapes[text] = text_key(text)
        found.append(Line(said, shapes[shape], shapes[first], tuple(registers)))
    return found


def stem_of(register: str) -> str:
    """The name of a register without its numbers."""
    return re.sub(r"\d+", "#", register)


def _placeholder(name: str, words: bool) -> str:
    return name if words and _TYPES.fullmatch(name) else stem_of(name)
