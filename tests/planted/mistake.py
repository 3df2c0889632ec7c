"""What a planted mistake is: an edit of one file of the compiler, and the program that it is tried
on."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

ROOT: Final = Path(__file__).parents[2]
Kind = Literal[
    "integers, interaction of rules",
    "floats",
    "decompositions",
    "collapse",
    "views, schedule, size 1",
    "lower to devectorize, lanes, opts, gates",
    "GPU dims, PTX, tensor cores",
    "AMD, tiles",
    "several devices, lengths, gradients, renderers, memory",
    "a pass that misses what it must do",
]
KINDS: Final[tuple[Kind, ...]] = Kind.__args__


@dataclass(frozen=True)
class Mistake:
    """`old`, which stands once in `file`, is replaced by `new`. `program`: a name of PROGRAMS.
    `blame`: the rules, or where no rule is to blame the passes, whose naming is right. `made`: by
    hand, or by an operator of tests/mutants.py."""

    name: str
    kind: Kind
    file: str
    old: str
    new: str
    program: str
    blame: tuple[str, ...]
    made: str = "by hand"

    @property
    def key(self) -> str:
        """What the mistake and its program are, but for the code around it."""
        said = repr((self.file, self.old, self.new, self.program, self.blame, self.kind))
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    def problem(self) -> str:
        """Why it cannot be planted; "" where it can."""
        path = ROOT / self.file
        if not path.is_file():
            return f"{self.file} is no file"
        count = path.read_text().count(self.old)
        return "" if count == 1 else f"{self.file} has the text {count} times, not once"

    def planted(self, text: str) -> str:
        """The text of the file with the mistake in it."""
        return text.replace(self.old, self.new)


def _by_hand() -> tuple[Mistake, ...]:
    found: list[Mistake] = []
    for path in sorted(Path(__file__).with_name("kinds").glob("*.toml")):
        held = tomllib.loads(path.read_text())
        found += [
            Mistake(
                one["name"],
                held["kind"],
                one["file"],
                one["old"],
                one["new"],
                one["program"],
                tuple(one["blame"]),
            )
            for one in held["mistake"]
        ]
    return tuple(found)


BY_HAND: Final = _by_hand()
"""The mistakes that were made by hand, of kinds/*.toml."""
