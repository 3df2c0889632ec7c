"""What an import of dumps held, and what it did not understand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from viz.importers.snapshot import Snapshot

_HINT: Final = "the rest is shown, and the compiler's own text of each pass has all of it"


@dataclass
class Totals:
    """Of one log, or one trace of another kind."""

    dumps: int = 0
    passes: int = 0
    steps: int = 0
    ops: int = 0
    odd: int = 0
    unknown: int = 0
    problems: list[str] = field(default_factory=list[str])

    def count(self, snapshot: Snapshot) -> None:
        """Adds what one dump held."""
        self.dumps += 1
        self.ops += snapshot.ops
        self.odd += snapshot.odd
        self.unknown += snapshot.unknown

    def told(self) -> list[dict[str, str]]:
        """What the trace lacks, for META's `left_out`."""
        said = list(self.problems)
        if self.odd:
            said.append(f"lines of the dump that were not understood: {self.odd:,}")
        if self.unknown:
            said.append(f"uses of values whose definition was not found: {self.unknown:,}")
        return [{"what": what, "hint": _HINT} for what in said]
